import { spawn } from 'node:child_process';
import { isRunning } from '../support/is-running.ts';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { until } from '../support/until.ts';

const most = 50;
const times = 16;
let file = '';
beforeAll(async () => {
  file = await bundle('machine/watched/run-many.ts', mkdtempSync(join(tmpdir(), 'toolcrib-test-')));
});

/** Programs that are run where only few files may be open. */
function runMany(script: string) {
  const limited = `ulimit -n ${most}; exec "$0" "$@"`;
  const server = spawn('/bin/bash', ['-c', limited, process.execPath, file, String(times), '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    server.kill('SIGKILL');
  });
  let said = '';
  server.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const lines = () => said.split('\n').filter((line) => line !== '');
  const ended = new Promise<number | null>((resolve) => server.once('close', (code) => resolve(code)));
  return { server, lines, ended };
}

describe.skipIf(process.platform !== 'linux')('a server with few file descriptors', () => {
  it('reports why a program cannot be started, and the others go on', async () => {
    const { lines, ended } = runMany('sleep 3');
    expect(await ended).toBe(0);
    const failed = lines().filter((line) => line.startsWith('not_started '));
    expect(failed.length).toBeGreaterThan(0);
    for (const line of failed) expect(line).toMatch(/EMFILE.*End other programs/);
    expect(lines().filter((line) => line.startsWith('exited'))).toHaveLength(times - failed.length);
  });

  const stubborn = `trap "" TERM; (trap "" TERM; exec setsid sh -c 'echo own $$; exec sleep 60') & echo pid $$; sleep 60; sleep 60`;
  const pidsIn = (lines: string[]) =>
    lines.flatMap((line) => /^(?:own|pid) (\d+)$/.exec(line)?.[1] ?? []).map(Number);
  async function started() {
    const many = runMany(stubborn);
    let before = -1;
    await until(() => {
      const count = pidsIn(many.lines()).length;
      const isSteady = count > times / 2 && count === before && count % 2 === 0;
      before = count;
      return isSteady;
    });
    return { ...many, pids: pidsIn(many.lines()) };
  }

  it('leaves nothing running that it has stopped', async () => {
    const { server, pids, ended } = await started();
    server.stdin.write('stop\n');
    await ended;
    await until(() => !pids.some(isRunning));
  });

  it('leaves nothing running when it is killed', async () => {
    const { server, pids } = await started();
    server.kill('SIGKILL');
    await until(() => !pids.some(isRunning));
  });
});
