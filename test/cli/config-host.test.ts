import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { expect, it, vi } from 'vitest';
import { withSettings } from '../../src/cli/host-file.ts';
import { hosts, userFile } from '../../src/cli/hosts.ts';
import { ownLaunch } from '../../src/cli/installation.ts';
import { thisHost } from '../../src/machine/host.ts';
import { version } from '../../src/machine/version.ts';
import { temporaryFolder } from '../support/repository.ts';
import { inherited, program } from '../support/server.ts';

/** A home folder and a project in it, and `toolcrib config` there. */
function person() {
  const home = realpathSync(temporaryFolder());
  const project = join(home, 'shop ü');
  mkdirSync(project);
  /** In a folder, by another copy of the program, and with another PATH. */
  const configBy = (by: { cwd?: string; copy?: string; PATH?: string }, ...args: string[]) => {
    const { cwd = project, copy = program, PATH = process.env['PATH'] ?? '' } = by;
    const { status, stdout, stderr } = spawnSync(process.execPath, [copy, 'config', ...args], {
      cwd,
      env: { ...inherited(), HOME: home, PATH },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const config = (...args: string[]) => configBy({}, ...args);
  const put = (name: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text, { mode });
    return join(home, name);
  };
  const read = (name: string) => readFileSync(join(home, name), 'utf8');
  return { home, project, config, configBy, put, read };
}

const start = {
  command: process.execPath,
  args: expect.arrayContaining([realpathSync(program), 'serve']) as unknown,
};

it.each([
  ['claude-desktop', '.config/Claude/claude_desktop_config.json', 'mcpServers'],
  ['claude-code', '.claude.json', 'mcpServers'],
  ['vscode', '.config/Code/User/mcp.json', 'servers'],
  ['cursor', '.cursor/mcp.json', 'mcpServers'],
  ['windsurf', '.codeium/windsurf/mcp_config.json', 'mcpServers'],
  ['zed', '.config/zed/settings.json', 'context_servers'],
  ['gemini', '.gemini/settings.json', 'mcpServers'],
  ['copilot', '.copilot/mcp-config.json', 'mcpServers'],
  ['qwen', '.qwen/settings.json', 'mcpServers'],
  ['jetbrains', '.junie/mcp/mcp.json', 'mcpServers'],
  ['lmstudio', '.lmstudio/mcp.json', 'mcpServers'],
])('writes the entry of %s, which starts from anywhere, and removes it again', async (host, file, key) => {
  const { home, project, config, put, read } = person();
  const before = '// mine\n{\n\t"theme": "dark", // stays\n\t"other": { "a": [1, 2] },\n}\n';
  const path = put(file, before, 0o600);
  expect(config(host).stdout).toContain('--write');
  expect(read(file)).toBe(before);
  const written = config(host, '--write', '--root', project);
  expect(written).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\+.*toolcrib/m) as unknown });
  expect(read(file)).toMatch(
    /^\/\/ mine\n\{\n\t"\w+": \{[^]*\n\t"theme": "dark", \/\/ stays\n\t"other": \{ "a": \[1, 2\] \},\n\}\n$/,
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(`${path}.before-toolcrib`, 'utf8')).toBe(before);
  const entries = (parse(read(file)) as Record<string, Record<string, { command: string; args: string[] }>>)[
    key
  ];
  expect(entries?.['toolcrib']).toMatchObject(start);
  expect(config(host, '--write', '--root', project).stdout).toMatch(/is like that already/);
  const client = new Client({ name: 'host', version: '1' });
  const { command = '', args = [] } = entries?.['toolcrib'] ?? {};
  await client.connect(
    new StdioClientTransport({
      command,
      args,
      cwd: '/',
      env: { HOME: home, PATH: '/usr/bin:/bin' },
      stderr: 'ignore',
    }),
  );
  expect((await client.listTools()).tools.length).toBeGreaterThanOrEqual(20);
  await client.close();
  expect(config(host, '--remove', '--write').status).toBe(0);
  expect(read(file)).not.toContain('toolcrib');
  expect(read(file)).toMatch(/"theme": "dark", \/\/ stays\n\t"other": \{ "a": \[1, 2\] \}/);
});

