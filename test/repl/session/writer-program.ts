import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildWriter } from '../../support/writer-program.ts';

/** The program that writes a session, made in a folder. */
export const buildSessionWriter = (folder: string): Promise<string> =>
  buildWriter(folder, join(import.meta.dirname, 'writer.ts'));

/** Starts it; comes back when it has begun to write, with the file it writes. */
export async function startWriter(program: string, args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [file] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, file };
}

export async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
