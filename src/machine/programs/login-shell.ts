import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { inheritedEnvironment } from './child-environment.ts';
import { readCache, writeCache } from '../../store/own-files.ts';
import type { Host } from '../host.ts';
import { sanitize } from '../sanitize.ts';
import type { Outcome, Run } from '../processes/process.ts';
import { probeFolder } from './probe-folders.ts';
import type { LoginShellPath } from './search-path.ts';

/** What a login shell answered, when it was asked for its PATH. */
export interface LoginShellAnswer extends LoginShellPath {
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Why it gave no answer; `path` is then what it said the time before, or empty. */
  readonly why?: string;
}

/** An answer that was kept; `fresh`: not long ago. */
export interface KnownLoginShell extends LoginShellAnswer {
  readonly fresh: boolean;
}

const cacheName = 'login-shell.json';
const budgetMs = 3000;
/** Servers that are started together ask once; a start-up file that is changed counts after that. */
const goodForMs = 10 * 60 * 1000;

/** The user's login shell: $SHELL, else what the user database says: a host may have cleared the environment. */
export function loginShellOf(host: Host, inUserDatabase = () => userInfo().shell): string | undefined {
  if (host.platform === 'win32') return undefined;
  try {
    const shell = host.env['SHELL'] || inUserDatabase();
    return shell?.startsWith('/') ? shell : undefined;
  } catch {
    // A container's user need not have an entry.
    return undefined;
  }
}

/** What the login shell answered before, and whether that was not long ago. Undefined when it was never asked. */
export async function cachedLoginShellPath(
  host: Host,
  cacheFolder: string | undefined,
  shell = loginShellOf(host),
): Promise<KnownLoginShell | undefined> {
  const kept = readCache(cacheFolder, cacheName) as Partial<LoginShellAnswer> | null | undefined;
  if (typeof kept?.path !== 'string' || typeof kept.askedAt !== 'number') return undefined;
  if (shell === undefined || kept.shell !== shell) return undefined;
  const age = Date.now() - kept.askedAt;
  return { ...(kept as LoginShellAnswer), fresh: age >= 0 && age < goodForMs };
}

/**
 * Starts the login shell the way a terminal does, and asks it for its PATH. Takes at most about 3 s, whatever the
 * start-up files do; nothing they started is left behind. Keeps the answer. Undefined where there is no such shell.
 */
export async function askLoginShell(
  host: Host,
  run: Run,
  cacheFolder: string | undefined,
  shell = loginShellOf(host),
): Promise<LoginShellAnswer | undefined> {
  if (shell === undefined) return undefined;
  // Before asking: a change made while the shell starts then counts as one.
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
  // All shells read this the same way. With their folder these cannot be aliases or functions, and `printenv` joins
  // what fish keeps as a list.
  const echo = '/usr/bin/env echo';
  const question = `${echo}; ${echo} ${begin}; /usr/bin/env printenv PATH; ${echo} ${end}`;
  const answered = new AbortController();
  const outcome = await run({
    program: shell,
    // csh takes -l only when it stands alone.
    argv: [shell.endsWith('csh') ? '-ic' : '-lic', question],
    // Not the project: tools such as direnv would run its code.
    cwd: (await host.stat(host.home))?.isFolder ? host.home : '/',
    env: { ...shellEnvironment(host, shell), ...(await newFolders(host, shell, cacheFolder)) },
    timeoutMs: budgetMs,
    signal: answered.signal,
    // All is said: what the start-up files left running is ended now, and not waited for.
    onLine: (line) => line.trim() === end && answered.abort(),
  });
  // Whatever else the start-up files print is outside of the markers.
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
    // What a login starts with. Ours may hold a project's folders, which would then be kept as the user's.
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    TERM: 'dumb',
    // Nobody has typed what is asked here.
    HISTFILE: '/dev/null',
    fish_history: '',
    // Oh My Zsh asks whether to update itself, and can replace the shell by tmux.
    DISABLE_AUTO_UPDATE: 'true',
    ZSH_TMUX_AUTOSTART: 'false',
    ZSH_TMUX_AUTOSTARTED: 'true',
  };
}

/** Of the folders that fish makes in each home, those that are not there: they are made in ours. */
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
