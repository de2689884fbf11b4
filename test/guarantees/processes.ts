import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isRunning } from '../support/is-running.ts';
import { until } from '../support/until.ts';

/** A program that starts a child and writes down all; with `stay` it goes on for ever, and has one that leaves its group. */
export const family = `import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
const child = spawn('sleep', ['300'], { stdio: 'ignore' });
const leaves = process.platform === 'linux' && process.argv[2] === 'stay';
const daemon = leaves && spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
child.once('spawn', () => {
  writeFileSync('pids.new', JSON.stringify([process.pid, child.pid, ...(daemon ? [daemon.pid] : [])]));
  renameSync('pids.new', 'pids');
  console.log('ready');
  if (process.argv[2] === 'stay') setInterval(() => {}, 1000);
  else process.exit(0);
});
`;

/** Waits until the family has started in a folder, and returns its members. */
export async function membersIn(folder: string): Promise<number[]> {
  const file = join(folder, 'pids');
  await until(() => existsSync(file));
  const pids = JSON.parse(readFileSync(file, 'utf8')) as number[];
  rmSync(file);
  return pids;
}

/** Holds when all of them end. */
export async function expectEnded(pids: readonly number[]): Promise<void> {
  expect(pids.length).toBeGreaterThan(1);
  await until(() => !pids.some(isRunning));
}

/** Holds when all of them are there. */
export const expectRunning = (pids: readonly number[]): void =>
  expect(pids.filter(isRunning)).toEqual([...pids]);
