import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { call, calls, say } from '../support/fake-model.ts';
import { answerTo, enter as typed, installed, offered, results, writeServers } from '../support/served.ts';

const command = process.execPath;
const everything = installed('@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = installed('@modelcontextprotocol/server-filesystem/dist/index.js');
const memory = installed('@modelcontextprotocol/server-memory/dist/index.js');
const playwright = installed('@playwright/mcp/cli.js');
const chromium = '/usr/bin/chromium';

it('uses the prompts, resources, progress and questions of a server that has everything', async () => {
  const place = await chatPlace();
  writeServers(place, { every: { command, args: [everything], trust: true } });
  const chat = openChat(place);
  await chat.sees('/help');
  const enter = (line: string) => typed(chat, line);

  place.model.script(call('mcp__every__echo', { message: 'ping' }), say('It echoes.'));
  enter('try the echo');
  await chat.sees('It echoes.');
  expect(place.model.requests.at(-1)?.text).toContain('Echo: ping');
  // Such a tool refuses every ordinary call.
  expect(offered(place.model.requests[0])).not.toContain('mcp__every__simulate-research-query');
  await chat.sees('left out "simulate-research-query": it can only be called as a task');

  chat.type('/every:args');
  chat.press('tab');
  await chat.sees('> /every:args-prompt');
  place.model.script(say('Sunny there.'));
  enter(' state=Texas');
  await chat.sees('city (Name of the city)');
  enter('Austin');
  await chat.sees('Sunny there.');
  expect(place.model.requests.at(-1)?.text).toContain("What's weather in Austin, Texas?");

  for (const [text, completed] of [
    ['/every:com', '> /every:completable-prompt'],
    [' dep', ' department='],
  ] as const) {
    chat.type(text);
    chat.press('tab');
    await chat.sees(completed);
  }
  chat.type('Engineering name=Alice');
  place.model.script(say('She is promoted.'));
  enter('');
  await chat.sees('She is promoted.');
  expect(place.model.requests.at(-1)?.text).toContain('promote Alice to the head of the Engineering');

  chat.type('see @every:demo://resource/static/document/feat');
  chat.press('tab');
  await chat.sees('document/features.md');
  place.model.script(say('All features read.'));
  enter('');
  await chat.sees('All features read.');
  expect(place.model.requests.at(-1)?.text).toContain('# Everything Server - Features');

  // Steps that come faster than the line with the spinner takes to appear.
  const long = { duration: 1.2, steps: 8 };
  place.model.script(call('mcp__every__trigger-long-running-operation', long), say('That took long.'));
  enter('work for a while');
  await chat.sees('That took long.');
  expect(chat.raw()).toMatch(/trigger-long-running-operation: \d of 8/);
  expect(place.model.requests.at(-1)?.text).toContain('Long running operation completed');

  // It only changes nothing when a person says so; the question of ours comes first, then its own.
  place.model.script(call('mcp__every__trigger-elicitation-request'), say('Thank you for it.'));
  enter('fill in the form');
  await answerTo(chat, 'every: trigger-elicitation-request', 'y');
  await chat.sees('every asks: Please provide inputs');
  for (const [asked, answer] of [
    ['Your full, legal name', ''],
    ['An answer is needed.', 'Ada'],
    ['Agree to the terms', 'maybe'],
    ['must be boolean', 'yes'],
    ['first line of a story', ''],
    ['Your email address', 'nowhere'],
    ['"nowhere" is no email.', 'ada@example.org'],
    // All the rest may be left out, or has a default.
    ['Portfolio', ''],
    ['date of birth', 'yesterday'],
    ['"yesterday" is no date', ''],
    ['favorite integer', ''],
    ['Favorite number', ''],
    ['favorite friend', '3'],
    ['favorite instruments', '2, Drums'],
    ['favorite hero', 'Wonder Woman'],
    ['types of fish', ''],
    ['type of pet', 'Dogs'],
  ] as const)
    await answerTo(chat, asked, answer);
  await chat.sees('Thank you for it.');
  const told = place.model.requests.at(-1)?.text.replaceAll(/\\+"/g, '"');
  for (const value of [
    '"Ada"',
    '"check": true',
    '"Joey"',
    '"Drums"',
    '"hero-3"',
    '"fish-1"',
    '"pet-2"',
    '42',
  ])
    expect(told).toContain(value);
  expect(told).not.toContain('homepage');

  place.model.script(call('mcp__every__trigger-elicitation-request'), say('Never mind.'));
  enter('once more');
  await answerTo(chat, 'Thank you for it.', 'y');
  await chat.sees(/full, legal name[^]*full, legal name[^]*Esc: none of it\)$/);
  chat.press('esc');
  await chat.sees('Never mind.');
  expect(place.model.requests.at(-1)?.text).toContain('User cancelled');
  enter('/exit');
  expect(await chat.exit).toBe(0);
});

it('uses several servers at once, and goes on without those that are broken', async () => {
  const place = await chatPlace();
  const { cwd, home, model } = place;
  writeFileSync(join(cwd, 'a.txt'), 'the content of a');
  writeServers(place, {
    files: { command, args: [filesystem, '${PROJECT}'], tools: ['read_*', 'list_*', '!read_file'] },
    memory: { command, args: [memory], env: { MEMORY_FILE_PATH: '${NOTES:-/nowhere}/memory.jsonl' } },
    twin: { command, args: [memory], env: { MEMORY_FILE_PATH: '${env:NOTES}/twin.jsonl' } },
    off: { command, args: ['-e', 'process.exit(9)'], disabled: true },
    missing: { command: join(home, 'no-such-program') },
    crashing: { command, args: ['-e', 'console.error("no licence"); process.exit(3)'] },
    babbling: {
      command,
      args: [
        '-e',
        'console.log("Welcome!\\x1b[2J"); process.stdin.on("end", process.exit).resume(); setTimeout(process.exit, 300)',
      ],
    },
    unset: { command, args: ['${NOT_SET_ANYWHERE}'] },
  });
  const named = (server: string, name: string) => ({
    name: `mcp__${server}__create_entities`,
    args: { entities: [{ name, entityType: 'person', observations: ['is known'] }] },
  });
  model.script(
    calls([
      { name: 'mcp__files__read_text_file', args: { path: join(realpathSync(cwd), 'a.txt') } },
      named('memory', 'Ada'),
      named('twin', 'Grace'),
      { name: 'mcp__toolcrib__read_file', args: { path: 'a.txt' } },
      { name: 'mcp__files__read_file', args: { path: 'a.txt' } },
    ]),
    say('All of them.'),
  );
  const place2 = { ...place, env: { ...place.env, PROJECT: realpathSync(cwd), NOTES: home } };
  const { code, stdout, stderr } = await runChat(place2, ['--allow', 'mcp__*', '-p', 'use them all']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'All of them.\n' });
  const tools = offered(model.requests[0]);
  expect(tools).toContain('mcp__files__read_text_file');
  expect(tools).not.toContain('mcp__files__read_file');
  expect(tools).not.toContain('mcp__files__write_file');
  expect(tools.filter((name) => /__(off|missing|crashing|babbling|unset)__/.test(name))).toEqual([]);
  const [files, ada, grace, own, left] = results(model.requests[1]);
  expect(files).toContain('the content of a');
  expect(ada).toContain('Ada');
  expect(grace).toContain('Grace');
  expect(own).toContain('the content of a');
  expect(left).toContain('no tool named mcp__files__read_file');
  expect(readFileSync(join(home, 'twin.jsonl'), 'utf8')).toMatch(/^(?!.*Ada).*Grace/);
  // One line for each, and what it says of itself.
  for (const [server, why] of [
    ['missing', 'no-such-program'],
    ['crashing', 'no licence'],
    ['babbling', ''],
    ['unset', '${NOT_SET_ANYWHERE}, which is not set'],
  ] as const) {
    const lines = stderr.split('\n').filter((line) => line.includes(server));
    expect(lines, stderr).toHaveLength(1);
    expect(lines[0]).toContain(why);
  }
  expect(stderr.trim().split('\n')).toHaveLength(4);
  expect(stderr).not.toContain('\x1b');
});

