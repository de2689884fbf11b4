import { realpath } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { decode } from '../machine/decode.ts';
import type { Collected } from '../machine/output.ts';
import type { Outcome } from '../machine/process.ts';
import { pseudoMountsBelow } from '../machine/pseudo-filesystem.ts';
import type { Services } from './services.ts';

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
    argv: ['--no-config', '--no-follow', '--color=never', ...(await withoutPseudo(folder)), ...argv],
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

/** Processes and devices are not searched: what they show can be secrets, or never end. */
async function withoutPseudo(folder: string): Promise<string[]> {
  // It may be given by the number of what was opened.
  const places = await pseudoMountsBelow(await realpath(folder).catch(() => folder));
  return places.map((place) => `--glob=!/${place.replaceAll(/[\\*?[\]{}!]/g, '\\$&')}`);
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

function beginningOf(output: Collected, keepBytes: number): string {
  if (output.omittedBytes === 0) return output.text;
  return decode(output.bytes.subarray(0, Math.min(keepBytes, output.headBytes)));
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
