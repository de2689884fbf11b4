import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../../support/server.ts';
import { chatPlace, runChat, type ChatPlace } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';
import { linesOf, problemsOf, sessionFiles } from '../support/interrupted.ts';
import { messagesOf } from './messages.ts';

const bare = '--no-toolcrib';

/** A place with one session, in which `first` was said and answered, and the path of its file. */
async function withSession(): Promise<{ place: ChatPlace; file: string }> {
  const place = await chatPlace();
  place.model.otherwise(() => say('Noted.'));
  await runChat(place, ['-p', 'first', '--save', bare]);
  return { place, file: sessionFiles(place)[0]! };
}

/** What a session is sent as when it goes on, without the system prompt. */
async function goesOn(place: ChatPlace, said = 'and then?'): Promise<string> {
  expect(await runChat(place, ['--continue', '-p', said, bare])).toMatchObject({
    code: 0,
    stdout: 'Noted.\n',
  });
  const request = place.model.requests.at(-1)!;
  expect(problemsOf(request)).toEqual([]);
  return JSON.stringify(messagesOf(request).slice(1));
}

const user = (id: string, parent: string | null, text = id) =>
  JSON.stringify({ type: 'user', content: [{ type: 'text', text }], id, parent, ts: '' });

it('keeps a session file that nobody else reads, with a line for each entry, whatever line ends are in it', async () => {
  const { place, file } = await withSession();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  chmodSync(file, 0o644);
  const before = linesOf(file).length;
  place.model.script(say('a\nb\r\nc\u2028d\u2029e\u0085f'));
  await runChat(place, ['--continue', '-p', 'second\nline', bare]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(linesOf(file)).toHaveLength(before + 2);
  expect(await goesOn(place)).toMatch(/first[^]*second\\nline[^]*a\\nb[^]*and then/);
});

it.each<[string, (text: string) => string, says: RegExp]>([
  [
    'whose last line was cut',
    (text) => `${text}${user('cut', 'x').slice(0, -9)}`,
    /first(?!.*cut).*and then/,
  ],
  ['whose last line lacks its end', (text) => text.slice(0, -1), /first.*Noted.*and then/],
  [
    'with a damaged line in the middle',
    (text) => `${text}{"type":"user","id":"lost\n${user('after', 'lost', 'after it')}\n`,
    /first.*Noted.*after it.*and then/,
  ],
  [
    'with entries of a later version',
    (text) =>
      `${text}{"type":"hologram","id":"h","parent":null,"ts":""}\n{"type":"constructor","id":"i","parent":"h","ts":""}\n${user('b', 'i')}\n`,
    /b.*and then/,
  ],
  [
    'with entries in a circle, on themselves and on nothing',
    (text) => `${text}${user('a', 'b')}\n${user('b', 'a')}\n${user('c', 'c')}\n${user('d', 'gone')}\n`,
    /and then/,
  ],
  [
    'with half characters',
    (text) => `${text}${user('h', null, 'half X').replace('X', String.raw`\ud83d`)}\n`,
    /half \ufffd.*and then/,
  ],
])('goes on with a session file %s, and loses nothing of it', async (_, change, says) => {
  const { place, file } = await withSession();
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  expect(await goesOn(place)).toMatch(says);
  const again = await goesOn(place, 'and now?');
  expect(again).toMatch(says);
  expect(again).toMatch(/and then\?.*Noted.*and now\?/);
});

it('passes over files that are no sessions, and leaves them as they are', async () => {
  const { place, file } = await withSession();
  const folder = dirname(file);
  const wrong = {
    version: '{"v":2,"type":"session"}\n',
    empty: '',
    other: 'hello\n',
    cut: '{"v":1,"type":"sess',
  };
  for (const [name, text] of Object.entries(wrong))
    writeFileSync(join(folder, `3026_${name}.jsonl`), text, { mode: 0o600 });
  mkdirSync(join(folder, '3026_folder.jsonl'));
  symlinkSync(file, join(folder, '3026_link.jsonl'));
  expect(await goesOn(place)).toContain('first');
  for (const [name, text] of Object.entries(wrong))
    expect(readFileSync(join(folder, `3026_${name}.jsonl`), 'utf8')).toBe(text);
});

it('says so when the disk is full, and the session can go on', async () => {
  const { place, file } = await withSession();
  place.model.script(say('x'.repeat(300_000), { delta: 10_000 }));
  const { cwd, env } = place;
  const args = [
    '-c',
    'ulimit -f 200; exec "$0" "$@"',
    process.execPath,
    program,
    'chat',
    '-c',
    '-p',
    'more',
    bare,
  ];
  const child = spawn('sh', args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  expect((await once(child, 'close'))[0]).toBe(1);
  expect(stderr).toMatch(/cannot be written/);
  expect(readFileSync(file, 'utf8').endsWith('\n')).toBe(false);
  const sent = await goesOn(place);
  expect(sent).toMatch(/first.*more.*and then/);
  expect(sent).not.toContain('xxx');
});
