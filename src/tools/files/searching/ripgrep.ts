import { dirname } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import { ownFoldersBelow } from '../../../machine/paths/protected-paths.ts';
import { pseudoFoldersBelow } from '../../../machine/paths/given-path.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import type { Outcome } from '../../../machine/processes/process.ts';
import type { GlobPattern } from '../listing/glob-pattern.ts';
import type { Session } from '../../../machine/session.ts';
import { blockingFile } from './blocking-file.ts';

interface RipgrepSearch {
  /** What it is told but for the file or folder, which comes last. */
  readonly argv: readonly string[];
  /** The file or folder to search; what is printed is relative to the folder. */
  readonly where: OpenedFile;
  /** Whether ignore files count for nothing. */
  readonly ignored: boolean;
  readonly signal: AbortSignal;
  /** Takes its output piece by piece. Returns false when enough has been found: the search ends. */
  take(chunk: Buffer): boolean;
}

/** How a search ended. */
interface Ended {
  readonly isEnough: boolean;
  /** Whether it came to its end. */
  readonly isWhole: boolean;
  /**
   * Whether it was stopped, and what it could not read, in words for the caller; empty when there is nothing.
   */
  readonly notes: readonly string[];
}

/**
 * What every search is run with: nothing but these arguments configures it, links are not followed, and
 * patterns are run by the engine that takes linear time. ripgrep's own limits are ten and two hundred times
 * these:
 * `(a{1000}){1000}` would take 100 MB, and to find where `((a{1,50}){1,50}){1,50}` matches in a line of 50 KB
 * a minute and 1 GB.
 */
const always = [
  '--no-config',
  '--no-follow',
  '--color=never',
  '--engine=default',
  '--regex-size-limit=10M',
  '--dfa-size-limit=5M',
];

/** Clients give up after a minute, and a search may have to be made twice. */
const timeoutMs = 20_000;
/** When a search is no usual one any more; a folder with 20,000 files takes 0.1 s. */
const suspiciousMs = 250;

/**
 * Runs ripgrep in a folder. Finding nothing is no failure. Throws ARG_INVALID with its words when it does not
 * accept an argument, PATH_NOT_REGULAR and TOO_LARGE for an ignore file it cannot read, CANCELLED, and
 * PROGRAM_FAILED.
 */
