import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isRunning } from '../../support/is-running.ts';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace } from '../support/chat.ts';
import { answer, call, calls, gate, misbehave, say, think, wait, type Step } from '../support/fake-model.ts';
import {
  fill,
  isBack,
  linesOf,
  opened,
  placeWithServer,
  problemsOf,
  sessionFiles,
} from '../support/interrupted.ts';
import { enter, writeServers } from '../support/served.ts';

const never = wait(gate().opened);

interface Phase {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Shown when the phase is reached. */
  readonly shows: string;
  /** The next request holds it. */
  readonly told?: string;
  /** Escape leaves only the question: the model is told, and goes on. */
  readonly dismissed?: true;
}

const phases: readonly Phase[] = [
  { name: 'before the first byte', steps: [never], shows: 'waiting for the model' },
  {
    name: 'in the middle of text',
    steps: [answer(say('whole line\nhalf'), never)],
    shows: 'whole line',
    told: 'whole line',
  },
  { name: 'in the middle of thoughts', steps: [answer(think('deep\n'), never)], shows: 'deep' },
  {
    name: "in the middle of a call's arguments",
    steps: [answer(call('mcp__fixture__echo', '{"text": "ha'), never)],
    shows: 'writing a call of fixture: echo',
  },
  {
    name: 'while a tool runs and another waits',
    steps: [
      calls([
        { name: 'mcp__fixture__hang', id: 'h1' },
        { name: 'mcp__fixture__change', id: 'h2' },
      ]),
    ],
    shows: 'fixture: hang · Esc',
    told: 'it may or may not have run',
  },
  {
    name: 'in a question about a call',
    steps: [
      calls([
        { name: 'mcp__fixture__change', id: 'c1' },
        { name: 'mcp__fixture__die', id: 'c2' },
      ]),
    ],
    shows: 'or say what to do instead',
    told: 'rejected this call',
  },
  {
    name: 'in a question of the model',
    steps: [call('ask_user', { question: 'Which colour?' })],
    shows: 'your answer',
    told: 'did not answer',
    dismissed: true,
  },
  {
    name: 'in the form of a server',
    steps: [call('mcp__fixture__ask')],
    shows: 'Esc: none of it',
    dismissed: true,
  },
  {
    name: 'while it waits to try again',
    steps: [misbehave('429_retry_after', { retryAfter: 60 })],
    shows: 'again in 60 s',
  },
];

it.each([
  ['chat', 'ctrl-c'],
  ['responses', 'ctrl-c'],
  ['anthropic', 'esc'],
] as const)(
  'is back at the prompt whatever is interrupted, and the conversation goes on (%s, %s)',
  async (wire, key) => {
    const place = await placeWithServer({ wire, config: 'thoughts: true\n' });
    const chat = await opened(place, '--allow', 'fixture:ask');
    for (const { name, steps, shows, told, dismissed } of phases) {
      const goesOn = dismissed && key === 'esc';
      place.model.script(...steps, ...(goesOn ? [say(`without: ${name}`)] : []));
      const before = chat.scrollback().length;
      const asked = place.model.requests.length;
      enter(chat, `do this ${name}`);
      await chat.until(
        () => place.model.requests.length > asked && chat.scrollback().slice(before).includes(shows),
      );
      chat.press(key);
      if (goesOn) await chat.sees(`without: ${name}`);
      else await chat.until(() => /Interrupted\.|Stopped\./.test(chat.scrollback().slice(before)));
      await isBack(chat);
      place.model.script(say(`fine after ${name}`));
      enter(chat, 'and now?');
      await chat.sees(`fine after ${name}`);
      await isBack(chat);
      const last = place.model.requests.at(-1);
      expect({ name, problems: last && problemsOf(last) }).toEqual({ name, problems: [] });
      for (const text of [`do this ${name}`, told ?? '']) expect(last?.text).toContain(text);
    }
    expect(place.log()).toContain('cancelled');
    expect(place.log()).not.toContain('change');
    expect(place.model.left()).toBe(0);
    const [file = ''] = sessionFiles(place);
    expect(linesOf(file).length).toBeGreaterThan(phases.length * 3);
  },
);

it('shortens nothing when it is interrupted, whoever asked for it', async () => {
  const place = await chatPlace({ window: 8000 });
  const chat = await opened(place);
  await fill(place, chat);
  for (const asks of ['/compact', 'question 8']) {
    const asked = place.model.requests.length;
    place.model.script(never);
    enter(chat, asks);
    await chat.until(() => place.model.requests.length > asked);
    expect(place.model.requests.at(-1)?.body['tools']).toBeUndefined();
    chat.press('ctrl-c');
    await chat.until(() => chat.scrollback().split('Interrupted.').length === (asks === '/compact' ? 2 : 3));
    await isBack(chat);
  }
  const [file = ''] = sessionFiles(place);
  expect(linesOf(file).filter(({ type }) => type === 'compaction')).toEqual([]);
  place.model.script(say('a summary'), say('the ninth answer'));
  enter(chat, 'question 9');
  await chat.sees('the ninth answer');
  const last = place.model.requests.at(-1);
  expect(last && problemsOf(last)).toEqual([]);
  for (const text of ['a summary', 'question 8', 'question 9']) expect(last?.text).toContain(text);
});

