import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { inheritedEnvironment } from './child-environment.ts';
import { readCache, writeCache } from '../../store/own-files.ts';
import type { Host } from '../host.ts';
import { sanitize } from '../sanitize.ts';
import type { Outcome, Run } from '../processes/process.ts';
import { probeFolder } from './probe-folders.ts';
import type { LoginShellPath } from './search-path.ts';

/** The answer of a login shell that was asked for its PATH. */
export interface LoginShellAnswer extends LoginShellPath {
  /** The time of the question, in milliseconds since 1970. */
  readonly askedAt: number;
  /** The reason why it gave no answer; `path` is then that of the answer before, or empty. */
  readonly why?: string;
}

/** A cached answer; `fresh` is true where it is recent. */
export interface KnownLoginShell extends LoginShellAnswer {
  readonly fresh: boolean;
}

const cacheName = 'login-shell.json';
const budgetMs = 3000;
/**
 * The time for which an answer is fresh, so that servers that start together ask once. A changed start-up
 * file counts after that.
 */
const freshForMs = 10 * 60 * 1000;

/**
 * The user's login shell: $SHELL, otherwise the one in the user database, because a host may have cleared the
 * environment.
 */
export function loginShellOf(host: Host, inUserDatabase = () => userInfo().shell): string | undefined {
  if (host.platform === 'win32') return undefined;
  try {
    const shell = host.env['SHELL'] || inUserDatabase();
    return shell?.startsWith('/') ? shell : undefined;
  } catch {
    // The user of a container may have no entry.
    return undefined;
  }
}

/** Reads the cached answer of the login shell. Undefined when it was never asked. */
export async function cachedLoginShellPath(
  host: Host,
  cacheFolder: string | undefined,
  shell = loginShellOf(host),
): Promise<KnownLoginShell | undefined> {
  const cached = readCache(cacheFolder, cacheName) as Partial<LoginShellAnswer> | null | undefined;
  if (typeof cached?.path !== 'string' || typeof cached.askedAt !== 'number') return undefined;
  if (shell === undefined || cached.shell !== shell) return undefined;
  const age = Date.now() - cached.askedAt;
  return { ...(cached as LoginShellAnswer), fresh: age >= 0 && age < freshForMs };
}

/**
 * Starts the login shell the way a terminal does, asks it for its PATH, and caches the answer. Takes at most
 * about 3 s, whatever the start-up files do, and ends everything that they started. Undefined where there is
 * no such shell.
 */
export async function askLoginShell(
  host: Host,
  run: Run,
  cacheFolder: string | undefined,
  shell = loginShellOf(host),
): Promise<LoginShellAnswer | undefined> {
  if (shell === undefined) return undefined;
  // The time before asking: the answer may not include a change made while the shell starts.
  const askedAt = Date.now();
  const earlier = await cachedLoginShellPath(host, cacheFolder, shell);
  const answer = { shell, path: earlier?.path ?? '', ...(await ask(shell, host, run, cacheFolder)), askedAt };
  writeCache(cacheFolder, cacheName, answer);
  return answer;
}

async function ask(
  shell: string,
  host: Host,
  run: Run,
  cacheFolder: string | undefined,
): Promise<{ path: string } | { why: string }> {
  const begin = `toolcrib-${globalThis.crypto.randomUUID()}`;
  const end = `toolcrib-${globalThis.crypto.randomUUID()}`;
  // All shells read this the same way. The paths rule out aliases and functions, and `printenv` joins what
  // fish keeps as a list.
  const echo = '/usr/bin/env echo';
  const question = `${echo}; ${echo} ${begin}; /usr/bin/env printenv PATH; ${echo} ${end}`;
  const answered = new AbortController();
  const outcome = await run({
    program: shell,
    // csh takes -l only when it is the only argument.
    argv: [shell.endsWith('csh') ? '-ic' : '-lic', question],
    // Not the project, where tools such as direnv would run its code.
    cwd: (await host.stat(host.home))?.isFolder ? host.home : '/',
    env: { ...shellEnvironment(host, shell), ...(await newFolders(host, shell, cacheFolder)) },
    timeoutMs: budgetMs,
    signal: answered.signal,
    // The answer is complete: what the start-up files left running is ended now, and not waited for.
    onLine: (line) => {
      if (line.trim() === end) answered.abort();
    },
  });
  // Start-up files may print anything outside of the markers.
  const [, between = ''] = new RegExp(`${begin}\\s([^]*)\\s${end}`).exec(outcome.stdout.text) ?? [];
  const path = sanitize(between).trim();
  return path === '' ? { why: whyNoAnswer(shell, outcome) } : { path };
}

function shellEnvironment(host: Host, shell: string): Record<string, string> {
  const zdotdir = host.env['ZDOTDIR'];
  return {
    ...inheritedEnvironment(host),
    ...(zdotdir && { ZDOTDIR: zdotdir }),
    SHELL: shell,
    // The PATH that a login starts with. Ours may have a project's folders, which would then be cached as the
    // user's.
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    TERM: 'dumb',
    // The question was not typed by a person, and must not enter the history.
    HISTFILE: '/dev/null',
    fish_history: '',
    // Oh My Zsh asks whether to update itself, and can replace the shell by tmux.
    DISABLE_AUTO_UPDATE: 'true',
    ZSH_TMUX_AUTOSTART: 'false',
    ZSH_TMUX_AUTOSTARTED: 'true',
  };
}

/**
 * Variables that let fish create its folders in ours. It creates them at every start, and a home without them
 * must not get any.
 */
async function newFolders(
  host: Host,
  shell: string,
  cache: string | undefined,
): Promise<Record<string, string>> {
  if (basename(shell) !== 'fish' || cache === undefined) return {};
  const ours = probeFolder(cache);
  if (ours === undefined) return {};
  const folders = { XDG_CONFIG_HOME: '.config', XDG_DATA_HOME: '.local/share' };
  const missing = Object.entries(folders).map(async ([name, usual]) => {
    const there = await host.stat(join(host.env[name] || join(host.home, usual), 'fish'));
    return there ? [] : [[name, join(ours, 'fish')]];
  });
  return Object.fromEntries((await Promise.all(missing)).flat());
}

function whyNoAnswer(shell: string, { ended, exitCode, stderr }: Outcome): string {
  if (ended === 'timed_out') return `${shell} took longer than ${budgetMs / 1000} s and was stopped`;
  if (ended === 'not_started') return `${shell} could not be started: ${sanitize(stderr.text).trim()}`;
  return `${shell} did not say its PATH (exit code ${exitCode})`;
}
