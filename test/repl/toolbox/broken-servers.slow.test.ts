import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createToolbox } from '../../../src/repl/toolbox/toolbox.ts';
import { until } from '../../support/until.ts';
import { fixtureServer, isRunning, nodeServer, openToolbox, toolNamed } from './open-toolbox.ts';

let folder: string;
let log: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolbox-'));
  log = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const pids = (): number[] =>
  [...readFileSync(log, 'utf8').matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));

describe('a server that cannot be started', () => {
  it.each([
    [
      'a program that is not there',
      nodeServer('gone', [], { command: '/nowhere/at/all' }),
      'its program, or the folder it runs in, was not found',
    ],
    ['a program that ends', fixtureServer(['--exit']), 'it ended (it said: no database [31m at all)'],
    [
      'a program that ends, asked which revision it speaks',
      fixtureServer(['--exit'], { protocol: 'auto' }),
      'it ended (it said: no database [31m at all)',
    ],
    [
      'a folder that is not there',
      fixtureServer([], { cwd: '/nowhere/at/all' }),
      'its program, or the folder it runs in, was not found',
    ],
  ])('is one warning and no tools: %s', async (_what, server, why) => {
    const { box, warnings } = await openToolbox([server, nodeServer('fine', fixtureServer().args)]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`MCP server "${server.name}": `);
    expect(warnings[0]).toContain(why);
    expect(warnings[0]).not.toContain('\n');
    expect(box.servers().map(({ state }) => state)).toEqual(['failed', 'ready']);
    expect(box.tools().every((tool) => tool.server === 'fine')).toBe(true);
    await expect(box.readResource(server.name, 'x:y')).rejects.toMatchObject({ code: 'SERVER_FAILED' });
  });

  it('does not keep anyone waiting', async () => {
    const silent = nodeServer('silent', ['-e', 'setInterval(() => {}, 1000)']);
    const box = createToolbox({
      servers: [silent],
      roots: () => [],
      elicit: async () => ({ action: 'cancel' }),
      warn: () => {},
      log: () => {},
      env: process.env,
      clientInfo: { name: 'test', version: '1' },
    });
    box.connect();
    await box.ready(50);
    expect(box.servers()).toMatchObject([{ state: 'connecting', tools: 0 }]);
    await box.close();
    expect(box.servers()).toMatchObject([{ state: 'closed' }]);
  });
});

describe('a server that dies', () => {
  it('is a failed call and a warning, and the next call starts it again', async () => {
    const { box, warnings, call } = await openToolbox([fixtureServer(['--log', log])]);
    const tools = box.tools().length;
    expect(await call('mcp__fix__die')).toMatchObject({
      isError: true,
      text: 'MCP server "fix" failed during the call: it ended (it said: out of luck). It may or may not have run.',
    });
    await until(() => box.servers()[0]?.state === 'failed');
    expect(warnings).toEqual([
      'MCP server "fix": it ended (it said: out of luck). /mcp restart fix tries again.',
    ]);
    expect(box.tools()).toHaveLength(tools);
    const texts = ['a', 'b', 'c'];
    const replies = await Promise.all(texts.map((text) => call('mcp__fix__echo', { text })));
    expect(replies.map(({ text }) => text)).toEqual(['legacy: a', 'legacy: b', 'legacy: c']);
    expect(pids()).toHaveLength(2);
  });

  it('does not run a tool that has changed meanwhile', async () => {
    const { box, warnings, call } = await openToolbox([fixtureServer(['--log', log])]);
    const before = toolNamed(box, 'mcp__fix__mutable');
    // Its next start finds the change in its file.
    await call('mcp__fix__change');
    await call('mcp__fix__die');
    await until(() => box.servers()[0]?.state === 'failed');
    const reply = await before!.call({}, { signal: new AbortController().signal });
    expect(reply).toMatchObject({ isError: true, text: expect.stringContaining('has changed') });
    expect(warnings.filter((text) => text.includes('has changed mutable'))).toHaveLength(1);
  });

  it('says how to start it again when that fails as well', async () => {
    const flaky = `require('node:fs').existsSync(${JSON.stringify(log)}) && process.exit(9);
      import(${JSON.stringify(fixtureServer().args[0])})`;
    const server = nodeServer('flaky', ['-e', flaky, '--', 'flags', '--log', log]);
    const { box, call } = await openToolbox([server]);
    await call('mcp__flaky__die');
    await until(() => box.servers()[0]?.state === 'failed');
    expect(await call('mcp__flaky__echo', { text: 'x' })).toMatchObject({
      isError: true,
      text: 'MCP server "flaky" is not running: it ended. Use /mcp restart flaky.',
    });
  });

  it('is not waited for by a call that is interrupted', async () => {
    const slow = `if (require('node:fs').existsSync(${JSON.stringify(log)})) setInterval(() => {}, 1000);
      else import(${JSON.stringify(fixtureServer().args[0])})`;
    const { box, call } = await openToolbox([nodeServer('slow', ['-e', slow, '--', 'flags', '--log', log])]);
    await call('mcp__slow__die');
    await until(() => box.servers()[0]?.state === 'failed');
    const stop = new AbortController();
    const reply = call('mcp__slow__echo', { text: '' }, { signal: stop.signal });
    await until(() => box.servers()[0]?.state === 'connecting');
    stop.abort();
    expect(await reply).toMatchObject({ isError: true, text: 'Interrupted: it was not run.' });
  });

  it('is not waited for once it was closed', async () => {
    const silent = nodeServer('silent', ['-e', 'setInterval(() => {}, 1000)']);
    const { box } = await openToolbox([]);
    void box.add(silent);
    const resource = box.readResource('silent', 'x:y');
    resource.catch(() => {});
    await box.close();
    await expect(resource).rejects.toMatchObject({ code: 'SERVER_FAILED' });
  });
});

describe('a server that talks nonsense', () => {
  it('is understood all the same', async () => {
    const { warnings, logged, call } = await openToolbox([fixtureServer(['--garbage'])]);
    expect((await call('mcp__fix__garbage')).text).toBe('survived');
    expect(warnings).toEqual([]);
    expect(logged).toContain('fix: it wrote what is no message');
  });

  it('does not get to fill the memory', async () => {
    const flood = `process.stdin.once('data', () => setInterval(() => process.stdout.write('x'.repeat(1e6)), 1))`;
    const { box, warnings } = await openToolbox([nodeServer('flood', ['-e', flood])]);
    expect(box.servers()).toMatchObject([{ state: 'failed' }]);
    expect(warnings).toHaveLength(1);
  });
});

describe('the end', () => {
  it('closes servers in time, also one that ignores it', async () => {
    const { box } = await openToolbox([
      fixtureServer(['--deaf', '--log', log]),
      { ...fixtureServer(['--log', log]), name: 'polite' },
      { ...fixtureServer(['--deaf', '--log', log], { protocol: 'auto' }), name: 'newer' },
    ]);
    await box.close();
    expect(pids().filter(isRunning)).toEqual([]);
    expect(box.servers().every(({ state }) => state === 'closed')).toBe(true);
  });

  it('kills servers at once', async () => {
    const { box, warnings } = await openToolbox([
      fixtureServer(['--deaf', '--log', log]),
      { ...fixtureServer(['--log', log]), name: 'polite' },
    ]);
    box.kill();
    // Nothing else may run meanwhile: they are gone, or are being reaped, as soon as it returns.
    await until(() => !pids().some(isRunning));
    expect(warnings.length).toBeLessThanOrEqual(2);
  });
});
