import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Client } from '@modelcontextprotocol/client';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, connectV1, eras, inherited, initialize, startRaw, transportOf } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

it.each(eras)('serves a client of the current SDK in %s', async (era) => {
  const { folder } = temporaryRepository();
  const client = await connect(era, { roots: [folder] });
  onTestFinished(() => client.close());
  expect(client.getNegotiatedProtocolVersion()).toBe(era);
  expect(client.getInstructions()).toContain('Call project first');
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(names).toEqual(
    expect.arrayContaining(['check', 'git_status', 'grep', 'list_files', 'project', 'read_file']),
  );
  const status = await client.callTool({ name: 'git_status', arguments: {} });
  expect(textOf(status)).toMatch(/^on main at \w{9}; nothing to commit$/);
  expect(status).not.toHaveProperty('structuredContent');
});

it('serves a client of the first SDK', async () => {
  const { folder, write } = temporaryRepository();
  const client = await connectV1({ roots: [folder] });
  onTestFinished(() => client.close());
  write('new.txt', 'x');
  expect((await client.listTools()).tools.length).toBeGreaterThan(20);
  const status = await client.callTool({ name: 'git_status', arguments: {} });
  expect(textOf(status)).toContain('?? new.txt');
  const failed = await client.callTool({ name: 'git_status', arguments: { cwd: 'nowhere' } });
  expect(failed).toMatchObject({ isError: true });
});

it('names the parameter that is wrong and the one that is right', async () => {
  const client = await connect('2025-11-25', { roots: [temporaryRepository().folder] });
  onTestFinished(() => client.close());
  const say = async (name: string, given: Record<string, unknown>) =>
    textOf(await client.callTool({ name, arguments: given }));
  expect(await say('git_log', { limt: 5 })).toMatch(
    /^ARG_INVALID: limt: there is no such parameter; did you mean limit\?/,
  );
  expect(await say('git_log', { limit: 'five' })).toMatch(
    /^ARG_INVALID: limit: expected number, received string/,
  );
  expect(await say('git_log', { limit: 501 })).toMatch(/^ARG_INVALID: limit: .*500/);
  expect(await say('git_create_branch', {})).toMatch(/^ARG_INVALID: branch: is required/);
  expect(await say('read_file', { path: 7 })).toMatch(/^ARG_INVALID: path: expected string/);
});

it('answers an unknown tool with an error of the protocol that names the right one', async () => {
  const client = await connect('2025-11-25', { roots: [temporaryFolder()] });
  onTestFinished(() => client.close());
  await expect(client.callTool({ name: 'git_statsu', arguments: {} })).rejects.toThrow(
    'Did you mean git_status?',
  );
});

it('serves bare JSON-RPC lines, and writes nothing else to standard output', async () => {
  const { folder } = temporaryRepository();
  const server = startRaw({ roots: [folder] });
  const opened = await initialize(server);
  expect(opened).toMatchObject({
    result: { protocolVersion: '2025-11-25', serverInfo: { name: 'toolcrib' } },
  });
  for (const [index, name] of ['git_log', 'git_diff', 'list_files', 'list_programs'].entries()) {
    server.send({ id: index + 10, method: 'tools/call', params: { name, arguments: {} } });
  }
  server.child.stdin.write('this is no JSON\n');
  server.send({ id: 20, method: 'no/such/method' });
  server.send({ id: 21, method: 'tools/list', params: { _meta: { progressToken: null } } });
  await Promise.all([10, 11, 12, 13, 20].map((id) => server.next((message) => message.id === id)));
  const invalid = { code: -32600, message: expect.stringContaining('params: _meta: progressToken: ') };
  expect(await server.next((message) => message.id === 21)).toMatchObject({ error: invalid });
  expect(await server.next((message) => message.id === 20)).toMatchObject({ error: { code: -32601 } });
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
  for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends by itself, with 0, on %s', async (signal) => {
  const server = startRaw({ roots: [temporaryFolder()] });
  await initialize(server);
  server.child.kill(signal);
  expect(await server.ended).toBe(0);
});

