import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { configFile } from '../../src/cli/config.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, inherited, program } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

function configured(content: string) {
  const home = temporaryFolder();
  mkdirSync(join(home, 'toolcrib'));
  const file = join(home, 'toolcrib', 'config.json');
  writeFileSync(file, content);
  return { file, env: { ...inherited(), XDG_CONFIG_HOME: home } };
}

it('takes the roots and limits of the configuration file', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'a.txt'), 'hello');
  const { env } = configured(JSON.stringify({ roots: [root], readOnly: true, toolsets: ['files', 'git'] }));
  const client = await connect('2025-11-25', { env, cwd: '/' });
  onTestFinished(() => client.close());
  expect(textOf(await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } }))).toBe('hello');
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain('git_status');
  expect(names).not.toContain('git_commit');
  expect(names).not.toContain('list_programs');
});

it('lets the command line decide where both say something, but for read-only', async () => {
  const { env } = configured(JSON.stringify({ roots: ['/nowhere'], readOnly: true, toolsets: ['git'] }));
  const root = temporaryFolder();
  writeFileSync(join(root, 'a.txt'), 'hello');
  const client = await connect('2025-11-25', { env, roots: [root], args: ['--toolsets', 'files,npm'] });
  onTestFinished(() => client.close());
  expect(textOf(await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } }))).toBe('hello');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('npm_scripts');
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
});

it('keeps states of work trees before actions that run project code, unless the operator says otherwise', async () => {
  const { folder } = temporaryRepository();
  writeFileSync(join(folder, 'a.js'), 'console.log("ran")');
  const state = temporaryFolder();
  for (const [config, args, kept] of [
    [{}, [], true],
    [{ checkpoints: true }, [], true],
    [{ checkpoints: false }, [], false],
    [{}, ['--no-checkpoints'], false],
    [{ checkpoints: true }, ['--no-checkpoints'], false],
  ] as const) {
    const { env } = configured(JSON.stringify(config));
    const client = await connect('2025-11-25', {
      env: { ...env, XDG_STATE_HOME: state },
      roots: [folder],
      args,
    });
    const result = await client.callTool({ name: 'node_run', arguments: { file: 'a.js' } });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    await client.close();
    expect(textOf(result)).toMatch(kept ? /^ran\n\[checkpoint c_\w+ \(/ : /^ran$/);
    expect(names.includes('list_checkpoints')).toBe(kept);
    expect(names.includes('restore_checkpoint')).toBe(kept);
  }
});

it('says why the tools for checkpoints are not there when they are off', async () => {
  const client = await connect('2025-11-25', { roots: [temporaryFolder()], args: ['--no-checkpoints'] });
  onTestFinished(() => client.close());
  await expect(client.callTool({ name: 'list_checkpoints', arguments: {} })).rejects.toThrow(
    'checkpoints are off (--no-checkpoints)',
  );
});

it.each([
  ['{"root": ["/"]}', 'root: there is no such setting; did you mean roots?'],
  ['{"readOnly": "yes"}', 'readOnly: expected boolean'],
  ['{"checkpoints": "off"}', 'checkpoints: expected boolean'],
  ['{"allow": ["everything"]}', 'allow.0'],
  ['{"roots": ["relative"]}', 'is not absolute'],
  ['{"roots": ["/no/such/folder"]}', 'there is no such folder'],
  ['{"toolsets": ["gti"]}', 'did you mean git?'],
  ['{roots: []}', 'config.json'],
  ['', 'config.json'],
])('stops the server when the file says %s', (content, message) => {
  const { env } = configured(content);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'serve'], {
    env,
    encoding: 'utf8',
    input: '',
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

it('does not take the word of a file that everybody can write', () => {
  const { env, file } = configured('{}');
  chmodSync(file, 0o666);
  const { status, stderr } = spawnSync(process.execPath, [program, 'serve'], {
    env,
    encoding: 'utf8',
    input: '',
  });
  expect(status).toBe(2);
  expect(stderr).toContain('everybody can write');
});

it('is where the platform keeps such files', () => {
  expect(configFile({ XDG_CONFIG_HOME: '/x' }, 'linux')).toBe('/x/toolcrib/config.json');
  expect(configFile({ XDG_CONFIG_HOME: 'relative' }, 'linux')).toMatch(/\/\.config\/toolcrib\/config\.json$/);
});