export async function search(session: Session, { argv, where, ...request }: RipgrepSearch): Promise<Ended> {
  const { ignored, signal, take } = request;
  const isFile = where.stat.isFile();
  const folder = isFile ? dirname(where.path) : where.path;
  const stop = new AbortController();
  let [isEnough, hasOutput] = [false, false];
  let problem: ToolcribError | undefined;
  const onOutput = (chunk: Buffer) => {
    hasOutput = true;
    isEnough ||= !take(chunk);
    if (isEnough) stop.abort();
    return !stop.signal.aborted;
  };
  // When ripgrep takes long, it may be waiting for something.
  const lookForBlocking = async () => {
    problem = await blockingFile(folder, stop.signal).catch(() => undefined);
    if (problem) stop.abort();
  };
  const timer = ignored || isFile ? undefined : setTimeout(() => void lookForBlocking(), suspiciousMs);
  // Processes and devices are not searched: what they show can be secrets, or never end. Nor is what toolcrib
  // keeps.
  const leftAlone = [...pseudoFoldersBelow(folder), ...ownFoldersBelow(folder)].map(
    (place) => `--glob=!/${place.replaceAll(/[\\*?[\]{}!]/g, '\\$&')}`,
  );
  const { environment } = session;
  const outcome = await environment
    .run({
      program: await session.ripgrep(),
      argv: [...always, ...leftAlone, ...argv, isFile ? where.stablePath : './'],
      cwd: isFile ? folder : where.stablePath,
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
  // What it says when nobody takes its output any more is about no file.
  if (isEnough) return { notes: [], isEnough, isWhole: false };
  const complaints = outcome.stderr.text.split('\n').filter((line) => line !== '');
  refuse(outcome, complaints.join('\n').replace(/^rg: /, ''), hasOutput);
  const isWhole = outcome.ended !== 'timed_out' && !(isBroken(outcome) && complaints.length === 0);
  const stopped =
    outcome.ended === 'timed_out'
      ? `stopped after ${timeoutMs / 1000} s, not all was searched: search a smaller folder`
      : `ripgrep ${howEnded(outcome)} and said nothing about it, so not all was searched: call again`;
  return { isEnough, isWhole, notes: [...(isWhole ? [] : [stopped]), ...unsearched(complaints)] };
}

/** The same, with all that is printed, up to so many bytes. */
export async function searchAll(session: Session, asked: Omit<RipgrepSearch, 'take'>, mostBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= mostBytes;
  };
  const ended = await search(session, { ...asked, take });
  return { ...ended, printed: Buffer.concat(chunks) };
}

/** 0: something was found; 1: nothing; 2: it complains of its arguments, or of files. */
const isBroken = ({ ended, exitCode }: Outcome): boolean => ended === 'exited' && (exitCode ?? 2) >= 2;
const howEnded = ({ exitCode }: Outcome): string =>
  exitCode === null ? 'was ended by a signal' : `ended with exit code ${exitCode}`;

/**
 * Exit code 2 can also mean that some files could not be read; then its words are about files. Anything else
 * that it does not say in words is no answer, whatever its exit code is.
 */
function refuse(outcome: Outcome, words: string, hasOutput: boolean): void {
  const { ended, exitCode } = outcome;
  if (ended === 'not_started')
    throw new ToolcribError('PROGRAM_FAILED', `ripgrep could not be started: ${words}`);
  // A file that is shortened while it is read ends ripgrep, and so does the system when memory runs out.
  if (ended === 'exited' && exitCode === null)
    throw new ToolcribError(
      'PROGRAM_FAILED',
      `ripgrep ${howEnded(outcome)}${words === '' ? ' and said nothing.' : `: ${words}`}`,
      'Call again; if that fails as well, search fewer files: give path or glob.',
    );
  if (hasOutput || ended !== 'exited' || exitCode === null || exitCode === 1) return;
  // Where it finds something it prints that, so that a success without a word is none either.
  if (words === '' || exitCode > 2)
    throw new ToolcribError(
      'PROGRAM_FAILED',
      `ripgrep ${howEnded(outcome)} and ${words === '' ? 'said nothing' : `said: ${words}`}.`,
      'Call again; if that fails as well, toolcrib doctor names the rg that is used: it may be broken.',
    );
  if (exitCode === 0 || /\(os error |error building NFA/.test(words)) return;
  const [, parameter, wayOut] = complaintsAbout.find(([about]) => about.test(words)) ?? [];
  const plain = words.replace(/\n+Consider enabling [^]*/, '').replace(/([^.])$/, '$1.');
  throw new ToolcribError('ARG_INVALID', parameter === undefined ? plain : `${parameter}: ${plain}`, wayOut);
}

/** Which parameter ripgrep's words are about, and what to do instead. */
const complaintsAbout: readonly (readonly [about: RegExp, parameter: string, wayOut: string])[] = [
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

/** What to tell a caller about files that could not be searched. */
function unsearched(complaints: readonly string[]): string[] {
  if (complaints.length === 0) return [];
  const shown = complaints.slice(0, 3).map((line) => line.replace(/^rg: (?:\.\/)?/, ''));
  const more = complaints.length > shown.length ? ` and ${complaints.length - shown.length} more` : '';
  return [`not searched: ${shown.join('; ')}${more}`];
}

interface RipgrepScope {
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly pattern?: GlobPattern | undefined;
  /** A file type that ripgrep knows. */
  readonly type?: string | undefined;
}

/** The arguments by which ripgrep chooses files, and whether one that it finds is wanted. */
export function scopeOf({ hidden, ignored, pattern, type }: RipgrepScope) {
  // Types add up, so names can only be chosen by one of the two; the pattern is then applied to what was
  // found.
  const names = type === undefined ? (pattern?.names ?? []) : [];
  const hasDots = hidden || pattern?.hidden === true;
  const argv = [
    // The folder of git's own files is nobody's hidden file.
    ...(hasDots ? ['--hidden', '--glob=!.git'] : []),
    ...(ignored ? ['--no-ignore'] : []),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ['--type=wanted'] : []),
  ];
  const isByName = !pattern || (names.length > 0 && pattern.isByName);
  // A type by which ripgrep chooses brings back names with a dot.
  const isHidden = (path: string) => !hasDots && path.charAt(path.lastIndexOf('/') + 1) === '.';
  return { argv, isChosen: (path: string) => !isHidden(path) && (isByName || pattern.matches(path)) };
}

/** A path that ripgrep printed, as it lies below the searched folder, with `/` between names. */
export function printedPath(printed: string): string {
  const path = process.platform === 'win32' ? printed.replaceAll('\\', '/') : printed;
  return path.startsWith('./') ? path.slice(2) : path;
}
