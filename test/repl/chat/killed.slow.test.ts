import { isRunning } from '../../support/is-running.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { program } from '../../support/server.ts';
import { chatPlace, openChat, runChat, type ChatPlace } from '../support/chat.ts';
import { answer, call, gate, say, wait, type Step } from '../support/fake-model.ts';
import {
  alone,
  fill,
  isBack,
  linesOf,
  opened,
  placeWithServer,
  problemsOf,
  sessionFiles,
  type Fixture,
} from '../support/interrupted.ts';
import { enter } from '../support/served.ts';
import type { Pty } from '../support/pty.ts';

const never = wait(gate().opened);
const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 60_000, interval: 10 });

/** Says something, waits until the moment has come, and kills the chat as nothing can notice. */
async function killedAt(place: Fixture, steps: readonly Step[], moment: (chat: Pty) => Promise<void>) {
  const chat = await opened(place, '--continue');
  place.model.script(...steps);
  enter(chat, 'what I said');
  await moment(chat);
  chat.signal('SIGKILL');
  expect(await chat.exit).toBe(137);
}

async function goesOn(place: Fixture, chat: Pty): Promise<string> {
  await isBack(chat);
  place.model.script(say('on we go'));
  enter(chat, 'go on');
  await chat.sees('on we go');
  const last = place.model.requests.at(-1);
  expect(last && problemsOf(last)).toEqual([]);
  chat.press('ctrl-d');
  expect(await chat.exit).toBe(0);
  await chat.until(() => place.servers() === 0);
  return last?.text ?? '';
}

it('goes on after it was killed while the model spoke', async () => {
  const place = await placeWithServer();
  await killedAt(place, [answer(say('a first line\nand'), never)], (chat) => chat.sees('a first line'));
  const chat = await opened(place, '--continue');
  await chat.sees('what I said');
  await chat.sees(/The last message has no answer: .*\/retry/);
  expect((await goesOn(place, chat)).split('what I said')).toHaveLength(2);
});

it('asks again about a call that nobody had answered, also after a second death', async () => {
  const place = await placeWithServer();
  const asks = (chat: Pty) => chat.sees('say what to do instead');
  await killedAt(place, [call('mcp__fixture__change')], asks);
  const again = await opened(place, '--continue');
  await asks(again);
  again.signal('SIGKILL');
  await again.exit;
  expect(place.log()).not.toContain('change');

  const chat = await opened(place, '--continue');
  await asks(chat);
  place.model.script(say('It has changed.'));
  enter(chat, 'y');
  await chat.sees('It has changed.');
  await goesOn(place, chat);
  expect(place.log().split('change')).toHaveLength(2);
});

it('does not repeat a call that had begun, and says that nobody knows', async () => {
  const place = await placeWithServer();
  await killedAt(place, [call('mcp__fixture__hang')], (chat) =>
    chat.until(() => place.log().includes('hanging')),
  );
  place.model.script(say('Nobody knows.'));
  const { code, stdout } = await runChat(place, ['--no-toolcrib', '--continue', '-p', 'and?']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Nobody knows.\n' });
  const last = place.model.requests.at(-1);
  expect(last && problemsOf(last)).toEqual([]);
  expect(last?.text).toContain('may or may not have taken effect');
  expect(place.log().split('hanging')).toHaveLength(2);
});

it('keeps results, also without the line that was being written', async () => {
  const place = await placeWithServer();
  const asked = (chat: Pty) => chat.until(() => place.model.requests.length >= 2);
  await killedAt(place, [call('mcp__fixture__slow', { steps: 1, ms: 1 }), never], asked);
  const [file = ''] = sessionFiles(place);
  const whole = statSync(file).size;
  const chat = await opened(place, '--continue');
  expect(await goesOn(place, chat)).toContain('arrived');

  // The machine died while the result was written.
  truncateSync(file, whole - 5);
  place.model.script(say('Nobody knows.'));
  const torn = await opened(place, '--continue');
  await torn.sees('Nobody knows.');
  expect(await goesOn(place, torn)).toContain('It was not repeated.');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.filter((line) => !line.endsWith('}'))).toHaveLength(1);
});

it('loses nothing when it is killed while it shortens the conversation', async () => {
  const place = await placeWithServer({ window: 8000 });
  // What is shown may not be kept yet.
  const isKept = () =>
    sessionFiles(place).some((file) => JSON.stringify(linesOf(file)).includes('first answer'));
  await killedAt(place, [say('the first answer')], (chat) => chat.until(isKept));
  place.configure('compaction: { auto: false }\n');
  const chat = await opened(place, '--continue');
  await chat.sees('the first answer');
  await fill(place, chat);
  const asked = place.model.requests.length;
  place.model.script(never);
  enter(chat, '/compact');
  await chat.until(() => place.model.requests.length > asked);
  chat.signal('SIGKILL');
  await chat.exit;
  const next = await opened(place, '--continue');
  const sent = await goesOn(place, next);
  for (const text of ['what I said', 'the first answer', 'question 1', 'answer 7'])
    expect(sent).toContain(text);
});

