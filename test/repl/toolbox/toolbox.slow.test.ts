import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ElicitRequest } from '../../../src/repl/toolbox/elicitation.ts';
import { traceTo } from '../../../src/repl/toolbox/trace.ts';
import { eras } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { fixture, fixtureServer, nodeServer, openToolbox, toolNamed } from './open-toolbox.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolbox-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

describe.each(eras)('a server that speaks %s', (protocol) => {
  const server = (flags: string[] = []) => fixtureServer(flags, { protocol });

  it('offers its tools under names of their own, with what it says of them', async () => {
    const { box, call } = await openToolbox([server()]);
    expect(box.servers()).toMatchObject([
      { name: 'fix', state: 'ready', protocol, tools: expect.any(Number) },
    ]);
    const names = box.tools().map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(toolNamed(box, 'mcp__fix__echo')).toMatchObject({
      server: 'fix',
      tool: 'echo',
      description: 'Says it again.',
      annotations: { readOnlyHint: true, openWorldHint: false },
      trusted: true,
      identity: expect.stringMatching(/^[0-9a-f]{16}$/),
      definition: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(await call('mcp__fix__echo', { text: 'hello' })).toEqual({
      text: `${protocol === '2025-11-25' ? 'legacy' : 'modern'}: hello`,
      images: [],
      isError: false,
    });
  });

  it('is answered when it asks the person', async () => {
    const asked: ElicitRequest[] = [];
    const { call } = await openToolbox([server()], {
      elicit: async (request) => {
        asked.push(request);
        return { action: 'accept', content: { colour: 'green', often: 3 } };
      },
    });
    expect((await call('mcp__fix__ask')).text).toBe('green 3');
    expect(asked).toMatchObject([{ server: 'fix', message: 'Which colour?' }]);
    expect(Object.keys(asked[0]!.requestedSchema['properties'] as object)).toEqual(['colour', 'often']);
  });

  it('has its question taken back when the call is interrupted', async () => {
    const stop = new AbortController();
    let asked: AbortSignal | undefined;
    const { call } = await openToolbox([server()], {
      elicit: ({ signal }) => {
        asked = signal;
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ action: 'cancel' }));
        });
      },
    });
    const reply = call('mcp__fix__ask', {}, { signal: stop.signal });
    await until(() => asked !== undefined);
    stop.abort();
    expect(await reply).toMatchObject({ isError: true, text: 'Interrupted: it may or may not have run.' });
    await until(() => asked?.aborted === true);
  });

  it('hears no when the person declines', async () => {
    const { call } = await openToolbox([server()]);
    expect((await call('mcp__fix__ask')).text).toBe('no answer');
  });

  it('learns the roots when it asks for them', async () => {
    let roots = ['/tmp'];
    const { box, call } = await openToolbox([server()], { roots: () => roots });
    expect((await call('mcp__fix__roots')).text).toBe('[{"uri":"file:///tmp","name":"tmp"}]');
    roots = ['/usr', '/'];
    await box.rootsChanged();
    expect((await call('mcp__fix__roots')).text).toContain('"file:///usr"');
  });

  it('says how far a call is', async () => {
    const { call } = await openToolbox([server()]);
    const said: string[] = [];
    const stop = new AbortController();
    const progress = (message: string) => said.push(message);
    const reply = call('mcp__fix__slow', { steps: 10_000, ms: 1 }, { progress, signal: stop.signal });
    await until(() => said.length >= 2);
    stop.abort();
    await reply;
    for (const message of said) expect(message).toMatch(/^(?:step \d+|\d+ of 10000)$/);
  });

  it('is told when a call is interrupted, and the reply does not claim that nothing happened', async () => {
    const log = join(folder, 'log');
    const { call } = await openToolbox([server(['--log', log])]);
    const stop = new AbortController();
    const reply = call('mcp__fix__hang', {}, { signal: stop.signal });
    await until(() => readFileSync(log, 'utf8').includes('hanging'));
    stop.abort();
    expect(await reply).toEqual({
      text: 'Interrupted: it may or may not have run.',
      images: [],
      isError: true,
    });
    await until(() => readFileSync(log, 'utf8').includes('cancelled'));
    const late = await call('mcp__fix__echo', { text: '' }, { signal: stop.signal });
    expect(late).toMatchObject({ text: 'Interrupted: it was not run.', isError: true });
  });

  it('gives a changed tool a new definition, with one warning', async () => {
    const { box, warnings, call } = await openToolbox([server(['--log', join(folder, 'log')])]);
    const before = toolNamed(box, 'mcp__fix__mutable');
    await call('mcp__fix__change');
    await until(() => toolNamed(box, 'mcp__fix__mutable')?.definition !== before?.definition);
    expect(toolNamed(box, 'mcp__fix__mutable')?.description).toBe('Changed 1 times.');
    expect(warnings).toEqual([
      'MCP server "fix" has changed mutable: what was allowed of it is asked again.',
    ]);
    // Approved before it changed.
    const reply = await before!.call({}, { signal: new AbortController().signal });
    expect(reply).toMatchObject({ isError: true, text: expect.stringContaining('has changed') });
    expect((await call('mcp__fix__mutable')).text).toBe('done');
  });

  it('gives a hundred calls at once each its own reply', async () => {
    const { call } = await openToolbox([server()]);
    const { signal } = new AbortController();
    const texts = Array.from({ length: 100 }, (_, n) => `number ${n}`);
    const replies = await Promise.all(texts.map((text) => call('mcp__fix__echo', { text }, { signal })));
    expect(replies.map(({ text }) => text.replace(/^\w+: /, ''))).toEqual(texts);
  });

  it('is written to a trace in both directions, readable by its owner only', async () => {
    const file = join(folder, 'trace.jsonl');
    const { call } = await openToolbox([server()], { trace: traceTo(file) });
    await call('mcp__fix__echo', { text: 'traced' });
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const messages = lines.filter(({ message }) => JSON.stringify(message).includes('traced'));
    expect(messages).toMatchObject([
      { ts: expect.any(String), direction: 'out', server: 'fix', message: { method: 'tools/call' } },
      { direction: 'in', server: 'fix', message: { id: expect.anything() } },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('offers prompts and resources', async () => {
    const { box } = await openToolbox([server()]);
    expect(box.prompts()).toMatchObject([
      { server: 'fix', name: 'greet', arguments: [{ name: 'name', required: true }] },
      { server: 'fix', name: 'dialogue', arguments: [] },
    ]);
    expect(await box.getPrompt('fix', 'greet', { name: 'Ada' })).toEqual([
      { type: 'text', text: 'Greet Ada' },
    ]);
    expect(await box.getPrompt('fix', 'dialogue', {})).toEqual([
      { type: 'text', text: 'User:\nHello\nAssistant:\nGood day' },
    ]);
    const completion = { prompt: 'greet', argument: 'name', value: 'al', given: {} };
    expect(await box.complete('fix', completion)).toEqual(['alan']);
    expect(await box.complete('fix', { ...completion, prompt: 'nothing' })).toEqual([]);
    expect(await box.resources('fix')).toEqual([
      'note:///notes',
      'note:///huge',
      'note:///pixel',
      'note:///day/{day}',
    ]);
    expect(await box.readResource('fix', 'note:///notes')).toEqual([
      { type: 'text', text: '[note:///notes]\nContent of note:///notes' },
    ]);
    expect(await box.readResource('fix', 'note:///pixel')).toMatchObject([
      { type: 'image', mimeType: 'image/png' },
    ]);
    const [huge] = await box.readResource('fix', 'note:///huge');
    expect(huge).toMatchObject({ text: expect.stringContaining('more characters]') });
    expect(JSON.stringify(huge).length).toBeLessThan(210_000);
    await expect(box.readResource('fix', 'note:///none')).rejects.toMatchObject({
      code: 'SERVER_FAILED',
      message: expect.stringContaining('"fix"'),
    });
    await expect(box.getPrompt('fix', 'none', {})).rejects.toMatchObject({ code: 'SERVER_FAILED' });
  });
});

describe('several servers', () => {
  it('may have tools of the same name', async () => {
    const second = { ...fixtureServer(), name: 'other', trust: false };
    const { box, call } = await openToolbox([fixtureServer(), second]);
    expect(toolNamed(box, 'mcp__other__echo')).toMatchObject({ trusted: false, server: 'other' });
    expect(toolNamed(box, 'mcp__other__echo')?.definition).toBe(toolNamed(box, 'mcp__fix__echo')?.definition);
    expect((await call('mcp__other__echo', { text: '2' })).text).toBe('legacy: 2');
  });

  it('put what they say of themselves into the instructions only when they are trusted', async () => {
    const distrusted = { ...fixtureServer(), name: 'other', trust: false };
    const { box } = await openToolbox([fixtureServer(['--long']), distrusted]);
    const lines = box.instructions().split('\n');
    expect(lines[0]).toBe('# fix');
    expect(lines[1]).toMatch(/^Be gentle\.x+…$/);
    expect(lines[1]).toHaveLength(2049);
    expect(lines).toHaveLength(2);
  });

  it('come and are started again', async () => {
    const { box } = await openToolbox([]);
    expect(box.instructions()).toBe('');
    await box.add(fixtureServer([], { tools: ['e*', '!environment'] }));
    expect(box.tools().map(({ tool }) => tool)).toEqual(['echo']);
    await box.restart('fix');
    expect(box.servers()).toMatchObject([{ state: 'ready' }]);
    await expect(box.restart('fox')).rejects.toThrow('There is no MCP server "fox". There are: fix.');
  });
});

describe('definitions that no model would take', () => {
  it('are made acceptable, or left out with a warning', async () => {
    const { box, warnings, call } = await openToolbox([nodeServer('bare', [fixture('bare-server.mjs')])]);
    expect(box.tools().map(({ tool }) => tool)).toEqual([
      'dotted.name',
      'either',
      'no_type',
      'plain',
      'referring',
    ]);
    for (const { inputSchema } of box.tools()) {
      expect(inputSchema).toMatchObject({ type: 'object', properties: {} });
      expect(inputSchema).not.toHaveProperty('anyOf');
    }
    expect(warnings).toHaveLength(4);
    expect((await call('mcp__bare__no_type')).text).toBe('no_type');
    expect(await call('mcp__bare__plain')).toEqual({
      text: expect.stringMatching(/^MCP server "bare" answered with error -32602: .*no such thing/),
      images: [],
      isError: true,
    });
  });
});
