import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { rawClient, saidIn, type RawClient } from './raw-client.ts';
import { createScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterAll(() => scene.end());

describe.each(eras)('the protocol, in %s', (era) => {
  let client: RawClient;
  beforeAll(async () => {
    client = await rawClient(era, scene.options(), { form: {} });
  });
  afterAll(() => client.end());

  it('ATTACK 112: a million characters, long lists, and depth are refused at once', async () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 2000; depth++) deep = [deep];
    for (const [name, given] of [
      ['git_log', { ref: 'x'.repeat(1e6) }],
      ['git_log', { paths: Array.from({ length: 1e5 }, () => 'x') }],
      ['read_file', { path: 'x/'.repeat(5e5) }],
      ['grep', { pattern: 'x', glob: '{a,b}'.repeat(5e4) }],
      ['run', { command: 'git', args: Array.from({ length: 1e5 }, () => 'x') }],
      ['run', { command: 'a | '.repeat(2e5) }],
      ['run_action', { action: 'git_log', arguments: { ref: 'x'.repeat(1e6) } }],
      ['git_log', { ref: deep }],
      ['no'.repeat(1e5), {}],
    ] as const) {
      const said = saidIn(await client.call(name, given));
      expect(said).toMatch(/^(?:ARG_|PATH_|TOO_LARGE|-32602)/);
      // What was wrong is not said back whole.
      expect(said.length).toBeLessThan(5000);
    }
  });

  it('ATTACK 104, 105: no tool changes what is allowed', async () => {
    const other = await connect(era, scene.options());
    const { tools } = await other.listTools();
    await other.close();
    expect(tools.map(({ name }) => name).join(' ')).not.toMatch(
      /\b\w*(?:setting|polic|permission|allow|trust|approve|set_config|git_config)/,
    );
    for (const { name, inputSchema } of tools) {
      const parameters = Object.keys(inputSchema.properties ?? {}).join(' ');
      expect(parameters, name).not.toMatch(
        /confirm|approv|decision|consent|force|unsafe|sandbox|sudo|trust|allow(?!_build)/,
      );
      // ATTACK 94: variables of make and definitions of a build are its input; none is a variable of the environment.
      expect(parameters, name).not.toMatch(/\benv|environ|_env\b|shell/);
    }
  });
});

describe('the files that toolcrib keeps', () => {
  it.each<[string, (path: string) => void]>([
    ['a link to a file', (path) => symlinkSync(join(scene.home, '.bashrc'), path)],
    ['a FIFO', (path) => spawnSync('mkfifo', [path])],
    ['a link to a folder', (path) => symlinkSync(scene.outside, path)],
  ])('ATTACK 71: the record of calls is not written through %s, and calls go on', async (_what, put) => {
    const state = join(scene.home, 'state');
    mkdirSync(join(state, 'toolcrib'), { recursive: true, mode: 0o700 });
    put(join(state, 'toolcrib', 'audit'));
    const before = scene.snapshot();
    const client = await connect('2025-11-25', scene.options([], { XDG_STATE_HOME: state }));
    const result = await client.callTool({ name: 'git_log', arguments: {} });
    expect(result.isError, textOf(result)).toBeFalsy();
    await client.close();
    expect(scene.snapshot()).toEqual(before);
    rmSync(state, { recursive: true });
  });

  it('ATTACK 71: a cache that leads elsewhere is not written through', async () => {
    const cache = join(scene.home, 'cache', 'toolcrib');
    mkdirSync(cache, { recursive: true });
    for (const name of ['code', 'outputs', 'output', 'versions', 'output-store'])
      symlinkSync(scene.outside, join(cache, name));
    const outside = () => Object.entries(scene.snapshot()).filter(([path]) => path.startsWith(scene.outside));
    const before = outside();
    const env = { XDG_CACHE_HOME: join(scene.home, 'cache') };
    const client = await connect('2025-11-25', scene.options([], env));
    await client.callTool({ name: 'list_programs', arguments: {} });
    const result = await client.callTool({ name: 'git_log', arguments: {} });
    expect(result.isError, textOf(result)).toBeFalsy();
    await client.close();
    expect(outside()).toEqual(before);
    rmSync(join(scene.home, 'cache'), { recursive: true });
  });
});

it('ATTACK 108: the example entry for a host starts toolcrib and nothing else', () => {
  const text = readFileSync(new URL('../../mcp.json.example', import.meta.url), 'utf8');
  const { mcpServers, ...rest } = JSON.parse(text) as { mcpServers: Record<string, unknown> };
  expect(rest).toEqual({});
  expect(Object.keys(mcpServers)).toEqual(['toolcrib']);
  const { command, args, ...more } = mcpServers['toolcrib'] as { command: string; args: string[] };
  expect(more).toEqual({});
  expect([command, ...args.slice(0, 2)]).toEqual(['node', '/path/to/toolcrib/dist/toolcrib.cjs', 'serve']);
  expect(args).toContain('--root');
  expect(text).not.toMatch(/=allow|--questions|[;|&$`]|https?:/);
});

it.each(eras)('refuses arguments that are nested too deep by saying so, in %s', async (era) => {
  const client = await rawClient(era, scene.options());
  onTestFinished(() => client.end());
  // As text: what makes JSON of it has the same trouble.
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  client.server.send = (message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message }).replace('"DEEP"', deep);
    client.server.child.stdin.write(`${text}\n`);
  };
  for (const [name, given] of [
    ['git_log', { paths: 'DEEP' }],
    ['run', { command: 'true', args: 'DEEP' }],
    ['run_action', { action: 'git_log', arguments: { paths: 'DEEP' } }],
    ['list_programs', { x: 'DEEP' }],
  ] as const) {
    const { result, error } = await client.call(name, given);
    expect(error).toBeUndefined();
    expect(result?.content?.[0]?.text).toMatch(/^ARG_INVALID: arguments: are nested/);
  }
});
