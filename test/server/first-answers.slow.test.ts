import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/repository.ts';
import {
  eras,
  inherited,
  initialize,
  program,
  startRaw,
  type Era,
  type RawServer,
} from '../support/server.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'raw', version: '1' };
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const hello: Record<Era, readonly Record<string, unknown>[]> = {
  '2025-11-25': [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
  ],
  '2026-07-28': [{ id: 1, method: 'server/discover', params: { _meta } }],
};
const paramsIn = (era: Era, params = {}) => (era === '2026-07-28' ? { ...params, _meta } : params);
const listIn = (era: Era, id: unknown = 2) => ({ id, method: 'tools/list', params: paramsIn(era) });
const callIn = (era: Era, id: unknown = 3) => ({
  id,
  method: 'tools/call',
  params: paramsIn(era, { name: 'read_file', arguments: { path: 'a.txt' } }),
});
const initializeLine = JSON.stringify({ jsonrpc: '2.0', ...hello['2025-11-25'][0] });

/** A home folder, and a project; a program of the user's own is not there, until a test installs it. */
function makeHome() {
  const home = temporaryFolder();
  const [project, cache] = [join(home, 'project'), join(home, 'cache')];
  for (const folder of ['project', 'new', 'bin', 'config/toolcrib/programs'])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(project, 'a.txt'), 'hello');
  writeFileSync(
    join(home, 'config', 'toolcrib', 'programs', 'frob.yaml'),
    'id: frob\ntitle: Frob\nactions:\n  up: { title: Up, description: Starts., effects: [execute], run: [up] }\n',
    { mode: 0o600 },
  );
  const install = () => writeFileSync(join(home, 'new', 'frob'), '#!/bin/sh\necho 2.30.0\n', { mode: 0o755 });
  const env = {
    ...inherited(),
    HOME: home,
    PATH: `${join(home, 'new')}:${join(home, 'bin')}`,
    SHELL: '/nowhere',
    XDG_CACHE_HOME: cache,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
  };
  const start = (args: readonly string[] = [], more = {}) => {
    const server = startRaw({ roots: [project], args: ['--expose=all', ...args], env: { ...env, ...more } });
    onTestFinished(() => {
      server.child.kill('SIGKILL');
    });
    return server;
  };
  const answers = join(cache, 'toolcrib', 'start');
  const kept = () => {
    // What begins with a dot is being written.
    const names = existsSync(answers) ? readdirSync(answers).filter((name) => !name.startsWith('.')) : [];
    return names.map((name) => join(answers, name));
  };
  return { home, project, install, start, kept, env };
}

type Home = ReturnType<typeof makeHome>;

async function greet(server: RawServer, era: Era): Promise<string> {
  for (const message of [...hello[era], listIn(era)]) server.send(message);
  await server.next(({ id }) => id === 2);
  return server.lines.slice(0, 2).join('\n');
}

async function end(server: RawServer) {
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
}

/** A start that keeps its answers, which are not always the first ones: some things are found out later. */
async function firstStart({ start, kept }: Home, era: Era = '2025-11-25') {
  const server = start();
  await greet(server, era);
  await until(() => kept().length > 0);
  server.send(listIn(era, 'again'));
  await server.next(({ id }) => (id as unknown) === 'again');
  const list = server.lines.at(-1)?.replace('"id":"again"', '"id":2');
  await end(server);
  return `${server.lines[0]}\n${list}`;
}

/** Sees if the server itself has been loaded, which needs several times the memory of the first answers. */
const isLoaded = ({ child }: RawServer) =>
  readFileSync(`/proc/${child.pid}/maps`, 'utf8').length > 0 &&
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) > 62_000;

const toolNames = (line: { result?: { tools?: { name: string }[] } }) =>
  line.result?.tools?.map(({ name }) => name) ?? [];

