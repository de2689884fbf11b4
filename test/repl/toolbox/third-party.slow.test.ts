import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkArguments } from '../../../src/repl/toolbox/check-arguments.ts';
import { program } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { installed, isRunning, nodeServer, openToolbox, toolNamed } from './open-toolbox.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolbox-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const everything = installed('@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = installed('@modelcontextprotocol/server-filesystem/dist/index.js');
const memory = installed('@modelcontextprotocol/server-memory/dist/index.js');
const playwright = installed('@playwright/mcp/cli.js');
const chromium = '/usr/bin/chromium';

it('works with the server that has everything', async () => {
  const { box, call } = await openToolbox([nodeServer('every', [everything], { protocol: 'auto' })]);
  expect(box.servers()).toMatchObject([{ state: 'ready', protocol: '2025-11-25' }]);
  expect((await call('mcp__every__echo', { message: 'hello' })).text).toContain('hello');
  expect((await call('mcp__every__get-sum', { a: 2, b: 40 })).text).toContain('42');
  expect((await call('mcp__every__get-tiny-image')).images).toHaveLength(1);
  expect((await box.resources('every')).length).toBeGreaterThan(0);
  expect(box.prompts().length).toBeGreaterThan(0);
  const tool = toolNamed(box, 'mcp__every__get-sum')!;
  expect(await checkArguments(tool, '{"a":"two"}')).toMatchObject({
    problem: expect.stringContaining('"b" is missing'),
  });
});

it('lets the server for files see the roots, and tells it of new ones', async () => {
  const [one, two] = [join(folder, 'one.txt'), folder];
  writeFileSync(one, 'a file');
  let roots = [tmpdir()];
  const server = nodeServer('files', [filesystem, installed('vitest')]);
  const { box, call } = await openToolbox([server], { roots: () => roots });
  roots = [two];
  await box.rootsChanged();
  await until(async () => (await call('mcp__files__list_allowed_directories')).text.includes(two));
  expect((await call('mcp__files__read_text_file', { path: one })).text).toContain('a file');
  const outside = await call('mcp__files__read_text_file', { path: '/etc/hostname' });
  expect(outside.isError).toBe(true);
});

it('works with the server that remembers', async () => {
  const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  const { call } = await openToolbox([nodeServer('memory', [memory], { env })]);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }];
  expect(await call('mcp__memory__create_entities', { entities })).toMatchObject({ isError: false });
  expect((await call('mcp__memory__search_nodes', { query: 'first program' })).text).toContain('Ada');
});

it('works with the server that browses', async () => {
  const args = [playwright, '--headless', '--isolated', '--no-sandbox', '--executable-path', chromium];
  const { box, call } = await openToolbox([nodeServer('web', [...args, '--allow-unrestricted-file-access'])]);
  expect(toolNamed(box, 'mcp__web__browser_navigate')).toBeDefined();
  if (!existsSync(chromium)) return;
  const page = join(folder, 'page.html');
  writeFileSync(page, '<title>A page</title><h1>Found</h1>');
  const reply = await call('mcp__web__browser_navigate', { url: pathToFileURL(page).href });
  expect(reply.text).toContain('A page');
});

it('uses our own server, which sees new roots at once', async () => {
  const second = join(folder, 'second');
  writeFileSync(join(folder, 'a.txt'), 'first');
  let roots = [folder];
  const server = nodeServer('toolcrib', [program, 'serve'], {
    cwd: folder,
    source: 'own',
    protocol: 'auto',
  });
  const { box, call } = await openToolbox([server], { roots: () => roots });
  expect(box.servers()).toMatchObject([{ state: 'ready', protocol: '2025-11-25' }]);
  expect(box.instructions()).toContain('# toolcrib\n');
  const listed = box.tools().find(({ tool }) => tool === 'read_file') ?? box.tools()[0]!;
  expect(listed.trusted).toBe(true);
  const read = () => call('mcp__toolcrib__read_file', { path: join(folder, 'a.txt') });
  expect((await read()).text).toContain('first');
  roots = [second];
  await box.rootsChanged();
  expect((await read()).isError).toBe(true);
});

it.each(['kill', 'close'] as const)('leaves nothing behind that our own server runs: %s', async (how) => {
  const script = join(folder, 'long.mjs');
  const file = join(folder, 'pid');
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000);`,
  );
  const server = nodeServer('toolcrib', [program, 'serve', '--rule', 'node_run=allow'], {
    cwd: folder,
    source: 'own',
  });
  const { box, call } = await openToolbox([server], { roots: () => [folder] });
  const reply = call('mcp__toolcrib__node_run', { file: script });
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  const pid = Number(readFileSync(file, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  await box[how]();
  await until(() => !isRunning(pid));
  expect((await reply).isError).toBe(true);
});
