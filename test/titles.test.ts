import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Names that a title may begin with although they begin with a capital letter. */
const properNames = ['ATTACK', 'UTF-8'];

/** Verbs that do not end in "s" and are as good a sign of a sentence. */
const otherVerbs = ['are', 'can', 'could', 'do', 'have', 'may', 'must', 'were', 'would'];

/** Words that hang a title on a sentence elsewhere, mostly on the name of its describe. */
const connectors =
  'also and as but by for from how in nor not of on or such that those to when where which with'.split(' ');

interface Call {
  readonly kind: 'it' | 'describe';
  readonly indent: string;
  readonly title: string | undefined;
}

const quoted = String.raw`(['"\`])((?:\\.|(?!\1)[^\\])*)\1`;

/**
 * The calls of `it` and `describe` in a source. Each begins a line and reaches to the next one, so its title
 * is the text behind its first bracket, or else behind the second: `it.each(rows)('title', …)`.
 *
 * It reads text, so it sees neither a call behind other code on its line nor the words that fill a
 * placeholder. A call whose title it cannot read, as one in a variable, fails below.
 */
function callsIn(source: string): Call[] {
  const starts = [...source.matchAll(/^([ \t]*)(it|describe)\b(?=[.(])/gm)];
  return starts.map(({ index, 1: indent = '', 2: kind }, at) => {
    const text = source.slice(index, starts[at + 1]?.index);
    const direct = new RegExp(String.raw`^\s*\w+(?:\.\w+)*\(\s*${quoted},\s`).exec(text);
    const second = new RegExp(String.raw`\)\(\s*${quoted},\s`).exec(text);
    const title = (direct ?? second)?.[2]?.replaceAll(/\\(.)/g, '$1');
    return { kind: kind as Call['kind'], indent, title };
  });
}

/**
 * The faults of a title. A word that ends in "s" passes for a verb, so a plural noun does too, and the order
 * of words is not looked at: it finds fragments, not bad sentences.
 */
function faultsOf(title: string): string[] {
  const sentence = title.replace(/^ATTACK [^:]*: /, '');
  const words = sentence.split(/\s+/);
  const isVerbLike = (word: string) => word.endsWith('s') || otherVerbs.includes(word);
  const startsRight = /^[a-z0-9'"`%$.]/.test(title) || properNames.some((name) => title.startsWith(name));
  const faults = [];
  if (words.length < 3) faults.push('has fewer than three words');
  if (!startsRight) faults.push('begins with a capital letter or a sign');
  if (!words.some((word) => isVerbLike(word.replaceAll(/[^\w]+$/g, '')))) faults.push('has no verb');
  if (connectors.includes(words[0] ?? '')) faults.push(`begins with "${words[0]}", as half a sentence does`);
  return faults;
}

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.(?:test|trial)\.tsx?$/.test(file))
  .map((file) => ({ file, calls: callsIn(readFileSync(join('test', file), 'utf8')) }));

it.each(files)('$file has titles that are whole sentences', ({ calls }) => {
  const tests = calls.filter(({ kind }) => kind === 'it');
  expect(tests).not.toEqual([]);
  const wrong = tests.map(({ title }) => [title, title === undefined ? ['is not found'] : faultsOf(title)]);
  expect(wrong.filter(([, faults]) => faults?.length !== 0)).toEqual([]);
});

it.each(files)('$file has no describe inside a describe', ({ file, calls }) => {
  // The formatter indents whatever is inside, and no describe goes by another name.
  expect(calls.filter(({ kind, indent }) => kind === 'describe' && indent !== '')).toEqual([]);
  expect(readFileSync(join('test', file), 'utf8')).not.toMatch(/\bconst \w+ = (?:it|describe)\b/);
});

it.each([
  ['paths', 'has fewer than three words'],
  ['The server ends with its client', 'begins with a capital letter or a sign'],
  ['the same over HTTP', 'has no verb'],
  ['that does not start is a failure', 'begins with "that", as half a sentence does'],
  ['ATTACK 59: nor does a search', 'begins with "nor", as half a sentence does'],
])('finds fault with the title "%s"', (title, fault) => {
  expect(faultsOf(title)).toContain(fault);
});

it('finds a nested describe, and titles behind one bracket, two, and a line break', () => {
  const source = [
    "describe('grep', () => {",
    "  describe.each(eras)('in %s', () => {",
    "    it('finds matching lines', () => {});",
    '    it.skipIf(isWindows)(',
    '      \'keeps the "mode" of a file\',',
    '      () => {},',
    '    );',
    `    it.each([[1, 'a']])("takes %s for a person's own", () => {});`,
    '  });',
    '});',
    'it(title, () => {});',
  ].join('\n');
  expect(callsIn(source).map(({ kind, indent, title }) => [kind, indent.length, title])).toEqual([
    ['describe', 0, 'grep'],
    ['describe', 2, 'in %s'],
    ['it', 4, 'finds matching lines'],
    ['it', 4, 'keeps the "mode" of a file'],
    ['it', 4, "takes %s for a person's own"],
    ['it', 0, undefined],
  ]);
});