it('changes nothing but the entry, whatever the file looks like', () => {
  const under = ['mcpServers', 'toolcrib'];
  const file = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  fc.assert(
    fc.property(file, fc.constantFrom('', '  ', '\t'), fc.boolean(), (given, indent, isCommented) => {
      const { mcpServers: _servers, ...rest } = given;
      const text = JSON.stringify(rest, null, indent);
      const others = JSON.parse(text) as object;
      // The parser that looks at the result makes no such key.
      fc.pre(!text.includes('__proto__'));
      const before = isCommented && indent !== '' ? text.replaceAll(/,\n/g, ', // a, "b": {\n') : text;
      const written = withSettings('a.json', before, [{ under, value: { a: [1] } }]);
      expect(parse(written)).toEqual({ ...others, mcpServers: { toolcrib: { a: [1] } } });
      expect(parse(withSettings('a.json', written, [{ under, value: { b: 2 } }]))).toEqual({
        ...others,
        mcpServers: { toolcrib: { b: 2 } },
      });
      expect(parse(withSettings('a.json', written, [{ under, value: undefined }]))).toEqual(others);
      expect(
        withSettings('a.json', written, [{ under: ['mcpServers'], value: undefined }]).match(/\/\//g),
      ).toEqual(before.match(/\/\//g));
    }),
  );
});

it('replaces what starts toolcrib in an entry of Codex, and nothing else of the file', () => {
  const { config, put, read } = person();
  const file = (command: string, script: string, more = '') =>
    `# mine\r\nmodel = "x"\r\n\r\n[mcp_servers.toolcrib]\r\ncommand = ${JSON.stringify(command)} # Node\r\n` +
    `args = [${JSON.stringify(script)}, "serve", ${more}"--rule", "git_push=deny"]\r\ntool_timeout_sec = 600\r\n\r\n` +
    '[mcp_servers.toolcrib.env]\r\nA = "1"\r\n\r\n[mcp_servers.toolcrib.tools.run]\r\napproval_mode = "approve"\r\n';
  const path = put('.codex/config.toml', file('/old/node', '/old/toolcrib.cjs'));
  expect(config('codex', '--write').status).toBe(0);
  expect(read('.codex/config.toml')).toBe(file(process.execPath, realpathSync(program)));
  expect(config('codex', '--write', '--root', '/usr').status).toBe(0);
  expect(read('.codex/config.toml')).toContain('"git_push=deny","--root","/usr"]'.replaceAll('","', '", "'));
  // The copy is of the time before us, and stays that.
  expect(readFileSync(`${path}.before-toolcrib`, 'utf8')).toBe(file('/old/node', '/old/toolcrib.cjs'));
  expect(config('codex', '--remove', '--write').status).toBe(0);
  expect(read('.codex/config.toml')).toBe('# mine\r\nmodel = "x"\r\n');
});

it.each([
  ['codex', '.codex/config.toml', 'mcp_servers = { a = { command = "b" } } # c\nmodel = "x"'],
  ['goose', '.config/goose/config.yaml', '\uFEFFextensions:\r\n'],
  ['goose', '.config/goose/config.yaml', 'GOOSE_MODE: approve # c\nextensions:\n    dev:\n        x: 1\n'],
  ['cursor', '.cursor/mcp.json', ''],
])('writes an entry of %s and removes it: %s is %j again', (host, name, before) => {
  const { config, put, read } = person();
  put(name, before);
  expect(config(host, '--write')).toMatchObject({ status: 0, stderr: '' });
  expect(read(name)).toContain('toolcrib');
  expect(config(host, '--write').stdout).toContain('is like that already');
  expect(config(host, '--remove', '--write').status).toBe(0);
  expect(read(name)).toBe(before);
});

it('removes what an earlier version wrote for some hosts, and keeps what a person set', () => {
  const { config, put, read } = person();
  const args = (...more: string[]) => ['/old/toolcrib.cjs', 'serve', ...more, '--rule', 'git_push=deny'];
  put(
    '.config/opencode/opencode.json',
    JSON.stringify({
      permission: { 'toolcrib_*': 'ask', bash: 'ask' },
      mcp: { toolcrib: { type: 'local', command: ['node', ...args('--questions', 'host')], enabled: false } },
    }),
  );
  expect(config('opencode', '--write').status).toBe(0);
  const now = [realpathSync(program), 'serve', '--rule', 'git_push=deny'];
  expect(parse(read('.config/opencode/opencode.json'))).toEqual({
    permission: { bash: 'ask' },
    mcp: { toolcrib: { type: 'local', command: [process.execPath, ...now], enabled: false } },
  });
  for (const host of ['gemini', 'qwen']) {
    const entry = { command: 'node', args: args('--questions=host'), env: { A: '1' }, timeout: 5 };
    put(`.${host}/settings.json`, JSON.stringify({ mcpServers: { toolcrib: entry } }));
    expect(config(host, '--write').status).toBe(0);
    expect(parse(read(`.${host}/settings.json`))).toEqual({
      mcpServers: { toolcrib: { ...entry, command: process.execPath, args: now } },
    });
  }
  const asking = Object.keys(hosts).filter((host) => hosts[host]?.promptsUser);
  expect(asking).toEqual(['claude-desktop', 'zed', 'lmstudio']);
  expect(config('zed').stdout).toContain('"--questions"');
  put(
    '.cursor/mcp.json',
    '{"mcpServers": {"toolcrib": {"command": "ssh", "args": ["dev", "toolcrib", "serve"]}}}',
  );
  expect(config('cursor', '--write').stderr).toMatch(/CONFIG_INVALID: .*another one \(ssh dev toolcrib\)/);
});

it('opens no folder to a host that names none, except one that can be a project', () => {
  const { home, config, configBy, put, read } = person();
  const checkout = dirname(dirname(program));
  put('other/node_modules/toolcrib/package.json', '{ "name": "toolcrib" }');
  put('clone/package.json', '{\n  "name": "toolcrib"\n}');
  put('clone/docs/a.md', '');
  const others = ['other/node_modules/toolcrib', 'clone/docs'].map((name) => join(home, name));
  for (const cwd of [join(checkout, 'docs'), home, '/', ...others])
    expect(configBy({ cwd }, 'claude-desktop', '--write'), cwd).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/NO_ROOTS: .* --root ~\/your-project/) as unknown,
    });
  const blind = Object.keys(hosts).filter((host) => hosts[host]?.needsRoots);
  expect(blind).toHaveLength(6);
  for (const host of blind) expect(configBy({ cwd: checkout }, host).status, host).toBe(2);
  // README's first command.
  expect(configBy({ cwd: checkout }, 'claude-code', '--write').status).toBe(0);
  expect(read('.claude.json')).not.toContain('--root');
  expect(configBy({ cwd: checkout }, 'cursor', '--scope', 'project').stderr).toMatch(/NO_ROOTS: .*cd into/);
  expect(configBy({ cwd: checkout }, 'claude-desktop', '--root', '.').status).toBe(0);
  expect(config('goose').status).toBe(0);
  expect(existsSync(join(home, '.config/Claude'))).toBe(false);
  // What an earlier version wrote there.
  const args = ['/old/toolcrib.cjs', 'serve', '--root', checkout];
  put('.lmstudio/mcp.json', JSON.stringify({ mcpServers: { toolcrib: { command: 'node', args } } }));
  expect(config('lmstudio', '--write').stdout).toMatch(/is toolcrib's own\. Add --root ~\/your-project/);
});

it('names no folder that is emptied, but npx or nothing', async () => {
  const { home, configBy, put } = person();
  const copyTo = (folder: string) => {
    cpSync(dirname(program), join(home, folder, 'dist'), { recursive: true });
    return join(home, folder, 'dist/toolcrib.cjs');
  };
  const package_ = '.npm/_npx/1a2b/node_modules/toolcrib';
  const copy = copyTo(package_);
  expect(configBy({ copy }, 'codex').stdout).toContain(
    `command = "npx"\nargs = ["-y","toolcrib@${version}","serve",`,
  );
  const started = vi.spyOn(process, 'argv', 'get').mockReturnValue([process.execPath, copy]);
  expect(await ownLaunch({ ...thisHost(), platform: 'win32' })).toEqual({
    command: 'cmd',
    args: ['/c', 'npx', '-y', `toolcrib@${version}`],
  });
  started.mockRestore();
  put('.npm/_npx/1a2b/package.json', '{ "dependencies": { "toolcrib": "file:../../a.tgz" } }');
  expect(configBy({ copy }, 'codex').stderr).toMatch(/PROGRAM_NOT_FOUND: .*npm install -g/);
  for (const folder of ['.cache/pnpm/dlx/1/node_modules/toolcrib', 'bunx-0-toolcrib/node_modules/toolcrib']) {
    const { status, stderr } = configBy({ copy: copyTo(folder) }, 'codex', '--write');
    expect({ status, stderr }).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('does not stay') as unknown,
    });
  }
  expect(existsSync(join(home, '.codex'))).toBe(false);
});

