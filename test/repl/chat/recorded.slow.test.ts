import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, leave, openChat, runChat, type ChatPlace } from '../support/chat.ts';
import { call, calls, misbehave, say } from '../support/fake-model.ts';
import { stateOf } from '../support/interrupted.ts';
import { fixture, writeServers } from '../support/served.ts';

// Each runs the program several times: quick, unless much else runs.

const server = fixture('mcp-server.mjs');
/** Quick to start. */
const bare = '--no-toolcrib';
const mode = (file: string) => statSync(file).mode & 0o777;

/** A whole conversation as it is on the screen in the end, without what the clock says. */
async function screenOf(place: ChatPlace, args: readonly string[]): Promise<string> {
  const chat = openChat(place, [...args, '--toolsets', 'files']);
  await chat.sees('/help');
  for (const [said, seen] of [
    ['read it', 'It says **much**.'],
    ['and then?', 'Nothing more.'],
  ] as const) {
    chat.type(said);
    chat.press('enter');
    await chat.sees(seen.replaceAll('**', ''));
    // The line about tokens comes last.
    await chat.until(() => chat.screen().split('of 100k').length > (said === 'read it' ? 1 : 2));
  }
  await leave(chat);
  return chat
    .scrollback()
    .replaceAll(/\b\d+(\.\d+)?m?s\b/g, '0s')
    .replaceAll(/ +/g, ' ');
}

it('plays a recorded conversation again, without any network', async () => {
  const place = await chatPlace();
  const file = join(place.home, 'recording.jsonl');
  writeFileSync(join(place.cwd, 'a.txt'), 'inside a\n');
  place.model.script(
    call('mcp__toolcrib__read_file', { path: 'a.txt' }),
    say('It says **much**.'),
    say('A beginning that is cut off', { misbehave: 'cut_socket' }),
    say('Nothing more.'),
  );
  const recorded = await screenOf(place, ['--record', file]);
  expect(recorded).toMatch(/again in 1\s+s/);
  expect(mode(file)).toBe(0o600);
  await place.model.close();
  const asked = place.model.requests.length;
  expect(await screenOf(place, ['--replay', file])).toBe(recorded);
  expect(place.model.requests).toHaveLength(asked);

  // Neither a model nor a key is needed.
  writeFileSync(join(place.home, '.config', 'toolcrib', 'chat.yaml'), '');
  const once = await runChat(place, ['-p', 'read it', '--replay', file, bare]);
  expect(once).toMatchObject({ code: 0, stdout: 'It says **much**.\n' });
  const more = await runChat(place, ['-f', join(place.home, 'three'), '--replay', file, bare]);
  expect(more.code).toBe(2);
  writeFileSync(join(place.home, 'three'), 'read it\nand then?\nand more?\n');
  const last = await runChat(place, ['-f', join(place.home, 'three'), '--replay', file, bare]);
  expect(last).toMatchObject({ code: 1, stdout: 'It says **much**.\nNothing more.\n' });
  expect(last.stderr).toMatch(/has 4 answers, and this is request 5/);
});

it('traces all messages of all servers', async () => {
  const place = await chatPlace();
  const trace = join(place.home, 'trace.jsonl');
  writeServers(place, { other: { command: process.execPath, args: [server], trust: true } });
  place.model.script(
    calls([
      { name: 'mcp__other__echo', args: { text: 'to the other' } },
      { name: 'mcp__toolcrib__read_file', args: { path: 'own.txt' } },
    ]),
    say('Done.'),
  );
  expect(await runChat(place, ['-p', 'go', '--trace', trace, '--toolsets', 'files'])).toMatchObject({
    code: 0,
    stdout: 'Done.\n',
  });
  expect(mode(trace)).toBe(0o600);
  interface Traced {
    ts: string;
    server: string;
    direction: string;
    message: { id?: number; method?: string; result?: unknown; params?: object };
  }
  const lines = readFileSync(trace, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Traced);
  for (const [server, words] of [
    ['other', 'to the other'],
    ['toolcrib', 'own.txt'],
  ]) {
    const own = lines.filter((line) => line.server === server);
    for (const method of ['tools/list', 'tools/call']) {
      const asked = own.find(({ direction, message }) => direction === 'out' && message.method === method);
      expect(asked?.message.id).toBeDefined();
      const answered = own.filter(
        ({ direction, message }) => direction === 'in' && message.id === asked?.message.id,
      );
      expect(answered).toHaveLength(1);
    }
    expect(JSON.stringify(own.find(({ message }) => message.method === 'tools/call'))).toContain(words);
  }
});