it.each(['SIGTERM', 'SIGHUP', 'the end of its window'] as const)(
  'ends its servers, gives the terminal back and keeps the session after %s',
  async (how) => {
    const place = await placeWithServer({}, '--deaf');
    const chat = await opened(place);
    place.model.script(call('mcp__fixture__hang'));
    enter(chat, 'hang');
    await chat.until(() => place.log().includes('hanging'));
    if (how === 'the end of its window') chat.hangUp();
    else chat.signal(how);
    expect([129, 137, 143]).toContain(await chat.exit);
    await chat.until(() => place.servers() === 0);
    if (how !== 'the end of its window') expect(chat.raw()).toMatch(/\x1b\[\?2004l[^]{0,9}$/);
    const [file = ''] = sessionFiles(place);
    expect(linesOf(file).at(-1)).toMatchObject({ type: 'tool', state: 'started' });
  },
);

it('leaves no process of our own server behind when it is killed, nor what that had started', async () => {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'package.json'), '{}');
  writeFileSync(
    join(place.cwd, 'long.js'),
    `require('fs').writeFileSync('pid', process.ppid + ' ' + process.pid); setInterval(() => {}, 1000);`,
  );
  const chat = openChat(place, ['--allow', 'node long.js']);
  await chat.sees('/help');
  place.model.script(call('mcp__toolcrib__run', { command: 'node long.js' }));
  enter(chat, 'run it');
  const pids = () => {
    try {
      return readFileSync(join(place.cwd, 'pid'), 'utf8').split(' ').map(Number);
    } catch {
      return [];
    }
  };
  await chat.until(() => pids().length === 2);
  chat.signal('SIGKILL');
  await chat.exit;
  await chat.until(() => !pids().some(isRunning));
});

it('removes temporary sessions after two days, and no others', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('ok'));
  await runChat(place, ['--no-toolcrib', '-p', '--save', 'kept']);
  for (const said of ['old', 'young']) await runChat(place, ['--no-toolcrib', '-p', '--temporary', said]);
  const age = (Date.now() - 49 * 3600 * 1000) / 1000;
  for (const file of sessionFiles(place).slice(0, 2)) utimesSync(file, age, age);
  await runChat(place, ['--no-toolcrib', '-p', 'one more']);
  const left = sessionFiles(place).map((file) => readFileSync(file, 'utf8'));
  expect(left.map((text) => /"typed":"(\w+)"/.exec(text)?.[1])).toEqual(['kept', 'young']);
});

/** `chat -p` in the middle of something. */
function started({ cwd, env }: ChatPlace, args: readonly string[]) {
  const child = spawn(process.execPath, [program, 'chat', ...alone, '-p', ...args], {
    cwd,
    env,
    stdio: 'pipe',
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  child.stdin.end();
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString();
  });
  const code = once(child, 'close').then(([exit]) => exit as number | null);
  return { child, code, stdout: () => stdout, stderr: () => stderr };
}

it('ends with 130 when one answer is interrupted, with the answer so far', async () => {
  const place = await placeWithServer();
  place.model.script(answer(say('half an answer\n'), never));
  const speaking = started(place, ['--output', 'stream-json', 'say']);
  await until(() => speaking.stdout().includes('half'));
  speaking.child.kill('SIGINT');
  expect(await speaking.code).toBe(130);
  const result: unknown = JSON.parse(speaking.stdout().trimEnd().split('\n').at(-1) ?? '');
  expect(result).toMatchObject({ type: 'result', reason: 'interrupted', text: 'half an answer\n' });

  place.model.script(call('mcp__fixture__hang'));
  const calling = started(place, ['--save', 'call']);
  await until(() => place.log().includes('hanging'));
  calling.child.kill('SIGTERM');
  expect(await calling.code).toBe(130);
  expect(calling.stderr()).toBe('toolcrib: Interrupted.\n');
  expect(place.log()).toContain('cancelled');
  const [file = ''] = sessionFiles(place);
  expect(linesOf(file).at(-1)).toMatchObject({ state: 'done', isError: true });
  await until(() => place.servers() === 0);
});

it('leaves no server behind when one answer is interrupted twice', async () => {
  const place = await placeWithServer({}, '--deaf');
  place.model.script(call('mcp__fixture__hang'));
  const chat = started(place, ['call']);
  await until(() => place.log().includes('hanging'));
  chat.child.kill('SIGINT');
  await until(() => place.log().includes('cancelled'));
  chat.child.kill('SIGINT');
  expect(await chat.code).toBe(130);
  await until(() => place.servers() === 0);
});
