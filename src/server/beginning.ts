import type { Machine } from '../machine/machine.ts';
import type { Processes } from '../machine/processes/process.ts';
import type { Opening } from './first-answers.ts';
import type { Tokens } from './http/tokens.ts';
import type { NotedHost } from './noted-host.ts';
import type { ProgramFolder, WholeManifest } from './own-programs.ts';
import type { Manifest } from './published.ts';
import type { Trace } from './trace.ts';

/** How a client begins: with a key when it asks its user itself, or with requests that were answered from memory. */
export interface Beginning {
  readonly key?: string | undefined;
  readonly opening?: Opening | undefined;
  /** Where to listen; left out over standard input and output. */
  readonly http?: Listening | undefined;
  /** Where messages are written down. */
  readonly trace?: string | undefined;
  /** Where a person describes programs of their own. */
  readonly programs: ProgramFolder;
}

/** What was begun before the SDK was loaded. */
export interface Found {
  readonly noted: NotedHost;
  readonly manifest: Manifest;
  readonly own: WholeManifest['own'];
  readonly machine: Machine;
  readonly processes: Processes;
  /** By which the project shows what it uses. */
  readonly signs: Promise<ReadonlyMap<string, string>>;
  readonly trace: Trace | undefined;
}

/** Where a server listens, and whom it lets in. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly tokens: Tokens;
  /** By which it may be called beside localhost. */
  readonly names: readonly string[];
}