it('writes no path of this machine into the file of a project', () => {
  const { home, project, config, configBy, put } = person();
  for (const host of ['claude-code', 'codex', 'opencode']) {
    const file = hosts[host]?.project ?? '';
    expect(config(host, '--scope', 'project', '--write')).toMatchObject({ status: 0, stderr: '' });
    const text = readFileSync(join(project, file), 'utf8');
    expect(text).toContain(`toolcrib@${version}`);
    for (const path of [home, dirname(dirname(program)), process.execPath]) expect(text).not.toContain(path);
  }
  const { stderr } = config('cursor', '--scope', 'project', '--root', project);
  expect(stderr).toMatch(/leave it out/);
  // Of an entry of an earlier version.
  const args = ['/old/toolcrib.cjs', 'serve', '--root', project, '--read-only'];
  const old = { mcpServers: { toolcrib: { command: '/old/node', args } } };
  put('shop ü/.cursor/mcp.json', JSON.stringify(old));
  put('bin/toolcrib', '', 0o755);
  const PATH = `${join(home, 'bin')}:/usr/bin`;
  const shared = { command: 'npx', args: ['-y', `toolcrib@${version}`, 'serve', '--read-only'] };
  expect(configBy({ PATH }, 'cursor', '--scope', 'project', '--write').status).toBe(0);
  expect(parse(readFileSync(join(project, '.cursor/mcp.json'), 'utf8'))).toEqual({
    mcpServers: { toolcrib: shared },
  });
});