it('reaches a server over HTTP, and tells when it is gone', async () => {
  const place = await chatPlace();
  const port = await freePort();
  const server = spawn(command, [everything, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => {
    server.kill('SIGKILL');
  });
  for await (const line of server.stderr) if (String(line).includes('listening')) break;
  writeServers(place, { web: { url: `http://127.0.0.1:${port}/mcp` } });
  const chat = openChat(place);
  await chat.sees('/help');
  place.model.script(call('mcp__web__get-sum', { a: 2, b: 40 }), say('It is a sum.'));
  typed(chat, 'add them');
  // It is not trusted: what it says of itself does not count.
  await answerTo(chat, 'web: get-sum', 's');
  await chat.sees('It is a sum.');
  expect(results(place.model.requests.at(-1))).toEqual([expect.stringContaining('42')]);
  server.kill('SIGKILL');
  await once(server, 'exit');
  place.model.script(call('mcp__web__get-sum', { a: 1, b: 1 }), say('It has gone.'));
  typed(chat, 'once more');
  await chat.sees('It has gone.');
  expect(results(place.model.requests.at(-1)).at(-1)).toContain('MCP server "web"');
  typed(chat, '/exit');
  expect(await chat.exit).toBe(0);
});

it('offers a browser, and a browser that cannot be started is an ordinary error', async () => {
  const place = await chatPlace();
  const browser = existsSync(chromium) ? chromium : join(place.home, 'no-browser');
  const args = [playwright, '--headless', '--isolated', '--no-sandbox', '--executable-path', browser];
  writeServers(place, { browser: { command, args } });
  place.model.script(call('mcp__browser__browser_navigate', { url: 'about:blank' }), say('That is all.'));
  const { code, stdout } = await runChat(place, ['--allow', 'mcp__browser__*', '-p', 'browse']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'That is all.\n' });
  expect(offered(place.model.requests[0])).toContain('mcp__browser__browser_navigate');
  expect(results(place.model.requests[1])).toEqual([
    expect.stringContaining(existsSync(chromium) ? 'about:blank' : 'no-browser'),
  ]);
});

/** For a program that has to be told its port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