describe.each(eras)('the first answers, in %s', (era) => {
  it('come from memory byte by byte, and the server goes on as if nothing had been', async () => {
    const home = makeHome();
    const said = await firstStart(home, era);
    let server = home.start();
    expect(await greet(server, era)).toBe(said);
    // What a busy machine finds out only after it has kept its answers makes one more start a real one.
    while (process.platform === 'linux' && isLoaded(server)) {
      await end(server);
      server = home.start();
      expect(await greet(server, era)).toBe(said);
    }
    server.send(callIn(era));
    const answer = await server.next(({ id }) => id === 3);
    expect(answer.result).toMatchObject({ content: [{ type: 'text', text: '1\thello' }] });
    await end(server);
    // The handshake was made again for the server, and nothing of that was heard.
    expect(server.lines).toHaveLength(3);
  });

  it('take ids of any kind, and the list twice', async () => {
    const home = makeHome();
    await firstStart(home, era);
    const server = home.start();
    await greet(server, era);
    const first = server.lines[1] ?? '';
    for (const id of ['2', 'ü"\n', 0, -7]) {
      server.send(listIn(era, id));
      await server.next((message) => (message.id as unknown) === id);
      expect(server.lines.at(-1)).toBe(first.replace('"id":2}', `"id":${JSON.stringify(id)}}`));
    }
    expect(server.lines).toHaveLength(6);
    await end(server);
  });

  it('include a program that was installed meanwhile, at once and not later', async () => {
    const home = makeHome();
    expect(await firstStart(home, era)).not.toContain('frob_up');
    home.install();
    const server = home.start();
    await greet(server, era);
    expect(toolNames(JSON.parse(server.lines[1] ?? ''))).toContain('frob_up');
    await end(server);
  });

  it('are followed by reading when the settings of the project are broken after the list', async () => {
    const home = makeHome();
    await firstStart(home, era);
    const server = home.start();
    await greet(server, era);
    writeFileSync(join(home.project, '.toolcrib.json'), '{');
    server.send(callIn(era));
    const { result } = await server.next(({ id }) => id === 3);
    expect(result).not.toMatchObject({ isError: true });
    await end(server);
  });

  it('are corrected by a notification when the list has changed since', async () => {
    const home = makeHome();
    await firstStart(home, era);
    const server = home.start();
    await greet(server, era);
    home.install();
    if (era === '2026-07-28')
      server.send({
        id: 8,
        method: 'subscriptions/listen',
        params: { _meta, notifications: { toolsListChanged: true } },
      });
    server.send(callIn(era));
    await server.next(({ method }) => method === 'notifications/tools/list_changed');
    server.send(listIn(era, 9));
    expect(toolNames(await server.next(({ id }) => id === 9))).toContain('frob_up');
    await until(() => readFileSync(home.kept()[0] ?? '', 'utf8').includes('frob_up'));
    await end(server);
  });
});

it.each<[string, { args?: string[]; env?: object; file?: string }]>([
  ['the arguments', { args: ['--read-only'] }],
  ['the search path', { env: { PATH: '/nowhere' } }],
  ['the operator’s settings', { file: 'config/toolcrib/config.json' }],
  ['the project’s settings', { file: 'project/.toolcrib.json' }],
  ['trust', { file: 'state/toolcrib/trust/x' }],
])('starts anew when %s differ', async (_what, change) => {
  const home = makeHome();
  await firstStart(home);
  const past = statSync(home.kept()[0] ?? '').mtimeMs;
  if (change.file !== undefined) {
    mkdirSync(dirname(join(home.home, change.file)), { recursive: true });
    writeFileSync(join(home.home, change.file), '{}');
  }
  const server = home.start(change.args, change.env);
  await greet(server, '2025-11-25');
  // What is found is kept once more.
  await until(() => home.kept().some((file) => statSync(file).mtimeMs > past));
  await end(server);
});

it.each(['damaged', 'cut', 'open to others', 'a link', 'in an open folder'])(
  'ignores stored answers that are %s',
  async (how) => {
    const home = makeHome();
    await firstStart(home);
    const [file = ''] = home.kept();
    const text = readFileSync(file, 'utf8').replace('"name":"read_file"', '"name":"evil_file"');
    writeFileSync(file, text);
    if (how === 'damaged') writeFileSync(file, text.replaceAll(':', ';'));
    if (how === 'cut') writeFileSync(file, text.slice(0, -10));
    if (how === 'open to others') chmodSync(file, 0o666);
    if (how === 'in an open folder') chmodSync(dirname(file), 0o777);
    if (how === 'a link') {
      writeFileSync(join(home.home, 'elsewhere'), text, { mode: 0o600 });
      rmSync(file);
      symlinkSync(join(home.home, 'elsewhere'), file);
    }
    const server = home.start();
    await greet(server, '2025-11-25');
    expect(toolNames(JSON.parse(server.lines[1] ?? ''))).toContain('read_file');
    await end(server);
  },
);

it('stores answers where nobody else can read them, and no values of variables', async () => {
  const home = makeHome();
  const server = home.start([], { DATABASE_URL: 'postgres://me:secret-value@localhost/db' });
  await greet(server, '2025-11-25');
  await until(() => home.kept().length > 0);
  await end(server);
  const [file = ''] = home.kept();
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readFileSync(file, 'utf8')).not.toContain('secret-value');
});

