import { dirname } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import { ownFoldersBelow } from '../../../machine/paths/protected-paths.ts';
import { pseudoFoldersBelow } from '../../../machine/paths/given-path.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import type { Outcome } from '../../../machine/processes/process.ts';
import type { GlobPattern } from '../listing/glob-pattern.ts';
import type { Session } from '../../../machine/session.ts';
import { blockingFile } from './blocking-file.ts';

/** One run of ripgrep. */
interface RipgrepSearch {
  /** The arguments, without the file or folder, which comes last. */
  readonly argv: readonly string[];
  /** The file or folder to search; printed paths are relative to the folder. */
  readonly target: OpenedFile;
  /** Ignore files are disregarded. */
  readonly ignored: boolean;
  readonly signal: AbortSignal;
  /** Takes the output piece by piece. Returns false when enough has been found, which ends the search. */
  take(chunk: Buffer): boolean;
}

/** The end of a search. */
interface SearchOutcome {
  /** The search was stopped because enough was found. */
  readonly isEnough: boolean;
  /** The search has reached its end. */
  readonly isWhole: boolean;
  /** Remarks for the caller: that the search was stopped, and which files could not be read. */
  readonly notes: readonly string[];
}

/**
 * Arguments of every search: no configuration file, no links, and the engine that takes linear time. The
 * limits on patterns are a tenth and a two-hundredth of ripgrep's own, with which `(a{1000}){1000}` would
 * take 100 MB, and `((a{1,50}){1,50}){1,50}` in a line of 50 KB a minute and 1 GB.
 */
const baseArguments = [
  '--no-config',
  '--no-follow',
  '--color=never',
  '--engine=default',
  '--regex-size-limit=10M',
  '--dfa-size-limit=5M',
];

/** Milliseconds of one search: clients give up after a minute, and a search may have to be made twice. */
const timeoutMs = 20_000;
/** Milliseconds after which a search is suspiciously slow; a folder with 20,000 files takes 100. */
const suspiciousMs = 250;

/**
 * Runs ripgrep in a folder; finding nothing is not a failure. Throws ARG_INVALID with ripgrep's message for
 * an argument that it does not accept, PATH_NOT_REGULAR and TOO_LARGE for an ignore file that it cannot read,
 * CANCELLED, and PROGRAM_FAILED.
 */
export async function search(
  session: Session,
  { argv, target, ...request }: RipgrepSearch,
): Promise<SearchOutcome> {
  const { ignored, signal, take } = request;
  const isFile = target.stat.isFile();
  const folder = isFile ? dirname(target.path) : target.path;
  const stop = new AbortController();
  let isEnough = false;
  let hasOutput = false;
  let problem: ToolcribError | undefined;
  const onOutput = (chunk: Buffer) => {
    hasOutput = true;
    if (!isEnough) isEnough = !take(chunk);
    if (isEnough) stop.abort();
    return !stop.signal.aborted;
  };
  // A search that takes long may be waiting for a FIFO.
  const lookForBlocking = async () => {
    problem = await blockingFile(folder, stop.signal).catch(() => undefined);
    if (problem) stop.abort();
  };
  const timer = ignored || isFile ? undefined : setTimeout(lookForBlocking, suspiciousMs);
  // Folders of processes and devices are left out, as they can hold secrets or never end; and so are
  // toolcrib's own.
  const excluded = [...pseudoFoldersBelow(folder), ...ownFoldersBelow(folder)].map(
    (path) => `--glob=!/${path.replaceAll(/[\\*?[\]{}!]/g, '\\$&')}`,
  );
  const { environment } = session;
  const outcome = await environment
    .run({
      program: await session.ripgrep(),
      argv: [...baseArguments, ...excluded, ...argv, isFile ? target.stablePath : './'],
      cwd: isFile ? folder : target.stablePath,
      env: await environment.childEnvironment([], {}),
      timeoutMs,
      signal: AbortSignal.any([signal, stop.signal]),
      onOutput,
    })
    .finally(() => {
      clearTimeout(timer);
      stop.abort();
    });
  if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
  if (problem) throw problem as ToolcribError;
  // The complaints of a search that was stopped are about its broken pipe, not about files.
  if (isEnough) return { notes: [], isEnough, isWhole: false };
  const complaints = outcome.stderr.text.split('\n').filter((line) => line !== '');
  refuseFailure(outcome, complaints.join('\n').replace(/^rg: /, ''), hasOutput);
  const isWhole = outcome.ended !== 'timed_out' && !(isBroken(outcome) && complaints.length === 0);
  const stopped =
    outcome.ended === 'timed_out'
      ? `stopped after ${timeoutMs / 1000} s, not all was searched: search a smaller folder`
      : `ripgrep ${describeEnd(outcome)} and said nothing about it, so not all was searched: call again`;
  return { isEnough, isWhole, notes: [...(isWhole ? [] : [stopped]), ...formatComplaints(complaints)] };
}

/** Runs ripgrep and collects its output, up to so many bytes. Throws what search() throws. */
export async function searchAll(
  session: Session,
  request: Omit<RipgrepSearch, 'take'>,
  mostBytes: number,
): Promise<SearchOutcome & { readonly printed: Buffer }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= mostBytes;
  };
  const outcome = await search(session, { ...request, take });
  return { ...outcome, printed: Buffer.concat(chunks) };
}

