import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../support/until.ts';

/** A program that starts a child and writes down both; with `stay` it goes on for ever. */
export const family = `import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
const child = spawn('sleep', ['300'], { stdio: 'ignore' });
child.once('spawn', () => {
  writeFileSync('pids.new', JSON.stringify([process.pid, child.pid]));
  renameSync('pids.new', 'pids');
  console.log('ready');
  if (process.argv[2] === 'stay') setInterval(() => {}, 1000);
  else process.exit(0);
});
`;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // Where nobody waits for orphans, one that has ended stays as a zombie.
  const status = `/proc/${pid}/status`;
  return !existsSync(status) || !/^State:\s+[ZX]/m.test(readFileSync(status, 'utf8'));
};

/** Waits until the family has started in a folder, and tells who they are. */
export async function membersIn(folder: string): Promise<number[]> {
  const file = join(folder, 'pids');
  await until(() => existsSync(file));
  const pids = JSON.parse(readFileSync(file, 'utf8')) as number[];
  rmSync(file);
  return pids;
}

/** Holds when all of them end. */
export async function expectEnded(pids: readonly number[]): Promise<void> {
  expect(pids).toHaveLength(2);
  await until(() => !pids.some(isAlive));
}

/** Holds when all of them are there. */
export const expectRunning = (pids: readonly number[]): void =>
  expect(pids.filter(isAlive)).toEqual([...pids]);