it('keeps a log for its owner alone, which does not grow without end', async () => {
  const place = await chatPlace();
  const log = join(stateOf(place), 'chat.log');
  writeServers(place, { broken: { command: process.execPath, args: [server, '--exit'] } });
  place.model.otherwise(() => say('ok'));
  place.model.script(misbehave('429_then_ok'));
  await runChat(place, ['-p', 'my s3cret', '--mode', 'plan', '--toolsets', 'files']);
  expect(mode(log)).toBe(0o600);
  const logged = readFileSync(log, 'utf8');
  expect(logged).toMatch(/^\d{4}-\S+Z \d+ .*broken: no database/m);
  expect(logged).toMatch(/ toolcrib \S+ starts: fake\/fake-model, mode plan\n/);
  expect(logged).toMatch(/ fake\/fake-model MODEL_BUSY 429\n/);
  expect(logged).toMatch(/ toolcrib: started, \d+ tools\n[^]* toolcrib: ended\n/);
  expect(logged).not.toMatch(/\u001b|s3cret/);
  writeFileSync(log, `${'old\n'.repeat(260_000)}`);
  await runChat(place, ['-p', 'go', bare]);
  expect(readFileSync(`${log}.1`, 'utf8')).toMatch(/^old/);
  expect(statSync(log).size).toBeLessThan(10_000);
  expect(mode(log)).toBe(0o600);
});

it('takes keys from the environment or from a program, and shows them to nobody but the endpoint', async () => {
  const place = await chatPlace();
  const program = join(place.home, 'key.sh');
  writeFileSync(program, '#!/bin/sh\necho sk-of-a-program\n');
  chmodSync(program, 0o700);
  const endpoint = (name: string, more: string) =>
    `  ${name}: { wire: chat, baseUrl: "${place.model.url}/v1", ${more} }`;
  const lines = [
    'endpoints:',
    endpoint('by-env', 'keyVariables: [SOME_KEY]'),
    endpoint('by-program', `keyCommand: ["${program}"]`),
    endpoint('failing', `keyCommand: [sh, -c, "echo sk-not-to-be-seen; echo sk-not-to-be-seen >&2; exit 1"]`),
    endpoint('nowhere', 'keyVariables: [NO_SUCH_KEY], local: false'),
  ];
  writeFileSync(join(place.home, '.config', 'toolcrib', 'chat.yaml'), `${lines.join('\n')}\n`);
  place.env['SOME_KEY'] = 'sk-of-the-environment';
  const all = [
    '--save',
    '--record',
    join(place.home, 'r'),
    '--trace',
    join(place.home, 't'),
    '--toolsets',
    'files',
  ];
  place.model.script(
    call('mcp__toolcrib__read_file', { path: 'none' }),
    say('one'),
    misbehave('key_refused'),
    say('two'),
  );
  const ran = [
    await runChat(place, ['-p', 'a', '-m', 'by-env/x', ...all]),
    await runChat(place, ['-p', 'b', '-m', 'by-env/x', ...all, '--output', 'json']),
    await runChat(place, ['-p', 'c', '-m', 'by-program/x', ...all]),
    await runChat(place, ['-p', 'd', '-m', 'failing/x', ...all]),
    await runChat(place, ['-p', 'e', '-m', 'nowhere/x', ...all]),
  ];
  expect(ran.map(({ code }) => code)).toEqual([0, 1, 0, 1, 1]);
  const keys = place.model.requests.map(({ headers }) => headers.authorization);
  const own = 'Bearer sk-of-the-environment';
  expect(keys).toEqual([own, own, own, 'Bearer sk-of-a-program']);
  expect(ran[3]?.stderr).toMatch(/^toolcrib: NO_KEY: .*should print the key.*exit code 1/);
  expect(ran[4]?.stderr).toMatch(/^toolcrib: NO_KEY: .*NO_SUCH_KEY/);
  const written = [place.home, stateOf(place)].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => file !== program && existsSync(file) && statSync(file).isFile()),
  );
  expect(written.length).toBeGreaterThan(4);
  for (const text of [
    ...ran.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ...written.map((file) => readFileSync(file, 'latin1')),
  ])
    expect(text).not.toMatch(/sk-of|not-to-be-seen(?!;| >)/);
});
