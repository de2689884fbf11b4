import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable } from '../../src/core/command-line.ts';
import { parseLine, printProgram } from '../../src/tools/run/parse-line.ts';
import { processorMs } from '../support/processor-ms.ts';

/** `a b | c && d`, with what the words became. */
const programs = (line: string) => parseLine(line).pipes.map((pipe) => pipe.map(({ argv }) => argv));
const words = (line: string) => programs(line)[0]?.[0];
const complaint = (line: string): string => {
  try {
    return `parsed: ${JSON.stringify(parseLine(line))}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

it.each([
  ['git log --oneline -5', ['git', 'log', '--oneline', '-5']],
  [`grep 'a b' "c d" e\\ f`, ['grep', 'a b', 'c d', 'e f']],
  [`echo a'b'"c"d ''`, ['echo', 'abcd', '']],
  [`echo "say \\"hi\\" \\$5 \\\\ \\d it's"`, ['echo', `say "hi" $5 \\ \\d it's`]],
  [`grep 'x$' y$ "z$" a\\|b`, ['grep', 'x$', 'y$', 'z$', 'a|b']],
  [
    'git show stash@{0} HEAD~3 @{u} a#b a!=b {}',
    ['git', 'show', 'stash@{0}', 'HEAD~3', '@{u}', 'a#b', 'a!=b', '{}'],
  ],
  ["printf 'two\nlines' \\\n  more\n", ['printf', 'two\nlines', 'more']],
  [`git commit -m 'größe 😀 "x"'`, ['git', 'commit', '-m', 'größe 😀 "x"']],
  ['curl http://x/y?', undefined],
])('splits the line %s into words', (line, argv) => {
  if (argv) expect(words(line)).toEqual(argv);
  else expect(complaint(line)).toMatch(/^command: "\?" at character 16 /);
});

it('reads pipes, what comes one after another, variables, and the folder that it begins in', () => {
  expect(parseLine('cd "my app" && A=1 B="x y" npm ci&&npm test 2>&1 |tail -5')).toEqual({
    folder: 'my app',
    pipes: [
      [{ argv: ['npm', 'ci'], variables: { A: '1', B: 'x y' }, joinsErrors: false }],
      [
        { argv: ['npm', 'test'], variables: {}, joinsErrors: true },
        { argv: ['tail', '-5'], variables: {}, joinsErrors: false },
      ],
    ],
  });
  expect(words("'A=1' x A=2")).toEqual(['A=1', 'x', 'A=2']);
});

it.each([
  ['a; b', ';', 2, /&&/],
  ['a || b', '||', 3, /two calls/],
  ['a |& b', '|&', 3, /2>&1/],
  ['a > out.txt', '>', 3, /write_file/],
  ['a 2>/dev/null', '2>', 3, /leave it out/i],
  ['a 2>&1x', '2>&', 3, /leave it out/i],
  ['a &> x', '&>', 3, /leave it out/i],
  ['a < in', '<', 3, /input/],
  ["a <<'EOF'", '<<', 3, /input/],
  ['a &', '&', 3, /background: true/],
  ['echo $HOME', '$HOME', 6, /value/],
  ['echo "x ${HOME} y"', '${HOME', 9, /value/],
  ['echo $(date)', '$(', 6, /first/],
  ['echo "x`date`"', '`', 8, /first/],
  ['ls *.ts', '*', 4, /list_files/],
  ['ls [ab]', '[', 4, /quote it/i],
  ['echo {a,b}', '{', 6, /each word/],
  ['echo {"a b",c}', '{', 6, /each word/],
  ['(a)', '(', 1, /another call/],
  ['ls ~/x', '~', 4, /path/],
  ['A=~/x ls', '~', 3, /path/],
  ['a # b', '#', 3, /quote it/i],
  ['! a', '!', 1, /quote it/i],
  ['a\nb', '\\n', 2, /one line/],
  ["a 'b", "'", 3, /close/i],
  ['a "b', '"', 3, /close/i],
  ['a .\\src\\b.ts', '\\\\', 4, /single quotes/],
  ['a \\', '\\\\', 3, /single quotes/],
  ['a\u00a0b', 'U+00A0', 2, /leave it out/i],
  ['a\u202eb', 'U+202E', 2, /leave it out/i],
  ['a\u200bb', 'U+200B', 2, /leave it out/i],
  ['a | | b', '|', 3, /missing/],
  ['| a', '|', 1, /missing/],
  ['a &&', '&&', 3, /missing/],
  ['a && A=1 && b', 'A=1', 6, /missing/],
  ['2>&1', '2>&1', 1, /missing/],
  ['cd web', 'cd', 1, /first, with one folder/],
  ['cd && a', 'cd', 1, /first/],
  ['cd - && a', 'cd', 1, /first/],
  ['cd a b && c', 'cd', 1, /first/],
  ['cd a | b', 'cd', 1, /first/],
  ['a && cd b && c', 'cd', 6, /first/],
  ['export A=1 && b', 'export', 1, /NAME=value/],
  ['source .venv/bin/activate', 'source', 1, /path/],
  [Array.from({ length: 17 }, () => 'a').join(' | '), '|', 63, /16 programs/],
])('refuses %s, naming the token, its place and the way out', (line, token, place, way) => {
  const said = complaint(line);
  const shown = token.startsWith('\\') ? token : JSON.stringify(token).slice(1, -1);
  expect(said).toContain(`command: "${shown}" at character ${place} is not understood. `);
  expect(said).toMatch(way);
});