it('does not wait for servers that do not start, and ends them with the second Ctrl-C', async () => {
  const place = await chatPlace();
  const silent = join(place.home, 'silent.pid');
  const program = `for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => {}); setInterval(() => {}, 1000);
    require('fs').writeFileSync(${JSON.stringify(silent)}, String(process.pid))`;
  // Said which: finding it out would take a process of the SDK's, which nobody else knows.
  const server = { command: process.execPath, args: ['-e', program], protocol: '2025-11-25' };
  writeServers(place, { silent: server });
  const chat = await opened(place);
  await chat.until(() => existsSync(silent) && readFileSync(silent, 'utf8') !== '');
  const pid = Number(readFileSync(silent, 'utf8'));
  enter(chat, 'what is @silent:notes about?');
  await chat.sees(/starting .*silent/);
  chat.press('ctrl-c');
  await chat.sees('Interrupted.');
  await isBack(chat);
  expect(place.model.requests).toEqual([]);
  enter(chat, '/mcp restart silent');
  await chat.sees(/restart silent$/);
  chat.type('\x03\x03');
  expect(await chat.exit).toBe(130);
  await chat.until(() => !isRunning(pid));
  expect(chat.raw()).toMatch(/\x1b\[\?2004l[^]*$/);
  const [file = ''] = sessionFiles(place);
  expect(readFileSync(file, 'utf8')).toContain('what is @silent:notes about?');
});

it('leaves at once with the second Ctrl-C, and no server is left', async () => {
  const place = await placeWithServer();
  const chat = await opened(place);
  place.model.script(call('mcp__fixture__hang'));
  enter(chat, 'hang');
  await chat.until(() => place.log().includes('hanging'));
  chat.type('\x03\x03');
  expect(await chat.exit).toBe(130);
  await chat.until(() => place.servers() === 0);
  place.model.script(say('I see.'));
  const next = await opened(place, '--continue');
  await next.sees(/open calls come first[^]*I see\./);
  expect(place.model.requests.at(-1)?.text).toContain('It was not repeated.');
  expect(place.log().split('hanging')).toHaveLength(2);
  await isBack(next);
  next.press('ctrl-c');
  await next.sees('Press Ctrl-C again to leave.');
  next.press('ctrl-c');
  expect(await next.exit).toBe(0);
  await chat.until(() => place.servers() === 0);
});

it('answers what was typed meanwhile in order, and gives it back when it is interrupted', async () => {
  const place = await placeWithServer();
  const chat = await opened(place);
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1} of many`);
  const open = gate();
  place.model.script(answer(say('begun\n'), wait(open.opened)));
  place.model.otherwise(() => say('ok'));
  enter(chat, 'begin');
  await chat.sees('begun');
  chat.type(lines.map((line) => `${line}\r`).join(''));
  await chat.sees('queued: line 40 of many');
  open.open();
  await chat.until(() => place.model.requests.length === 41);
  await isBack(chat);
  const said = [...(place.model.requests.at(-1)?.text ?? '').matchAll(/line \d+ of many/g)].map(
    ([line]) => line,
  );
  expect(said).toEqual(lines);

  place.model.script(answer(say('again\n'), never));
  enter(chat, 'once more');
  await chat.sees('again');
  enter(chat, 'early');
  enter(chat, 'next');
  chat.type('unfinished');
  await chat.sees('queued: next');
  chat.press('esc');
  await chat.sees(/> early\nnext\nunfinished$/);
  chat.press('ctrl-c');
  await isBack(chat);

  place.model.script(call('mcp__fixture__change'));
  enter(chat, 'ask me');
  enter(chat, 'y');
  enter(chat, 'later');
  await chat.sees('say what to do instead');
  expect(place.log()).not.toContain('change');
  chat.press('ctrl-c');
  await chat.sees(/> y\nlater$/);
  chat.press('ctrl-c');

  place.model.script(answer(say('stop me\n'), never));
  enter(chat, 'the last');
  await chat.sees('stop me');
  enter(chat, 'forgotten');
  enter(chat, '/stop');
  await chat.until(() => chat.scrollback().split('Interrupted.').length === 4);
  await isBack(chat);
  chat.press('ctrl-d');
  expect(await chat.exit).toBe(0);
  expect(place.model.requests.at(-1)?.text).not.toContain('forgotten');
});

it('does not wait for whatever prints the key', async () => {
  const place = await chatPlace();
  const settings = join(place.home, '.config', 'toolcrib', 'chat.yaml');
  const endpoint = `{ wire: chat, baseUrl: "${place.model.url}/v1", keyCommand: [sleep, "1000"] }`;
  writeFileSync(settings, `endpoints: { slow: ${endpoint} }\nmodel: slow/x\n`);
  const chat = await opened(place);
  enter(chat, 'go');
  await chat.sees('waiting for the model');
  chat.press('ctrl-c');
  await chat.sees('Interrupted.');
  await isBack(chat);
  expect(place.model.requests).toEqual([]);
});