it('lists nothing that changes anything with --read-only, and refuses to call it', async () => {
  const { folder, git } = temporaryRepository();
  const client = await connect('2025-11-25', {
    roots: [folder],
    args: ['--read-only', '--rule', '*=allow'],
  });
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
  expect(tools.length).toBeGreaterThan(10);
  const refused = await client.callTool({ name: 'git_create_branch', arguments: { branch: 'x' } });
  expect(textOf(refused)).toMatch(/^EFFECT_DENIED: .*--read-only/);
  expect(git('branch', '--list')).toBe('* main\n');
});

it('lists only the toolsets that it is given', async () => {
  const client = await connect('2025-11-25', {
    roots: [temporaryFolder()],
    args: ['--toolsets', 'files,git'],
  });
  onTestFinished(() => client.close());
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith('git_')).sort()).toEqual([
    'change_packages',
    'check',
    'control_job',
    'edit_file',
    'edit_files',
    'find_actions',
    'grep',
    'list_files',
    'project',
    'query',
    'read_file',
    'read_output',
    'replace_in_files',
    'run_action',
    'run_read_action',
    'run_task',
    'undo',
    'write_file',
  ]);
  await expect(client.callTool({ name: 'list_programs', arguments: {} })).rejects.toThrow('not offered');
});

it.each(eras)('ATTACK 16: reaches nothing without a root, and names the way out, in %s', async (era) => {
  const client = await connect(era, { cwd: '/' });
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: 'read_file', arguments: { path: '/etc/passwd' } });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/^NO_ROOTS: .*--root/s);
  expect((await client.callTool({ name: 'list_programs', arguments: {} })).isError).toBeFalsy();
});

it.each(eras)('ATTACK 56: lets a client narrow the roots and never widen them, in %s', async (era) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'outer.txt'), 'outer');
  writeFileSync(join(folder, 'inner', 'inner.txt'), 'inner');
  const open = async (uri: string) => {
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: { roots: {} },
        versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' },
      },
    );
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri }] }));
    await client.connect(transportOf({ roots: [folder] }));
    onTestFinished(() => client.close());
    return async (path: string) => textOf(await client.callTool({ name: 'read_file', arguments: { path } }));
  };
  const narrow = await open(`file://${folder}/inner`);
  expect(await narrow('inner.txt')).toBe('1\tinner');
  expect(await narrow(join(folder, 'outer.txt'))).toMatch(/^PATH_OUTSIDE_ROOTS/);
  const apart = await open('file:///usr');
  expect(await apart('outer.txt')).toBe(
    `NO_ROOTS: The server was given ${folder}, and the client has opened /usr: nothing is in both. ` +
      'Open one of the first in the client, or start the server without --root and "roots": then the client decides.',
  );
  const wide = await open('file:///');
  expect(await wide('outer.txt')).toBe('1\touter');
  expect(await wide('/etc/passwd')).toMatch(/^PATH_OUTSIDE_ROOTS/);
});

/** A home folder, and a machine on which nothing is on PATH but what the test puts there. */
function bareHome() {
  const home = temporaryFolder();
  const program = (folder: string, name: string, script: string) => {
    mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  };
  return { home, program, env: { HOME: home, PATH: join(home, 'bin'), SHELL: '/nowhere' } };
}

