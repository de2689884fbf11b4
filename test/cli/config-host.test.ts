import { spawnSync } from 'node:child_process';
import {
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
import { expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { withSettings } from '../../src/cli/host-file.ts';
import { temporaryFolder } from '../support/repository.ts';
import { inherited, program } from '../support/server.ts';

/** A home folder and a project in it, and `toolcrib config` there. */
function person() {
  const home = realpathSync(temporaryFolder());
  const project = join(home, 'shop ü');
  mkdirSync(project);
  const config = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'config', ...args], {
      cwd: project,
      env: { ...inherited(), HOME: home },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const put = (name: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text, { mode });
    return join(home, name);
  };
  const read = (name: string) => readFileSync(join(home, name), 'utf8');
  return { home, project, config, put, read };
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
])('writes the entry of %s, which starts from anywhere, and takes it out again', async (host, file, key) => {
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

it('keeps the other tables of Codex, and its comments', () => {
  const { config, put, read } = person();
  const others = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "a" # stays\n';
  const stale =
    '\n[mcp_servers.toolcrib]\ncommand = "old"\n\n[mcp_servers.toolcrib.env]\nA = "1"\n\n[tui]\nx = 1\n';
  put('.codex/config.toml', others + stale);
  expect(config('codex', '--write').status).toBe(0);
  expect(read('.codex/config.toml')).toBe(
    `${others}\n[tui]\nx = 1\n\n[mcp_servers.toolcrib]\ncommand = ${JSON.stringify(process.execPath)}\n` +
      `args = ${JSON.stringify([realpathSync(program), 'serve', '--expose', 'no-files'])}\nrequired = true\nstartup_timeout_sec = 20\ntool_timeout_sec = 120\n`,
  );
  expect(config('codex', '--remove', '--write').status).toBe(0);
  expect(read('.codex/config.toml')).toBe(`${others}\n[tui]\nx = 1\n`);
});

it('keeps the comments of Goose, and makes opencode ask', () => {
  const { config, put, read } = person();
  put(
    '.config/goose/config.yaml',
    '# mine\nGOOSE_MODE: approve # stays\nextensions:\n  dev:\n    enabled: true\n',
  );
  expect(config('goose', '--write').status).toBe(0);
  expect(read('.config/goose/config.yaml')).toMatch(
    /^# mine\nGOOSE_MODE: approve # stays\nextensions:\n {2}dev:/,
  );
  expect(parseYaml(read('.config/goose/config.yaml'))).toMatchObject({
    extensions: { dev: { enabled: true }, toolcrib: { type: 'stdio', cmd: process.execPath, enabled: true } },
  });
  expect(config('opencode', '--write').status).toBe(0);
  expect(parse(read('.config/opencode/opencode.json'))).toMatchObject({
    mcp: { toolcrib: { type: 'local', command: expect.arrayContaining(['--questions', 'host']) as unknown } },
    permission: { 'toolcrib_*': 'ask' },
  });
  expect(config('opencode', '--remove', '--write').status).toBe(0);
  expect(parse(read('.config/opencode/opencode.json'))).toEqual({});
});

it('leaves no empty object behind, but what somebody has written into one', () => {
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
  expect(parse(readFileSync(join(project, '.gemini/settings.json'), 'utf8'))).toMatchObject({
    mcpServers: { toolcrib: { args: expect.arrayContaining(['--root', project]) as unknown } },
  });
  // Where a link stands, what it leads to is written, and the link stays.
  const real = put('dotfiles/claude.json', '{}');
  symlinkSync(real, join(home, '.claude.json'));
  expect(config('claude-code', '--write').status).toBe(0);
  expect(lstatSync(join(home, '.claude.json')).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, 'utf8')).toContain('toolcrib');
  expect(existsSync(`${real}.before-toolcrib`)).toBe(true);
});

it('what config wrote is started by doctor, in the environment of a desktop, and what is broken is named', () => {
  const { config, home, project, put } = person();
  for (const host of ['claude-code', 'codex', 'opencode', 'goose']) config(host, '--write');
  put('.cursor/mcp.json', '{"mcpServers": {"toolcrib": {"command": "/no/such/node", "args": []}}}');
  put('.qwen/settings.json', '{"mcpServers": {"other": {"command": "/no/such/node"}}}');
  const { status, stdout } = spawnSync(process.execPath, [program, 'doctor', '--json'], {
    cwd: project,
    env: { ...inherited(), HOME: home },
    encoding: 'utf8',
  });
  const { hosts } = JSON.parse(stdout) as { hosts: { host: string; state: string; says: string }[] };
  const tools = expect.stringMatching(/^\d+ tools$/) as unknown;
  expect(hosts).toMatchObject([
    { host: 'claude-code', state: 'ok', says: tools },
    { host: 'cursor', state: 'wrong', says: expect.stringContaining('ENOENT') as unknown },
    { host: 'codex', state: 'ok', says: tools },
    { host: 'opencode', state: 'ok', says: tools },
    { host: 'goose', state: 'ok', says: tools },
  ]);
  expect(status).toBe(1);
});
