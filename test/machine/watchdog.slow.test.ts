import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { temporaryFolder } from '../support/repository.ts';
import { below } from '../journeys/process-table.ts';
import { until } from '../support/until.ts';
import { isRunning, isRunningIn } from '../support/is-running.ts';

let built = '';
beforeAll(async () => {
  built = await bundle('machine/watched/run-and-wait.ts', mkdtempSync(join(tmpdir(), 'toolcrib-test-')));
});

/** The child of a process that is Node: the watchdog. */
const watchdogOf = (pid: number): number | undefined =>
  below(pid).find(({ parent, name }) => parent === pid && /^(?:node|MainThread)$/.test(name))?.pid;

const statusOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
};
/** proc_pid_status(5): a bit for each signal, the first for signal 1, SIGHUP, which Node itself does not catch. */
const hasBegun = (pid: number) =>
  (BigInt(`0x${/^SigCgt:\s+(\w+)$/m.exec(statusOf(pid))?.[1] ?? '0'}`) & 1n) !== 0n;

async function started(script: string, lasts = false) {
  const folder = temporaryFolder();
  const server = spawn(process.execPath, [built, folder, '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LASTS: lasts ? 'yes' : 'no' },
  });
  onTestFinished(() => {
    server.kill('SIGKILL');
  });
  let said = '';
  server.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await until(() => said.includes('ready'));
  return { server, folder };
}
const killed = async (server: ChildProcess, files: string[]) => {
  server.kill('SIGKILL');
  await until(() => files.every((file) => !isRunningIn(file)));
};

describe.skipIf(process.platform !== 'linux')('ATTACK 102: a server that is killed', () => {
  it('leaves nothing running that lasts, also in its first moment', async () => {
    const { server, folder } = await started('sleep 300 & echo $! > a; echo $$ > e; echo ready; wait', true);
    await killed(server, [join(folder, 'a'), join(folder, 'e')]);
  });

  it('leaves no watchdog running, also when a signal to all came before', async () => {
    const { server, folder } = await started('echo $$ > e; echo ready; sleep 300');
    await until(() => watchdogOf(server.pid ?? 0) !== undefined);
    const pid = watchdogOf(server.pid ?? 0) ?? 0;
    await until(() => hasBegun(pid));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
    await killed(server, [join(folder, 'e')]);
    await until(() => !isRunning(pid));
  });

  it('has a new watchdog when the old one was killed', async () => {
    const { server, folder } = await started('echo $$ > e; echo ready; sleep 300');
    await until(() => watchdogOf(server.pid ?? 0) !== undefined);
    const first = watchdogOf(server.pid ?? 0) ?? 0;
    process.kill(first, 'SIGKILL');
    await until(() => ![undefined, first].includes(watchdogOf(server.pid ?? 0)));
    await killed(server, [join(folder, 'e')]);
  });
});

it('starts no watchdog for a program that ends at once', async () => {
  const { server } = await started('echo ready');
  // It may have ended before its word was read.
  await until(() => server.exitCode !== null || server.signalCode !== null);
  expect(server.exitCode).toBe(0);
});
