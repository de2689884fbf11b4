import { marked, type Tokens } from 'marked';
import { expect, it } from 'vitest';
import { exportJson, exportMarkdown } from '../../../src/repl/session/export.ts';
import { memorySession } from '../../../src/repl/session/session.ts';
import { answers, calls, says, tool } from './support.ts';

const stored = {
  type: 'stored',
  sha256: 'a'.repeat(64),
  mimeType: 'image/png',
  bytes: 3,
  name: 'shot_1.png',
} as const;

function conversation() {
  const session = memorySession('/work/place');
  session.append({ type: 'user', content: [{ type: 'text', text: 'Look at this' }, stored] });
  session.append(
    answers('I look.', [calls('a', 'git_log', '{"lines":3}'), calls('b', 'git_log', 'no json')]),
  );
  session.append(tool('a', 'proposed'));
  session.append({
    type: 'tool',
    callId: 'a',
    name: 'git_log',
    state: 'done',
    text: 'one\n```\ntwo',
    ms: 1234,
  });
  session.append({ type: 'tool', callId: 'b', name: 'git_log', state: 'done', text: 'bad', isError: true });
  session.append({
    type: 'compaction',
    summary: 'It was so.',
    firstKeptId: 'x',
    tokensBefore: 2,
    tokensAfter: 1,
    by: 'model',
  });
  session.append(answers('Done.'));
  return session;
}

it('writes the branch as Markdown', () => {
  const text = exportMarkdown(conversation());
  expect(text).toContain('## You\n\n> Look at this\n>\n> *[shot\\_1.png]*');
  expect(text).toContain('## fake-1\n\nI look.\n\nCalls ` git_log `\n\n```json\n{\n  "lines": 3\n}\n```');
  expect(text).toContain('```json\nno json\n```');
  expect(text).toContain(
    '<details><summary>Result of git_log, 1.2 s</summary>\n\n````\none\n```\ntwo\n````\n\n</details>',
  );
  expect(text).toContain('<summary>Error of git_log</summary>');
  expect(text).toContain('summarised for the model</summary>\n\n> It was so.');
  expect(text.endsWith('## fake-1\n\nDone.\n')).toBe(true);
});

it('has what was typed and the names of what came with it, and not what was told beside it', () => {
  const session = memorySession('/');
  const content = ['<environment>\nToday\n</environment>', 'see @a.txt\n\n<file path="a.txt">\nA\n</file>'];
  session.append({
    type: 'user',
    content: [...content.map((text) => ({ type: 'text' as const, text })), stored],
    typed: 'see @a.txt',
  });
  session.append({ type: 'user', content: [{ type: 'text', text: 'Please go on.' }], typed: '' });
  const text = exportMarkdown(session);
  expect(text.slice(text.indexOf('## You'))).toBe('## You\n\n> see @a.txt\n>\n> *[shot\\_1.png]*\n');
});

it.each([
  ['an open fence', 'see\n```ts\nconst a = 1;'],
  ['a longer open fence', '~~~~~\n~~~\n```'],
  ['a fence in a fence', '````\n```\n````\nfine\n```'],
  ['an open comment', 'a\n\n<!-- b'],
  ['an open script', '<script>\nlet a'],
  ['open details', '<details><summary>x'],
  ['the end of details', '</details>\n</details>'],
  ['backticks and carets', '`````\n>>> a\n<pre>'],
])('keeps %s in its place, whoever said it', (_, text) => {
  const session = memorySession('/');
  session.append(says(text));
  session.append(answers(text, [calls('a', 'git_log', text)]));
  session.append(tool('a', 'done', text));
  session.append(says('the end'));
  const headings = marked
    .lexer(exportMarkdown(session))
    .flatMap((token) => (token.type === 'heading' ? [(token as Tokens.Heading).text] : []));
  expect(headings.slice(1)).toEqual(['You', 'fake-1', 'You']);
  const html = marked.parse(exportMarkdown(session), { async: false });
  expect(html.match(/<details>/g)).toHaveLength(1);
  expect(html.match(/<\/details>/g)).toHaveLength(1);
});

it('writes the branch as JSON, with results and without the bytes of images', () => {
  const session = conversation();
  session.append({ type: 'user', content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] });
  const whole = JSON.parse(exportJson(session));
  expect(whole).toMatchObject({ id: session.id, cwd: '/work/place' });
  expect(whole.entries.map(({ type }: { type: string }) => type)).toEqual([
    'user',
    'assistant',
    'tool',
    'tool',
    'compaction',
    'assistant',
    'user',
  ]);
  expect(whole.entries[1].message.calls[0]).toEqual({ id: 'a', name: 'git_log', arguments: '{"lines":3}' });
  expect(whole.entries[2]).toMatchObject({ callId: 'a', text: 'one\n```\ntwo', ms: 1234 });
  expect(whole.entries[0].content[1]).toMatchObject({ type: 'stored', name: 'shot_1.png' });
  expect(whole.entries[6].content).toEqual([{ type: 'image', mimeType: 'image/png' }]);
});

it('writes nothing that a terminal would obey', () => {
  const session = memorySession('/');
  session.append(says('\u001b[2Jred\u001b]0;title\u0007'));
  expect(exportMarkdown(session)).toContain('> red\n');
});
