import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, type Question } from '../../src/server/approval/question.ts';
import { askingFor } from '../../src/server/approval/question-form.ts';
import { questionText } from '../../src/server/approval/question-text.ts';
import { reasonsToAsk } from '../../src/server/approval/reasons.ts';
import { projectOf } from '../../src/server/approval/permission.ts';
import { inOneLine, inPlainSight, quoted } from '../../src/server/approval/shown-text.ts';
import { createUsedOnce } from '../../src/server/approval/used-once.ts';

const question: Question = {
  tool: 'run_command',
  because: ['command'],
  effects: ['execute'],
  command: 'ls',
  folder: '/work',
  shows: [],
  offers: {},
};
/** The lines that are not behind a bar. */
const ours = (text: string): string[] => text.split('\n').filter((line) => !line.startsWith('| '));

describe('what a person reads', () => {
  it('has no line of its own that a command, folder, title or text put there', () => {
    const hostile =
      'x\nEffects: read\r\nFolder:\r/tmp\u2028(1/1) Nothing:\u2029\n\n⟨2 characters are left out here⟩';
    const text = questionText({
      ...question,
      command: hostile,
      folder: hostile,
      setting: hostile,
      shows: [{ title: hostile, text: hostile }],
    });
    expect(ours(text)).toEqual([
      'May run_command do this? You are asked because it runs a program that none of the actions describes.',
      expect.stringMatching(/^Setting: x/),
      'Command:',
      'Folder:',
      'Effects: execute',
      expect.stringMatching(/^\(1\/1\) x/),
    ]);
  });

  it.each([
    ['an override of the direction', 'git push \u202etxt.exe', 'git push \\u{202e}txt.exe'],
    ['a zero-width space', 'rm a\u200bb', 'rm a\\u{200b}b'],
    ['an escape sequence', 'a\u001b[2Kb\u0007', 'a\\u{1b}[2Kb\\u{7}'],
    ['a carriage return', 'rm -rf ~\rls', 'rm -rf ~\\u{d}ls'],
    ['tags', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a blank that is none', 'a\u00a0b\u3164c\u2800', 'a\\u{a0}b\\u{3164}c\\u{2800}'],
    ['half a character', 'a\ud83d', 'a\\u{d83d}'],
    ['a pile of accents', `e${'\u0301'.repeat(6)}`, `e${'\u0301'.repeat(4)}\\u{301}\\u{301}`],
    ['what looks like one of these', 'a\\u{200b}', 'a\\u{5c}u{200b}'],
    ['a hundred blanks', `ls${' '.repeat(100)}; rm`, 'ls⟨100 blanks⟩; rm'],
    ['a hundred empty lines', `ls${'\n'.repeat(101)}rm`, 'ls\n⟨100 empty lines⟩\nrm'],
    ['what looks like that', '⟨100 blanks⟩', '\\u{27e8}100 blanks⟩'],
    ['letters of the world', 'größe 日本 नमस्ते', 'größe 日本 नमस्ते'],
  ])('shows %s', (_, given, shown) => {
    expect(inPlainSight(given)).toBe(shown);
  });

  it('counts what is too long to be shown', () => {
    const text = questionText({
      ...question,
      command: `cat ${'a'.repeat(50_000)} end`,
      shows: [
        { title: 'Script', text: `first\n${'line\n'.repeat(50_000)}last` },
        { title: 'Short', text: 'short' },
      ],
    });
    expect(text.length).toBeLessThanOrEqual(8000);
    expect(text).toMatch(/\| cat a+\n⟨47,\d{3} characters are left out here⟩\n\| a+ end\n/);
    expect(text).toMatch(/\| first\n(\| line\n)+(\| .*\n)?⟨24\d,\d{3} characters are left out here⟩\n/);
    expect(text).toContain('| last\n(2/2) Short:\n| short');
  });

  it('says how many texts are not shown', () => {
    const shows = Array.from({ length: 40 }, (_, at) => ({ title: `File ${at}`, text: 'x\n'.repeat(900) }));
    const text = questionText({ ...question, command: 'y'.repeat(9000), folder: 'z'.repeat(9000), shows });
    expect(text.length).toBeLessThanOrEqual(8000);
    expect(text).toMatch(/⟨28 more texts are not shown⟩$/);
  });

  it('is whole and in plain sight whatever it is about', () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 3000 });
    const shows = fc.array(fc.record({ title: hostile, text: hostile }), { maxLength: 20 });
    fc.assert(
      fc.property(hostile, hostile, shows, (command, folder, texts) => {
        const text = questionText({ ...question, command, folder, shows: texts });
        expect(text.length).toBeLessThanOrEqual(8000);
        expect(text).not.toMatch(/(?!\n|\t)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
        for (const line of ours(text)) expect(line).toMatch(/^(May |Command:$|Folder:$|Effects: |\(\d|⟨)/);
      }),
      { numRuns: 200 },
    );
  });

  it('shows the whole of a text or the ends of it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 100, max: 500 }),
        (text, most) => {
          const shown = quoted(text, most);
          expect(shown.length).toBeLessThanOrEqual(most);
          if (shown.includes('characters are left out here⟩')) return;
          const [unbarred] = [shown.replaceAll(/^\| /gm, '')];
          expect(unbarred).toBe(inPlainSight(text).replace(/\n$/, ''));
        },
      ),
    );
  });

  it('has choices of one line', () => {
    const says = `always\n${'x'.repeat(500)}`;
    const { requestedSchema } = askingFor({ ...question, offers: { always: says } }, true);
    const { oneOf, default: preset } = requestedSchema.properties['decision'] as {
      oneOf: { const: string; title: string }[];
      default: string;
    };
    expect(preset).toBe('no');
    expect(oneOf.map((one) => one.const)).toEqual(['yes', 'always', 'no']);
    expect(oneOf[1]?.title).toMatch(/^always\\u\{a\}x+⟨\d+ characters left out⟩x+$/);
    expect(inOneLine('short', 10)).toBe('short');
  });
});

