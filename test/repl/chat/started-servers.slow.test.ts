import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { program } from '../../support/server.ts';
import { chatPlace, leave, openChat, runChat } from '../support/chat.ts';
import { call, say } from '../support/fake-model.ts';
import { fixture, writeServers } from '../support/served.ts';

// Each runs the program several times: quick, unless much else runs.

const node = (...args: string[]) => ({
  command: process.execPath,
  args: [fixture('mcp-server.mjs'), ...args],
});

it('waits for all servers before the first message, not only for its own', async () => {
  const place = await chatPlace();
  writeServers(place, { one: { ...node(), trust: true }, two: node() });
  place.model.script(call('mcp__one__echo', { text: 'there' }), say('Done.'));
  expect((await runChat(place, ['-p', 'go', '--no-toolcrib'])).stdout).toBe('Done.\n');
  const [first, second] = place.model.requests;
  for (const name of ['mcp__one__echo', 'mcp__two__echo']) expect(first?.text).toContain(name);
  expect(first?.text).not.toContain('mcp__toolcrib__');
  expect(second?.text).toContain(': there');
});

it.skipIf(process.platform !== 'linux')(
  'starts its own server as any host does, in the environment of the person without the keys of models',
  async () => {
    const place = await chatPlace();
    Object.assign(place.env, { OF_THE_PERSON: 'yes', ANTHROPIC_API_KEY: 'sk-1' });
    const chat = openChat(place, [
      '--toolsets',
      'files',
      '--read-only',
      '--no-checkpoints',
      '--rule',
      'git_push=deny',
    ]);
    await chat.sees('/help');
    /** What /proc says of a process: nothing, of one that is gone. */
    const of = (pid: string, name: string): string[] => {
      try {
        return readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
      } catch {
        return [];
      }
    };
    const servers = () =>
      readdirSync('/proc').filter((pid) => {
        const stat = of(pid, 'stat').join('');
        const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
        return parent === String(chat.pid) && of(pid, 'cmdline').includes('serve');
      });
    await chat.until(() => servers().length > 0);
    const [pid = ''] = servers();
    const [command, ...args] = of(pid, 'cmdline').slice(0, -1);
    expect(command).toBe(process.execPath);
    expect(args.slice(0, 2)).toEqual([program, 'serve']);
    expect(args.slice(2).toSorted()).toEqual(
      [
        '--key-fd=0',
        '--no-checkpoints',
        '--read-only',
        '--rule=git_push=deny',
        '--toolsets=files',
      ].toSorted(),
    );
    // The key of the chat is where nobody else can read it.
    for (const name of ['cmdline', 'environ'])
      expect(of(pid, name).filter((word) => /[0-9a-f]{64}/.test(word))).toEqual([]);
    expect(of(pid, 'environ')).toContain('OF_THE_PERSON=yes');
    expect(of(pid, 'environ').filter((one) => one.includes('sk-'))).toEqual([]);
    await leave(chat);
  },
);

/** It never says a word. */
const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };

it('has a prompt at once, and one warning for each server that is broken, absent or slow', async () => {
  const place = await chatPlace();
  writeServers(place, { broken: node('--exit'), absent: { command: 'no-such-program' }, slow: silent });
  const chat = openChat(place);
  await chat.sees('/help');
  await chat.sees(/MCP server "broken": .*no database/);
  await chat.sees(/MCP server "absent": .*not found/);
  chat.type('/mcp\r');
  await chat.sees(/slow +connecting/);
  // A message waits for the slow one a while, or until the person is tired of it.
  place.model.otherwise(() => say('There you are.'));
  chat.type('hello\r');
  await chat.sees('> hello');
  chat.press('ctrl-c');
  await chat.sees('Interrupted.');
  for (const name of ['broken', 'absent'])
    expect(chat.scrollback().split(`MCP server "${name}"`)).toHaveLength(2);
  expect(place.model.requests).toEqual([]);
  // Then for good: the next one does not wait again.
  chat.type('hello again\r');
  await chat.sees('There you are.');
  expect(chat.scrollback()).not.toContain('is still starting');
  await leave(chat);
});
