import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ToolcribError } from '../core/errors.ts';
import { systemEncoding, type Collected } from '../machine/output.ts';
import type { Outcome } from '../machine/process.ts';
import type { Services } from './services.ts';

/**
 * Absolute path of ripgrep: the one that came with this package, else the machine's own (`discovered`).
 * Throws PROGRAM_NOT_FOUND.
 */
export async function findRipgrep(discovered?: string): Promise<string> {
  for (const candidate of [...shipped(), ...(discovered === undefined ? [] : [discovered])]) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `ripgrep (rg) was not found: neither the npm package @vscode/ripgrep has it for ${process.platform}-${process.arch}, nor is it on the search path.`,
    'Install it (apt install ripgrep, brew install ripgrep, winget install BurntSushi.ripgrep.MSVC), or reinstall this package with optional dependencies.',
  );
}

/** Processors that can run another one's programs: Windows and macOS translate. Linux builds are static, so musl is no matter. */
const alsoRuns: Readonly<Record<string, string>> = {
  'win32-arm64': 'win32-x64',
  'darwin-arm64': 'darwin-x64',
  'win32-x64': 'win32-ia32',
};

function shipped(): string[] {
  const own = `${process.platform}-${process.arch}`;
  const binary = process.platform === 'win32' ? 'rg.exe' : 'rg';
  return [own, alsoRuns[own]].flatMap((platform) => {
    if (platform === undefined) return [];
    try {
      // Only found, never loaded. The binary's package is a dependency of the main one, and pnpm shows it to nobody else.
      const main = createRequire(import.meta.url).resolve('@vscode/ripgrep');
      return [createRequire(main).resolve(`@vscode/ripgrep-${platform}/bin/${binary}`)];
    } catch {
      // Not installed: the machine may have its own.
      return [];
    }
  });
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** What ripgrep printed. */
export interface Found {
  readonly stdout: string;
  /** Whether it printed more than was kept, or was stopped before its end. */
  readonly incomplete: 'too_much' | 'timed_out' | 'stopped' | undefined;
  /** What it could not read, as it said so. */
  readonly complaints: readonly string[];
}

interface Search {
  readonly argv: readonly string[];
  /** Where it runs; what it prints is relative to it. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Bytes of output to keep from its beginning. */
  readonly keepBytes: number;
  readonly onLine?: (line: string) => void;
  /** Ends the search early: enough has been found. */
  readonly enough?: AbortSignal;
}

const timeoutMs = 30_000;

/**
 * Runs ripgrep in a folder, without its configuration file. Finding nothing is no failure. Throws ARG_INVALID
 * with its words when it does not accept the pattern, CANCELLED, and PROGRAM_FAILED.
 */
export async function search(
  services: Services,
  { argv, folder, signal, keepBytes, onLine, enough }: Search,
): Promise<Found> {
  const outcome = await services.run({
    program: await services.ripgrep(),
    argv: ['--no-config', '--no-follow', '--color=never', ...argv],
    cwd: folder,
    env: services.env(),
    timeoutMs,
    keepBytes: 2 * keepBytes,
    signal: enough ? AbortSignal.any([signal, enough]) : signal,
    ...(onLine ? { onLine } : {}),
  });
  if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
  const complaints = outcome.stderr.text.split('\n').filter((line) => line !== '');
  const stdout = beginningOf(outcome.stdout, keepBytes);
  if (outcome.ended === 'not_started')
    throw new ToolcribError('PROGRAM_FAILED', `ripgrep could not be started: ${complaints.join(' ')}`);
  refuseBadArguments(outcome, complaints);
  return { stdout, complaints, incomplete: whyIncomplete(outcome, enough) };
}

function whyIncomplete({ ended, stdout }: Outcome, enough: AbortSignal | undefined): Found['incomplete'] {
  if (ended === 'timed_out') return 'timed_out';
  if (ended === 'cancelled' && enough?.aborted) return 'stopped';
  return stdout.omittedBytes > 0 ? 'too_much' : undefined;
}

/** Exit code 2 can also mean that some files could not be read; then its complaints are about files. */
function refuseBadArguments({ exitCode, stdout }: Outcome, complaints: readonly string[]): void {
  if (exitCode === null || exitCode < 2 || stdout.totalBytes > 0) return;
  if (complaints.some((line) => line.includes('(os error '))) return;
  const words = complaints.join('\n').replace(/^rg: /, '');
  const wayOut = words.includes('--multiline') ? 'Set multiline to search across lines.' : '';
  throw new ToolcribError('ARG_INVALID', words.replace(/\n\nConsider enabling multiline[^]*/, '.'), wayOut);
}

/**
 * The beginning of the output, each line in UTF-8 where it is UTF-8: one file in another encoding makes the collector
 * read all of them in the system's code page, which is undone here where that page has a character for every byte.
 */
function beginningOf(output: Collected, keepBytes: number): string {
  const text = output.omittedBytes > 0 ? output.text.slice(0, output.cutAt) : output.text;
  const bytes = Math.min(output.totalBytes, output.omittedBytes > 0 ? keepBytes : Infinity);
  if (Buffer.byteLength(text) <= bytes || systemEncoding() !== 'windows-1252') return text;
  return bytesOf1252(text)
    .toString('latin1')
    .split('\n')
    .map((line) => decodeLine(Buffer.from(line, 'latin1')))
    .join('\n');
}

function decodeLine(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function bytesOf1252(text: string): Buffer {
  const characters = new TextDecoder('windows-1252').decode(
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
  );
  const byteOf = new Map(Array.from(characters, (character, byte) => [character, byte]));
  return Buffer.from(Array.from(text, (character) => byteOf.get(character) ?? 0x3f));
}

/** What to tell a caller about a search that did not see everything. */
export function notesOn({ complaints, incomplete }: Found): string[] {
  const notes: string[] = [];
  if (incomplete === 'timed_out') notes.push(`stopped after ${timeoutMs / 1000} s: search a smaller folder`);
  if (complaints.length > 0) {
    const shown = complaints.slice(0, 3).map((line) => line.replace(/^rg: (?:\.\/)?/, ''));
    const more = complaints.length > shown.length ? ` and ${complaints.length - shown.length} more` : '';
    notes.push(`not searched: ${shown.join('; ')}${more}`);
  }
  return notes;
}