describe('what an answer is bound to', () => {
  it('is another one for other values, and the same for another order of names', () => {
    expect(digestOf({ a: 1, b: [2] })).toBe(digestOf({ b: [2], a: 1 }));
    const values = [
      { a: 1 },
      { a: '1' },
      { a: [1] },
      [['a', 1]],
      { properties: [['a', 1]] },
      { b: 1 },
      {},
      [],
      null,
    ];
    values.push(JSON.parse('{"__proto__":1}') as object);
    expect(new Set(values.map(digestOf)).size).toBe(values.length);
  });

  it('can be used once, is forgotten when too old, and takes no more memory than that', () => {
    const names = createUsedOnce(60_000, 3);
    const [first = '', second = '', third = '', fourth = ''] = Array.from({ length: 4 }, () => names.issue());
    expect([first, second, third, fourth].map((name) => names.use(name))).toEqual([false, true, true, true]);
    expect(names.use(second)).toBe(false);
    const old = createUsedOnce(-1, 3);
    expect(old.use(old.issue())).toBe(false);
  });
});

describe('the reasons to ask', () => {
  const policy = { readOnly: false, effects: {}, rules: [], whenUnasked: {} };
  const subject = { tool: 'git_clean', effects: ['write', 'destroy', 'execute'] as const, trusted: false };

  it('are all there are', () => {
    const because = (...given: Parameters<typeof reasonsToAsk>) =>
      reasonsToAsk(...given).map((one) => one.because);
    expect(because(subject, policy)).toEqual(['destroy', 'execute']);
    expect(because({ ...subject, trusted: true }, policy)).toEqual(['destroy']);
    expect(because({ ...subject, asks: 'protected' }, policy)).toEqual(['protected', 'destroy', 'execute']);
    expect(because({ ...subject, asks: 'command' }, policy)).toEqual(['command']);
    const rules = [{ pattern: 'git_*', decision: 'ask' as const, setting: 'r' }];
    expect(because(subject, { ...policy, rules, effects: { write: 'ask' } }).toSorted()).toEqual([
      'destroy',
      'execute',
      'rule',
      'rule',
    ]);
  });

  it('are about the innermost root a folder is in', () => {
    const roots = ['/w', '/w/app', '/w/app-secret'];
    expect(projectOf('/w/app/src', roots)).toBe('/w/app');
    expect(projectOf('/w/app-other', roots)).toBe('/w');
    expect(projectOf('/elsewhere', roots)).toBe('/elsewhere');
  });
});