/**
 * Says whether ripgrep failed. Exit code 0: something was found; 1: nothing; 2: complaints about arguments or
 * files.
 */
const isBroken = ({ ended, exitCode }: Outcome): boolean => ended === 'exited' && (exitCode ?? 2) >= 2;
const describeEnd = ({ exitCode }: Outcome): string =>
  exitCode === null ? 'was ended by a signal' : `ended with exit code ${exitCode}`;

/**
 * Throws for a run of ripgrep that is no answer. Exit code 2 can also mean that only some files could not be
 * read: then the message is about files. A run without output and without a message is no answer, whatever
 * its exit code.
 */
function refuseFailure(outcome: Outcome, message: string, hasOutput: boolean): void {
  const { ended, exitCode } = outcome;
  if (ended === 'not_started')
    throw new ToolcribError('PROGRAM_FAILED', `ripgrep could not be started: ${message}`);
  // A file that is shortened while it is read ends ripgrep by a signal, and so does a system without memory.
  if (ended === 'exited' && exitCode === null)
    throw new ToolcribError(
      'PROGRAM_FAILED',
      `ripgrep ${describeEnd(outcome)}${message === '' ? ' and said nothing.' : `: ${message}`}`,
      'Call again; if that fails as well, search fewer files: give path or glob.',
    );
  if (hasOutput || ended !== 'exited' || exitCode === null || exitCode === 1) return;
  // A successful search prints what it found, so that exit code 0 without any output is a failure, too.
  if (message === '' || exitCode > 2)
    throw new ToolcribError(
      'PROGRAM_FAILED',
      `ripgrep ${describeEnd(outcome)} and ${message === '' ? 'said nothing' : `said: ${message}`}.`,
      'Call again; if that fails as well, toolcrib doctor names the rg that is used: it may be broken.',
    );
  if (exitCode === 0 || /\(os error |error building NFA/.test(message)) return;
  const [, parameter, wayOut] = parameterMessages.find(([pattern]) => pattern.test(message)) ?? [];
  const plain = message.replace(/\n+Consider enabling [^]*/, '').replace(/([^.])$/, '$1.');
  throw new ToolcribError('ARG_INVALID', parameter === undefined ? plain : `${parameter}: ${plain}`, wayOut);
}

/** The parameters that messages of ripgrep are about, and the way out of each. */
const parameterMessages: readonly (readonly [pattern: RegExp, parameter: string, wayOut: string])[] = [
  [/--multiline flag/, 'pattern', 'Set multiline to search across lines.'],
  [/--pcre2 flag/, 'pattern', 'Use a broader pattern, and read what it finds.'],
  [
    /^compiled regex exceeds/,
    'pattern',
    'Repeat less: counts like {1000} multiply, [a-z] is smaller than \\w.',
  ],
  [/^regex parse error/, 'pattern', 'Set literal to search for plain text.'],
  [/^unrecognized file type/, 'type', 'Use glob instead: *.EXTENSION.'],
  [/^error parsing glob/, 'glob', ''],
];

/** A note on the files that could not be searched. */
function formatComplaints(complaints: readonly string[]): string[] {
  if (complaints.length === 0) return [];
  const shown = complaints.slice(0, 3).map((line) => line.replace(/^rg: (?:\.\/)?/, ''));
  const more = complaints.length > shown.length ? ` and ${complaints.length - shown.length} more` : '';
  return [`not searched: ${shown.join('; ')}${more}`];
}

/** The options by which ripgrep selects files. */
interface SelectionOptions {
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly pattern?: GlobPattern | undefined;
  /** A file type that ripgrep knows. */
  readonly type?: string | undefined;
}

/** The arguments by which ripgrep selects files, and a filter for those that it finds. */
interface FileSelection {
  readonly argv: readonly string[];
  isChosen(path: string): boolean;
}

/** Selects files by the arguments of ripgrep as far as possible, and by a filter for the rest. */
export function selectFiles({ hidden, ignored, pattern, type }: SelectionOptions): FileSelection {
  // ripgrep adds up the files of several types, so that it can select by a type or by names, not by both;
  // with a type, the filter applies the pattern.
  const names = type === undefined ? (pattern?.names ?? []) : [];
  const hasDots = hidden || pattern?.hidden === true;
  const argv = [
    // The folder .git is never searched as a hidden one.
    ...(hasDots ? ['--hidden', '--glob=!.git'] : []),
    ...(ignored ? ['--no-ignore'] : []),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ['--type=wanted'] : []),
  ];
  const isByName = !pattern || (names.length > 0 && pattern.isByName);
  // With a type, ripgrep also finds names that begin with a dot.
  const isHidden = (path: string) => !hasDots && path.charAt(path.lastIndexOf('/') + 1) === '.';
  return { argv, isChosen: (path: string) => !isHidden(path) && (isByName || pattern.matches(path)) };
}

/** A path that ripgrep printed, relative to the searched folder and with `/` between names. */
export function printedPath(printed: string): string {
  const path = process.platform === 'win32' ? printed.replaceAll('\\', '/') : printed;
  return path.startsWith('./') ? path.slice(2) : path;
}