it('finds the file of Claude Desktop on Windows, also that of the packaged app', async () => {
  const desktop = hosts['claude-desktop']!;
  const env = { APPDATA: 'C:\\Users\\a\\AppData\\Roaming', LocalAppData: 'C:\\Users\\a\\AppData\\Local' };
  const at = (...folders: string[]) =>
    userFile(desktop, {
      ...thisHost(),
      platform: 'win32',
      env,
      home: 'C:\\Users\\a',
      list: async (folder) => (folder.endsWith('\\Packages') ? ['Claude_b', 'Claude_c', 'Other_d'] : []),
      stat: async (path) =>
        folders.includes(path) ? { isFile: false, isFolder: true, mode: 0, size: 0, mtimeMs: 0 } : undefined,
    });
  const packaged = `${env.LocalAppData}\\Packages\\Claude_c\\LocalCache\\Roaming\\Claude`;
  expect(await at()).toBe(`${env.APPDATA}\\Claude\\claude_desktop_config.json`);
  expect(await at(packaged)).toBe(`${packaged}\\claude_desktop_config.json`);
});

it('finds every host in the pages, with its files', () => {
  const page = readFileSync('docs/hosts.md', 'utf8').replaceAll(/ +/g, ' ');
  const readme = readFileSync('README.md', 'utf8');
  for (const [name, { user, under, project }] of Object.entries(hosts)) {
    const shared = project === undefined ? '–' : `\`${project}\``;
    expect(page).toContain(`| \`${name}\` | \`${user}\` | \`${under.join('.')}.toolcrib\` | ${shared} |`);
    expect(readme).toContain(`\`${name}\``);
  }
});

it('keeps a file that is not UTF-8 as it is', () => {
  const { home, config, put } = person();
  const path = put('.cursor/mcp.json', '');
  const bytes = Buffer.from('{ "a": "\xFC" }', 'latin1');
  writeFileSync(path, bytes);
  expect(config('cursor', '--write').stderr).toMatch(/ENCODING: .*mcp\.json: is no UTF-8/);
  expect(readFileSync(join(home, '.cursor/mcp.json'))).toEqual(bytes);
});

it('leaves behind no empty object, except one that a person has written into', () => {
  const [under, value] = [['mcpServers', 'toolcrib'], undefined];
  const removed = (text: string) => withSettings('a.json', text, [{ under, value }]);
  expect(removed('{\n  "a": 1,\n  "mcpServers": {\n    "toolcrib": {}\n  }\n}\n')).toBe('{\n  "a": 1\n}\n');
  expect(parse(removed('{ "mcpServers": { /* mine */ "toolcrib": {} } }'))).toEqual({ mcpServers: {} });
  const yaml = (text: string) => withSettings('a.yaml', text, [{ under: ['extensions', 'toolcrib'], value }]);
  expect(yaml('a: 1\nextensions:\n  toolcrib:\n    cmd: x\n')).toBe('a: 1\n');
});

