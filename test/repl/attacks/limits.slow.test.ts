import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { openLog } from '../../../src/repl/files/log.ts';
import { recording } from '../../../src/repl/providers/recording.ts';
import { openHistory } from '../../../src/repl/terminal/history.ts';
import { checkArguments } from '../../../src/repl/toolbox/check-arguments.ts';
import { createPatience } from '../../../src/repl/toolbox/patience.ts';
import { traceTo } from '../../../src/repl/toolbox/trace.ts';
import { temporaryFolder } from '../../filesystem/folder.ts';
import { processorMs } from '../../support/processor-ms.ts';
import { until } from '../../support/until.ts';
import { chatPlace, runChat } from '../support/chat.ts';
import { answer, call, say, wait } from '../support/fake-model.ts';
import { fixture, offered, results, writeServers } from '../support/served.ts';

afterEach(() => vi.useRealTimers());
/** The chat with a server that means harm, which the model calls. */
async function calling(kind: string, ...flags: string[]) {
  const place = await chatPlace();
  const args = [fixture('hostile-server.mjs'), kind];
  writeServers(place, { evil: { command: process.execPath, args, protocol: '2025-11-25', trust: true } });
  const log = join(place.home, '.state', 'toolcrib', 'chat', 'chat.log');
  const changes = () => (existsSync(log) ? readFileSync(log, 'utf8').split('has changed').length - 1 : 0);
  if (kind === 'flips') place.model.script(answer(wait(until(() => changes() > 12)), say('Well.')));
  else place.model.script(call('mcp__evil__ping'), say('Well.'));
  const ran = await runChat(place, ['-p', 'go', '--no-toolcrib', '--allow', 'evil:*', ...flags]);
  expect(ran.code).toBe(0);
  return { ...ran, warnings: ran.stderr.split('\n').filter((line) => line.includes('"evil"')), place };
}

it('gives up on a schema that takes for ever to check', async () => {
  const link = (at: number) => ({ $ref: `#/$defs/a${at}` });
  const $defs: Record<string, unknown> = { a26: { type: 'number' } };
  for (let at = 0; at < 26; at++)
    $defs[`a${at}`] = { anyOf: [link(at + 1), { ...link(at + 1), title: 'x' }] };
  const again = { properties: { a: { $ref: '#' } } };
  const schemas = [
    { type: 'object', properties: { q: link(0) }, $defs },
    // As long as what it is given is deep, without one definition used twice.
    {
      type: 'object',
      anyOf: [
        { ...again, required: ['b'] },
        { ...again, required: ['c'] },
      ],
    },
  ];
  for (const inputSchema of schemas) {
    const slow = { name: 'slow', description: '', inputSchema };
    const began = process.cpuUsage();
    const args = `{"q":"x","a":${'{"a":'.repeat(40)}1${'}'.repeat(41)}`;
    for (let calls = 0; calls < 3; calls++) expect(await checkArguments(slow, args)).toHaveProperty('args');
    expect(processorMs(began)).toBeLessThan(10_000);
  }
});

it('leaves out tools whose schema nobody could send', async () => {
  const { place, warnings } = await calling('schemas');
  expect(offered(place.model.requests[0]).filter((name) => name.startsWith('mcp'))).toEqual([
    'mcp__evil__ping',
  ]);
  expect(warnings).toHaveLength(2);
});

it('tells ten times at most that a server has changed its tools', async () => {
  const { warnings } = await calling('flips');
  expect(warnings).toHaveLength(10);
  expect(warnings.at(-1)).toContain('only logged');
});

it('hears of progress now and then, however often it is told', async () => {
  const { place, stdout } = await calling('progress', '--output', 'stream-json');
  expect(results(place.model.requests[1])).toEqual(['pong']);
  const heard = stdout.split('\n').filter((line) => line.includes('"call_progress"'));
  expect(heard.length).toBeLessThan(1000);
  expect(Math.max(0, ...heard.map(({ length }) => length))).toBeLessThan(2000);
});

it('waits no longer than an hour for a server that makes progress', () => {
  vi.useFakeTimers();
  const patience = createPatience(60_000, () => {});
  for (let minutes = 0; minutes < 60; minutes += 0.5) {
    patience.reset();
    vi.advanceTimersByTime(30_000);
  }
  expect(patience.signal.aborted).toBe(false);
  for (let again = 0; again < 3; again++) {
    patience.reset();
    vi.advanceTimersByTime(30_000);
  }
  expect(patience.signal.aborted).toBe(true);
});

it('does not take the headers of a server to another one', async () => {
  const seen: unknown[] = [];
  const serve = async (location?: string): Promise<string> => {
    const server = createServer((request, response) => {
      request.resume();
      if (location === undefined) seen.push(request.headers['x-key']);
      response.writeHead(location ? 307 : 404, location ? { location } : {}).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const first = await serve(await serve());
  const place = await chatPlace();
  place.model.script(say('Well.'));
  writeServers(place, { far: { url: first, headers: { 'X-Key': 'sk' } } });
  const { stderr } = await runChat(place, ['-p', 'go', '--no-toolcrib']);
  expect(seen).toEqual([]);
  expect(stderr).toContain('sends requests on to http://127.0.0.1');
});

it('adds to files of its own only, and closes those that others could read', async () => {
  const folder = await temporaryFolder();
  const [victim, links, own] = ['victim', 'links', 'own'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(victim, '"rm -rf ~"\n');
  const opens: Record<string, (path: string) => unknown> = {
    'chat.log': (path) => openLog(dirname(path))('x'),
    history: (path) => openHistory(path).add('x'),
    recording: (path) => recording(fetch, path, () => {}),
    trace: (path) => traceTo(path)('out', 'a', {}),
  };
  for (const path of [links, own]) mkdirSync(path);
  for (const [name, open] of Object.entries(opens)) {
    symlinkSync(victim, join(links, name));
    try {
      open(join(links, name));
    } catch (error) {
      expect(error).toMatchObject({ code: 'USAGE' });
    }
    writeFileSync(join(own, name), '', { mode: 0o644 });
    open(join(own, name));
    expect(statSync(join(own, name)).mode & 0o777).toBe(0o600);
  }
  expect(readFileSync(victim, 'utf8')).toBe('"rm -rf ~"\n');
  // What somebody else planted is not offered with the up arrow.
  expect(openHistory(join(links, 'history')).entries).toEqual([]);
});