describe('a message that is not a first request', () => {
  /** The answers to these bytes of a server that has stored answers, and of one that has not. */
  async function both(bytes: (string | Buffer)[]) {
    const said: string[][] = [];
    const home = makeHome();
    await firstStart(home);
    for (const remembers of [true, false]) {
      if (!remembers) for (const file of home.kept()) rmSync(file);
      const server = home.start();
      for (const chunk of bytes) {
        server.child.stdin.write(chunk);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      server.send({ id: 'last', method: 'tools/call', params: { name: 'nothing' } });
      const asked = ['last', 2, ...(bytes.join('').includes('"id":3') ? [3] : [])];
      await Promise.all(asked.map((wanted) => server.next(({ id }) => (id as unknown) === wanted)));
      await end(server);
      said.push(server.lines.toSorted());
    }
    return said;
  }

  const lines = (...messages: object[]) =>
    messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const list = listIn('2025-11-25');
  const greeting = lines(...hello['2025-11-25']);

  it.each<[string, (string | Buffer)[]]>([
    ['everything in one chunk', [greeting + lines(list, callIn('2025-11-25'))]],
    [
      'half lines',
      [greeting.slice(0, 40), greeting.slice(40) + lines(list).slice(0, 9), lines(list).slice(9)],
    ],
    ['line ends of Windows', [(greeting + lines(list)).replaceAll('\n', '\r\n')]],
    ['ping before the list', [greeting, lines({ id: 5, method: 'ping' }, list)]],
    ['a call before the list', [greeting, lines(callIn('2025-11-25')), lines(list)]],
    ['a list without a handshake', [lines(list)]],
    ['a method that is none', [greeting, lines({ id: 5, method: 'no/such' }, list)]],
    [
      'ids that are none',
      [greeting, lines({ ...list, id: null }, { ...list, id: 1.5 }, { ...list, id: {} }, list)],
    ],
    ['a batch', [greeting, `[${lines(list).trim()}]\n`, lines(list)]],
    ['another version', [initializeLine.replace('2025-11-25', '2025-06-18').concat('\n'), lines(list)]],
    ['a client that says less', [lines({ id: 1, method: 'initialize', params: {} }), greeting + lines(list)]],
    ['a cursor', [greeting, lines({ id: 4, method: 'tools/list', params: { cursor: 'x' } }, list)]],
    ['no JSON', [greeting, '\nno JSON\n', lines(list)]],
    [
      'a cancelled request that is none',
      [greeting, lines(list, { method: 'notifications/cancelled', params: { requestId: 99 } })],
    ],
    [
      'a line of 1 MB',
      [greeting + lines(list), lines({ ...list, id: 3, params: { cursor: 'x'.repeat(1024 * 1024) } })],
    ],
  ])('goes to the server: %s', async (_what, bytes) => {
    const [remembered, real] = await both(bytes);
    expect(remembered).toEqual(real);
  });
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'ends with 0 on %s before the server is loaded',
  async (signal) => {
    const home = makeHome();
    await firstStart(home);
    const server = home.start();
    await greet(server, '2025-11-25');
    server.child.kill(signal);
    expect(await server.ended).toBe(0);
  },
);

it('ends with its input: before a request, after the answers, and during a call', async () => {
  const home = makeHome();
  await firstStart(home);
  await end(home.start());
  const input = [...hello['2025-11-25'], listIn('2025-11-25')]
    .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    .join('');
  const args = [program, 'serve', '--root', home.project, '--expose=all'];
  const piped = (more = '') =>
    spawnSync(process.execPath, args, { input: input + more, env: home.env, encoding: 'utf8' });
  expect(piped()).toMatchObject({ status: 0, stderr: '' });
  expect(piped().stdout.split('\n')).toHaveLength(3);
  const again = `${JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'tools/list', params: { cursor: 'x' } })}\n`;
  expect(piped(again).stdout.split('\n').length).toBeGreaterThanOrEqual(3);
});

it('starts at once for a host that has a key, whatever is stored', async () => {
  const home = makeHome();
  await firstStart(home);
  const server = home.start(['--key-fd=0']);
  server.child.stdin.write(`${'0'.repeat(64)}\n`);
  expect(await initialize(server)).toMatchObject({ result: { serverInfo: { name: 'toolcrib' } } });
  await end(server);
});

it('refuses a wrong command line without waiting for a request', async () => {
  const home = makeHome();
  await firstStart(home);
  rmSync(home.project, { recursive: true });
  const server = home.start();
  expect(await server.ended).toBe(2);
});
