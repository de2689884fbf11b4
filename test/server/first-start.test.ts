import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/repository.ts';
import { inherited, initialize, program, startRaw } from '../support/server.ts';

const tools = ['list_programs', 'read_file', 'grep', 'list_files', 'write_file', 'edit_file'];
const others = ['move_path', 'delete_path', 'undo', 'run', 'read_output', 'control_job'];

it('writes nothing to standard error on its first start, while it compiles', async () => {
  const server = startRaw({
    roots: [temporaryFolder()],
    env: { ...inherited(), XDG_CACHE_HOME: temporaryFolder(), XDG_STATE_HOME: temporaryFolder() },
  });
  onTestFinished(() => {
    server.child.kill();
  });
  let said = '';
  server.child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await initialize(server);
  for (const [index, name] of [...tools, ...others].entries()) {
    const id = 100 + index;
    server.send({
      id,
      method: 'tools/call',
      params: { name, arguments: name === 'grep' ? { pattern: 'x' } : {} },
    });
    await server.next((message) => message.id === id);
  }
  server.child.stdin.end();
  await server.ended;
  expect(said).toBe('');
});

it('names on an old Node, in one sentence, the version that it needs', () => {
  const old = join(temporaryFolder(), 'old.cjs');
  writeFileSync(old, "Object.defineProperty(process.versions, 'node', { value: '18.20.0' });");
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', old, program], {
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^toolcrib needs Node\.js 20\.19 or later; this is v[\d.]+\.\n$/);
});

it('has a first file that Node 12 can read', async () => {
  const source = readFileSync(program, 'utf8');
  const [lowered, as] = await Promise.all([
    transform(source, { target: 'node12', supported: { 'dynamic-import': true } }),
    transform(source, { target: 'esnext' }),
  ]);
  expect(lowered.code).toBe(as.code);
});
