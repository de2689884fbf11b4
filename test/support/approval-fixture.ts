import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from './approval-server.ts';
import type { ServerOptions } from './server.ts';
import { buildWriter } from './writer-program.ts';

/** A server that asks for permission as the program does, for what a test says it is about to do. */
export interface ApprovalFixture {
  readonly options: ServerOptions;
  /** What the next calls find. */
  world(next: Partial<World>): void;
  /** The arguments of the calls that were made in full. */
  done(): string[];
  /** Forgets what was done. */
  forget(): void;
  end(): void;
}

/** Makes its program; end it. */
export async function approvalFixture(): Promise<ApprovalFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-approval-'));
  const [worldFile, doneFile] = [join(folder, 'world.json'), join(folder, 'done')];
  const instead = await buildWriter(folder, join(import.meta.dirname, 'approval-server.ts'));
  const world = (next: Partial<World>) =>
    writeFileSync(worldFile, JSON.stringify({ policy: {}, requests: [], ...next }));
  const forget = () => writeFileSync(doneFile, '');
  world({});
  forget();
  return {
    options: { instead, args: [worldFile, doneFile] },
    world,
    done: () => readFileSync(doneFile, 'utf8').split('\n').filter(Boolean),
    forget,
    end: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