it('refuses a line that is not text or is empty', () => {
  for (const line of ['a\0b', "'\ud800'"]) expect(complaint(line)).toMatch(/NUL, or half a character/);
  for (const line of ['', ' \t', '\n'])
    expect(complaint(line)).toBe('command: is empty. Give a program: git status');
});

const word = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(...` \t\n'"\\$\`;&|<>(){}*?[]~#!=:A2`),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  })
  .filter((text) => !text.includes('\0') && text.isWellFormed());
const name = word.filter(
  (text) =>
    !/^(?:cd|\.|export|source|alias|case|eval|exec|for|function|if|set|unset|until|while)$/.test(text),
);

it('reads back whatever words were quoted', () => {
  fc.assert(
    fc.property(
      name,
      fc.array(word),
      fc.dictionary(fc.stringMatching(/^[A-Z_]\w{0,5}$/), word),
      (first, rest, variables) => {
        const argv: [string, ...string[]] = [first, ...rest];
        expect(words(printable(argv))).toEqual(argv);
        const program = { argv, variables, joinsErrors: rest.length % 2 === 0 };
        const line = `${printProgram(program)}${program.joinsErrors ? ' 2>&1' : ''} | ${printable(argv)} && ${printProgram(program)}`;
        expect(parseLine(line)).toEqual({
          pipes: [
            [program, { argv, variables: {}, joinsErrors: false }],
            [{ ...program, joinsErrors: false }],
          ],
        });
      },
    ),
    { numRuns: 2000 },
  );
});

it('reads any text, or names a token of it and its place', () => {
  const pieces = fc.constantFrom(
    'a',
    'cd x',
    ' ',
    '|',
    '||',
    '&&',
    '2>&1',
    'A=1',
    "'",
    '"',
    '\\',
    '$',
    '{',
    '}',
    '~',
    '\n',
    '\u00a0',
    ';',
    'é',
    '*',
  );
  const line = fc.oneof(
    fc.array(pieces).map((all) => all.join('')),
    word,
    fc.string(),
  );
  fc.assert(
    fc.property(line, (text) => {
      const said = complaint(text);
      if (said.startsWith('parsed: ') || /is empty|half a character/.test(said)) return;
      const [, token = '', place = ''] =
        /^command: ("(?:[^"\\]|\\.)*") at character (\d+) is not understood\. [A-Z|&2$"]/.exec(said) ?? [];
      const named = JSON.parse(token) as string;
      const found = text.slice(Number(place) - 1);
      // A word may have been written with quotes.
      const isThere = found.startsWith(named) || named.startsWith('U+') || /\w/.test(named);
      expect(isThere, `${said} in ${JSON.stringify(text)}`).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

it('takes time linear to the line', () => {
  for (const piece of ['a ', "'a' ", '"\\a" ', 'a\\ ', '\\\n', '{', '"a', "'", '\n', 'A=', '$ ']) {
    const begun = process.cpuUsage();
    complaint(piece.repeat(50_000));
    expect(processorMs(begun), piece).toBeLessThan(2000);
  }
});