it.each(eras)('announces a new list when it has learned that a plugin is missing, in %s', async (era) => {
  const { home, program, env } = bareHome();
  program('bin', 'docker', 'echo no such command >&2; exit 1');
  writeFileSync(join(home, 'compose.yaml'), 'services: {}\n');
  // This machine may have another one in a folder that is always looked at.
  mkdirSync(join(home, '.config', 'toolcrib'), { recursive: true });
  const programs = { compose: join(home, 'bin', 'docker') };
  writeFileSync(join(home, '.config', 'toolcrib', 'config.json'), JSON.stringify({ programs }));
  let changed = () => {};
  const announced = new Promise<void>((resolve) => {
    changed = resolve;
  });
  const client = new Client(
    { name: 'test', version: '1' },
    {
      listChanged: { tools: { onChanged: () => changed() } },
      versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' },
    },
  );
  await client.connect(transportOf({ roots: [home], env, args: ['--expose', 'all'] }));
  onTestFinished(() => client.close());
  const composeTools = async () =>
    (await client.listTools()).tools.filter(({ name }) => name.startsWith('compose_'));
  expect((await composeTools()).length).toBeGreaterThan(0);
  await announced;
  expect(await composeTools()).toEqual([]);
  const listed = await client.callTool({ name: 'list_programs', arguments: { program: 'compose' } });
  expect(textOf(listed)).toMatch(
    /^compose: missing: .* is without this plugin: it answered: no such command/,
  );
  // The next server knows it from the start.
  const next = await connect('2025-11-25', { roots: [home], env, args: ['--expose', 'all'] });
  onTestFinished(() => next.close());
  expect((await next.listTools()).tools.filter(({ name }) => name.startsWith('compose_'))).toEqual([]);
});

it.each(eras)('finds a program that is installed while it runs when it is asked, in %s', async (era) => {
  const { home, program, env } = bareHome();
  writeFileSync(join(home, 'justfile'), 'all:\n');
  let announced = 0;
  const client = new Client(
    { name: 'test', version: '1' },
    {
      listChanged: { tools: { onChanged: () => announced++ } },
      versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' },
    },
  );
  await client.connect(transportOf({ roots: [home], env, args: ['--toolsets', 'files,just'] }));
  onTestFinished(() => client.close());
  const justTools = async () =>
    (await client.listTools()).tools.filter(({ name }) => name.startsWith('just_')).length;
  const asked = async () =>
    textOf(
      await client.callTool({ name: 'find_actions', arguments: { query: 'run recipe', program: 'just' } }),
    );
  expect([await justTools(), await asked()]).toEqual([0, expect.stringContaining('cannot be used')]);
  // What no tool of the list is about is no news.
  program('.local/bin', 'hadolint', 'echo 2.12.0');
  await asked();
  program('.local/bin', 'just', 'echo just 1.40.0');
  expect(await asked()).toContain('just_task');
  await until(() => announced > 0);
  expect([announced, (await justTools()) > 0]).toEqual([1, true]);
});

it('finds programs in a folder that only the login shell adds', async () => {
  const { home, program, env } = bareHome();
  program('tools', 'make', 'echo GNU Make 9.9');
  program('bin', 'shell', `PATH=${join(home, 'tools')}:$PATH exec /bin/sh -c "$2"`);
  const client = await connect('2025-11-25', {
    roots: [home],
    env: { ...env, SHELL: join(home, 'bin', 'shell') },
  });
  onTestFinished(() => client.close());
  await client.listTools();
  const found = async () =>
    textOf(await client.callTool({ name: 'list_programs', arguments: { program: 'make' } }));
  await until(async () => (await found()).includes('from login shell'));
  expect(await found()).toContain(`make 9.9 ${join(home, 'tools', 'make')} from login shell`);
});

it('answers the requests that came before the input ended', async () => {
  const server = startRaw({ roots: [temporaryFolder()] });
  server.send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  });
  server.send({ method: 'notifications/initialized' });
  server.send({ id: 2, method: 'tools/list' });
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
  // What a program wrote may be read after its end.
  await until(() => server.lines.length >= 2);
  expect(server.lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2]);
});

it.each(['error', 'silence', 'none'] as const)(
  'goes on with the operator’s roots when the client’s are answered with %s',
  async (how) => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'a.txt'), 'hello');
    const server = startRaw({ roots: [root] });
    await initialize(server, { roots: { listChanged: true } });
    server.send({ id: 2, method: 'tools/call', params: { name: 'read_file', arguments: { path: 'a.txt' } } });
    const { id } = await server.next(({ method }) => method === 'roots/list');
    if (how === 'error') server.send({ id, error: { code: -32603, message: 'no' } });
    if (how === 'none') server.send({ id, result: { roots: [] } });
    const answer = await server.next((message) => message.id === 2 && message.method === undefined);
    expect(textOf(answer.result)).toBe('1\thello');
    server.child.stdin.end();
    await server.ended;
  },
);

