import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runInTerminal, runProgram, whyNotStartable } from '../../src/repl/files/program.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';

const node = (script: string, ...args: string[]) => [process.execPath, '-e', script, ...args];
const timeoutMs = 60_000;

it('hands over arguments and input as they are, and returns what was written', async () => {
  const script = `process.stdin.on('data', (d) => process.stdout.write(process.argv[1] + d)); console.error('e'); process.exitCode = 3`;
  const result = await runProgram(node(script, '$(id); "é" *'), { input: ' 한\n', timeoutMs });
  expect(result).toEqual({ exitCode: 3, stdout: '$(id); "é" * 한\n', stderr: 'e\n', ended: 'exited' });
});

it('does not mind a program that reads nothing', async () => {
  const input = 'x'.repeat(5_000_000);
  expect((await runProgram(node('process.exit(0)'), { input, timeoutMs })).exitCode).toBe(0);
});

it('keeps the first megabyte of what is written', async () => {
  const result = await runProgram(node(`process.stdout.write('x'.repeat(3_000_000))`), { timeoutMs });
  expect(result.stdout.length).toBe(1024 * 1024);
  expect(result.exitCode).toBe(0);
});

// A program that ignores SIGTERM, and another one that it has started.
const stubborn = `
  process.on('SIGTERM', () => {});
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  require('node:fs').writeFileSync(process.argv[1], String(child.pid));
  setInterval(() => {}, 1000);`;

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A process that has ended stays visible until its parent, or init, has looked.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
};

it('ends a program and what it started at the time limit', async () => {
  const file = join(temporaryFolder(), 'pid');
  const result = await runProgram(node(stubborn, file), { timeoutMs: 5000 });
  expect(result).toMatchObject({ exitCode: null, ended: 'timed_out' });
  await until(() => isGone(Number(readFileSync(file, 'utf8'))));
});

it('ends it when it is interrupted', async () => {
  const file = join(temporaryFolder(), 'pid');
  const controller = new AbortController();
  const running = runProgram(node(stubborn, file), { timeoutMs, signal: controller.signal });
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  controller.abort();
  expect(await running).toMatchObject({ exitCode: null, ended: 'aborted' });
  await until(() => isGone(Number(readFileSync(file, 'utf8'))));
  expect((await runProgram(node(''), { timeoutMs, signal: controller.signal })).ended).toBe('aborted');
});

it('does not wait for what a program left in the background', async () => {
  const script = `const child = require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 300_000)'], { stdio: 'inherit', detached: true });
    child.unref(); console.log(child.pid)`;
  const result = await runProgram(node(script), { timeoutMs });
  process.kill(Number(result.stdout));
});

it('says what cannot be started', async () => {
  const refusal = (message: string) =>
    expect.objectContaining({ code: 'PROGRAM_FAILED', message: expect.stringContaining(message) });
  await expect(runProgram(['no-such-program'], { timeoutMs })).rejects.toThrow(refusal('no-such-program'));
  await expect(runProgram(node(''), { timeoutMs, cwd: '/no/such' })).rejects.toThrow(refusal('/no/such'));
  await expect(runProgram(['a\0b'], { timeoutMs })).rejects.toThrow(refusal('cannot be started'));
  await expect(runProgram([], { timeoutMs })).rejects.toThrow(refusal('No program'));
  await expect(runInTerminal(['no-such-program'])).rejects.toThrow(refusal('no-such-program'));
});

it('runs no batch file on Windows', () => {
  expect(whyNotStartable(['C:\\npm\\code.CMD'], 'win32')).toContain('batch file');
  expect(whyNotStartable(['x.bat. '], 'win32')).toContain('batch file');
  expect(whyNotStartable(['code.exe'], 'win32')).toBeUndefined();
  expect(whyNotStartable(['code.cmd'], 'linux')).toBeUndefined();
});

it('gives the terminal to a program and returns how it ended', async () => {
  expect(await runInTerminal(node('process.exit(7)'))).toBe(7);
  expect(await runInTerminal(node(`process.kill(process.pid, 'SIGKILL')`))).toBe(137);
  expect(process.listenerCount('SIGINT')).toBe(0);
});