it('writes nothing where it would do harm, and says why', () => {
  const { home, project, config, put, read } = person();
  put('.cursor/mcp.json', '{ "mcpServers": {\n ');
  expect(config('cursor', '--write')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/mcp\.json:2: is no JSON/) as unknown,
  });
  expect(read('.cursor/mcp.json')).toBe('{ "mcpServers": {\n ');
  expect(config('nope').stderr).toMatch(/which host\? One of claude-desktop, /);
  expect(config('windsurf', '--scope', 'project').stderr).toMatch(/no file of a project/);
  expect(config('claude-desktop', '--root', home, '--write').stderr).toMatch(/name the one a model may use/);
  expect(config('gemini', '--scope', 'project', '--write').status).toBe(0);
  expect(existsSync(join(project, '.gemini/settings.json'))).toBe(true);
  // Where a link stands, what it leads to is written, and the link stays.
  const real = put('dotfiles/claude.json', '{}');
  symlinkSync(real, join(home, '.claude.json'));
  expect(config('claude-code', '--write').status).toBe(0);
  expect(lstatSync(join(home, '.claude.json')).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, 'utf8')).toContain('toolcrib');
  expect(existsSync(`${real}.before-toolcrib`)).toBe(true);
});

it('writes an entry that doctor starts as a desktop does, and doctor names what is broken', () => {
  const { config, home, project, put } = person();
  for (const host of ['claude-code', 'codex', 'opencode', 'goose']) config(host, '--write');
  put('.cursor/mcp.json', '{"mcpServers": {"toolcrib": {"command": "/no/such/node", "args": []}}}');
  put('.qwen/settings.json', '{"mcpServers": {"other": {"command": "/no/such/node"}}}');
  const gone = { command: process.execPath, args: ['/no/such/toolcrib.cjs', 'serve', '--root', project] };
  put('.lmstudio/mcp.json', JSON.stringify({ mcpServers: { toolcrib: gone } }));
  const moved = { command: process.execPath, args: [program, 'serve', '--root', '/no/such/shop'] };
  put('.config/zed/settings.json', JSON.stringify({ context_servers: { toolcrib: moved } }));
  const asking = { command: process.execPath, args: [program, 'serve', '--questions', 'host'] };
  put('.gemini/settings.json', JSON.stringify({ mcpServers: { toolcrib: asking } }));
  const { status, stdout } = spawnSync(process.execPath, [program, 'doctor', '--json'], {
    cwd: project,
    env: { ...inherited(), HOME: home },
    encoding: 'utf8',
  });
  const { hosts } = JSON.parse(stdout) as { hosts: { host: string; state: string; says: string }[] };
  const tools = expect.stringMatching(/^\d+ tools$/) as unknown;
  const mended = (why: RegExp, host: string, more = '') =>
    expect.stringMatching(
      new RegExp(`${why.source}.*${program.replaceAll('.', '\\.')} config ${host} --write${more}`),
    ) as unknown;
  expect(hosts).toMatchObject([
    { host: 'claude-code', state: 'ok', says: tools },
    { host: 'cursor', state: 'wrong', says: expect.stringContaining('ENOENT') as unknown },
    { host: 'zed', state: 'wrong', says: mended(/\/no\/such\/shop: there is no such/, 'zed', ' --root ') },
    { host: 'codex', state: 'ok', says: tools },
    { host: 'gemini', state: 'note', says: mended(/^\d+ tools; .* may ask nobody/, 'gemini') },
    { host: 'opencode', state: 'ok', says: tools },
    { host: 'goose', state: 'ok', says: tools },
    {
      host: 'lmstudio',
      state: 'wrong',
      says: mended(/its script \/no\/such\/toolcrib.cjs is gone/, 'lmstudio'),
    },
  ]);
  // The command that is named mends it, and keeps the folder.
  expect(config('lmstudio', '--write').status).toBe(0);
  expect(readFileSync(join(home, '.lmstudio/mcp.json'), 'utf8')).toContain(JSON.stringify(program));
  expect(status).toBe(1);
});