it('asks for the roots again when the client reports that they have changed', async () => {
  const folder = temporaryFolder();
  for (const name of ['a', 'b']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'x.txt'), name);
  }
  let root = 'a';
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { roots: { listChanged: true } } },
  );
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: `file://${folder}/${root}` }] }));
  await client.connect(transportOf({ roots: [folder] }));
  onTestFinished(() => client.close());
  const read = async () => textOf(await client.callTool({ name: 'read_file', arguments: { path: 'x.txt' } }));
  expect(await read()).toBe('1\ta');
  root = 'b';
  await client.sendRootsListChanged();
  expect(await read()).toBe('1\tb');
});

it('takes no home folder that the client or the host names for a root', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'README.md'), 'home');
  const client = await connect('2025-11-25', { cwd: home, env: { ...inherited(), HOME: home } });
  onTestFinished(() => client.close());
  expect(textOf(await client.callTool({ name: 'read_file', arguments: { path: 'README.md' } }))).toMatch(
    /^NO_ROOTS/,
  );
});

it('works for a host that starts it with almost no environment', () => {
  const output = execFileSync(process.execPath, ['dist/toolcrib.cjs', 'list', '--json'], {
    env: { HOME: temporaryFolder(), PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toBeTruthy();
  expect(inherited()['PATH']).toBeTruthy();
});

it('reports that a folder can be no root', async () => {
  const client = await connect('2025-11-25', { roots: ['/proc'] });
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: 'read_file', arguments: { path: 'self/environ' } });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/^PATH_PROTECTED/);
});

it('goes on when its background work fails', async () => {
  const { home, program, env } = bareHome();
  // Asking for a version needs a folder of ours, and none can be made.
  program('bin', 'docker', 'exit 1');
  const nowhere = { XDG_CACHE_HOME: '/dev/null/x', XDG_STATE_HOME: '/dev/null/x', TMPDIR: '/dev/null/x' };
  const server = startRaw({ roots: [home], env: { ...env, ...nowhere } });
  const complaint = new Promise<string>((resolve) =>
    server.child.stderr.once('data', (data) => resolve(String(data))),
  );
  await initialize(server);
  server.send({ id: 2, method: 'tools/list' });
  expect(await complaint).toContain('toolcrib: ');
  server.send({ id: 3, method: 'ping' });
  expect(await server.next(({ id }) => id === 3)).toMatchObject({ result: {} });
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
});

it.each([
  [
    'as the SDK writes it',
    (params: object, id: number) => ({ method: 'tools/call', params, jsonrpc: '2.0', id }),
  ],
  [
    'with the id in front',
    (params: object, id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }),
  ],
])('refuses a message that is too long, and goes on: %s', async (_, message) => {
  const server = startRaw({ roots: [temporaryFolder()] });
  await initialize(server);
  const params = { name: 'read_file', arguments: { path: 'x'.repeat(11 * 1024 * 1024), id: 9 } };
  server.child.stdin.write(`${JSON.stringify(message(params, 7))}\n`);
  expect(await server.next(({ id }) => id === 7)).toMatchObject({
    error: { code: -32600, message: expect.stringContaining('TOO_LARGE') },
  });
  // One that is just short enough is read in one piece, with what follows it.
  const path = 'y'.repeat(9 * 1024 * 1024);
  server.child.stdin.write(
    `${JSON.stringify(message({ name: 'read_file', arguments: { path } }, 8))}\n{"jsonrpc":"2.0","id":10,"method":"ping"}\n`,
  );
  const answer: unknown = await server.next(({ id }) => id === 8);
  expect(JSON.stringify(answer)).toContain('too long for a path');
  expect(await server.next(({ id }) => id === 10)).toMatchObject({ result: {} });
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
});
