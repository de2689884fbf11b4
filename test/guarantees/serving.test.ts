import { createServer, type AddressInfo } from 'node:net';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isRunning } from '../support/is-running.ts';
import { until } from '../support/until.ts';
import { jobIn, keptOutput, runFile, runLine, serve, startJob, stopJob, waitForJob } from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { makeWorld } from './world.ts';

/**
 * A development server in two processes, the second in a session of its own, which listens. Without `--port`,
 * the system gives one; where it cannot listen it says why, after a moment, and fails.
 */
const vite = `#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
const [what, port] = process.argv.slice(-2);
if (process.argv.includes('--version')) console.log('vite/6.0.0');
else if (what !== 'listen') {
  console.log('bundling');
  const argv = [import.meta.filename, 'listen', what === '--port' ? port : '0'];
  const child = spawn(process.execPath, argv, { detached: true, stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 1));
} else {
  const server = createServer();
  server.once('error', ({ code }) => setTimeout(() => {
    console.error('error when starting dev server:', code === 'EADDRINUSE' ? 'the port is in use' : code);
    process.exit(1);
  }, 300));
  server.listen(Number(port), '127.0.0.1', () =>
    console.log('Local: http://127.0.0.1:' + server.address().port + '/ by ' + process.pid));
}
`;
/** Starts the same, does not wait for it, and is done. */
const daemonizes = `import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
const out = openSync('said', 'w');
spawn(process.execPath, ['vite.mjs', 'listen', '0'], { detached: true, stdio: ['ignore', out, out] }).unref();
`;

const world = makeWorld({ 'vite.mjs': vite, 'daemonizes.mjs': daemonizes });
writeFileSync(join(world.bin, 'vite'), vite);
chmodSync(join(world.bin, 'vite'), 0o755);
afterAll(() => world.end());

/** The address and process that the listening program has printed. */
function listener(said: string): { port: number; pid: number } {
  const [, port, pid] = /:(\d+)\/ by (\d+)/.exec(said) ?? [];
  expect(port, said).toBeTruthy();
  return { port: Number(port), pid: Number(pid) };
}

/** The same of a job, once it has said so. */
async function listens(session: Session, started: string): Promise<{ port: number; pid: number }> {
  const read = () => session.gets(keptOutput(started));
  await until(async () => / by \d+/.test(await read()));
  return listener(await read());
}

/** Holds when the process ends, and another can listen where it did: at once, or when the system gives it back. */
async function expectFree({ port, pid }: { port: number; pid: number }): Promise<void> {
  await until(() => !isRunning(pid));
  await until(() => canListen(port));
}

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

const open = () => world.open({ person: person(says.yes) });

describe('a program that listens', () => {
  it('is a job, by whose handle its output is read and all of it is stopped', async () => {
    const session = await open();
    const started = await session.gets(serve());
    expect(jobIn(started)).toBeTruthy();
    const listening = await listens(session, started);
    expect(isRunning(listening.pid)).toBe(true);
    // The same call joins it: there is one.
    expect(jobIn(await session.gets(serve()))).toContain(jobIn(started));
    await session.gets(stopJob(started));
    await expectFree(listening);
  });

  it.each([
    ['its client leaves', (session: Session) => session.close()],
    [
      'it is killed',
      (session: Session) => {
        process.kill(session.pid, 'SIGKILL');
      },
    ],
  ])('ends with the server when %s', async (_, end) => {
    const session = await open();
    const listening = await listens(session, await session.gets(serve()));
    await end(session);
    await expectFree(listening);
  });

  it('reports that it could not start, and why', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve);
    });
    const { port } = taken.address() as AddressInfo;
    const session = await open();
    const first = await session.does(serve(port));
    // Where the machine is busy it may take longer than the call waits.
    const { refused, text } = first.refused ? first : await session.does(waitForJob(first.text));
    expect(refused).toBe(true);
    expect(text).toMatch(/exit code 1[^]*the port is in use/);
    taken.close();
  });
});

// Elsewhere the system does not tell whose a process is that has left its parent.
describe.skipIf(process.platform !== 'linux')('a process that is left running by a program that ends', () => {
  it.each([
    ['of an action', runFile('daemonizes.mjs')],
    ['of a line', runLine('node daemonizes.mjs')],
    ['of a pipe', runLine('node daemonizes.mjs | cat')],
    ['of a job', startJob(runLine('node daemonizes.mjs'))],
  ])('is ended with the program %s, and the answer mentions it', async (_, act) => {
    const session = await open();
    const { text } = await session.does(act);
    expect(text).toMatch(/left running was ended: node\..*background: true/);
    // It may have been ended before it could listen.
    const said = /:\d+\/ by \d+/.test(world.read('said')) ? listener(world.read('said')) : undefined;
    if (said) await expectFree(said);
  });
});
