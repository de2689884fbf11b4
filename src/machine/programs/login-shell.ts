import { userInfo } from 'node:os';
import { inheritedEnvironment } from '../environment.ts';
import { readCache, writeCache } from '../folders.ts';
import { pathsOf, type Host } from '../host.ts';
import { presentable } from '../presentable.ts';
import type { Outcome, Run } from '../processes/process.ts';
import type { LoginShellPath } from './search-path.ts';

/** What a login shell answered, when it was asked for its PATH. */
export interface LoginShellAnswer extends LoginShellPath {
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Why it gave no answer; `path` is then what it said the time before, or empty. */
  readonly why?: string;
}

interface Kept extends LoginShellAnswer {
  readonly home: string;
  readonly stamps: Readonly<Record<string, number>>;
}

const cacheName = 'login-shell.json';
const budgetMs = 3000;
/** Start-up files read others, which we do not watch. */
const goodForMs = 24 * 60 * 60 * 1000;
/** A shell that did not answer is not made to try at every start. */
const badForMs = 60 * 60 * 1000;

/** The user's login shell: $SHELL, or what the user database says, which is all there is when a host cleared the environment. */
export function loginShellOf(host: Host, inUserDatabase = shellInUserDatabase): string | undefined {
  if (host.platform === 'win32') return undefined;
  const shell = host.env['SHELL'] || inUserDatabase();
  return shell?.startsWith('/') ? shell : undefined;
}

function shellInUserDatabase(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    // A container's user need not have an entry.
    return undefined;
  }
}

/**
 * What the login shell answered before, and whether that still holds: its start-up files have not changed, and it
 * was not long ago. Undefined when it was never asked.
 */
export async function cachedLoginShellPath(
  host: Host,
  cacheFolder: string | undefined,
  shell = loginShellOf(host),
): Promise<(LoginShellAnswer & { readonly fresh: boolean }) | undefined> {
  const kept = shell && keptAnswer(cacheFolder, shell, host);
  if (!kept) return undefined;
  const age = Date.now() - kept.askedAt;
  const recent = age >= 0 && age < (kept.why === undefined ? goodForMs : badForMs);
  const fresh = recent && JSON.stringify(kept.stamps) === JSON.stringify(await stampsOf(host));
  return { ...answerOf(kept), fresh };
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
  const stamps = await stampsOf(host);
  const { path, why } = await ask(shell, host, run);
  const earlier = path === undefined ? keptAnswer(cacheFolder, shell, host)?.path : undefined;
  const kept: Kept = {
    shell,
    home: host.home,
    path: path ?? earlier ?? '',
    askedAt: Date.now(),
    ...(why !== undefined && { why }),
    stamps,
  };
  writeCache(cacheFolder, cacheName, kept);
  return answerOf(kept);
}

const answerOf = ({ shell, path, askedAt, why }: Kept): LoginShellAnswer => ({
  shell,
  path,
  askedAt,
  ...(why !== undefined && { why }),
});

async function ask(shell: string, host: Host, run: Run): Promise<{ path?: string; why?: string }> {
  const facts = await host.stat(shell);
  if (!facts?.isFile) return { why: `${shell} does not exist` };
  if ((facts.mode & 0o002) !== 0) return { why: `everyone can write to ${shell}, so it was not started` };

  const begin = `toolcrib-${globalThis.crypto.randomUUID()}`;
  const end = `toolcrib-${globalThis.crypto.randomUUID()}`;
  const answered = new AbortController();
  const outcome = await run({
    program: shell,
    argv: [optionsOf(shell), questionOf(begin, end)],
    // Not the project: tools such as direnv would run its code.
    cwd: (await host.stat(host.home))?.isFolder ? host.home : '/',
    env: shellEnvironment(host, shell),
    timeoutMs: budgetMs,
    signal: answered.signal,
    // All is said: what the start-up files left running is ended now, and not waited for.
    onLine: (line) => line.trim() === end && answered.abort(),
  });
  const path = between(outcome.stdout.text, begin, end);
  return path === undefined ? { why: whyNoAnswer(shell, outcome) } : { path };
}

// csh takes -l only when it stands alone.
const optionsOf = (shell: string): string => (shell.endsWith('csh') ? '-ic' : '-lic');

/**
 * Commands that sh, bash, zsh, dash, fish and csh all read the same way. With their folder they cannot be aliases or
 * functions, and `printenv` joins what fish keeps as a list.
 */
const questionOf = (begin: string, end: string): string =>
  `/usr/bin/env echo; /usr/bin/env echo ${begin}; /usr/bin/env printenv PATH; /usr/bin/env echo ${end}`;

function shellEnvironment(host: Host, shell: string): Record<string, string> {
  const zdotdir = host.env['ZDOTDIR'];
  return {
    ...inheritedEnvironment(host),
    ...(zdotdir && { ZDOTDIR: zdotdir }),
    SHELL: shell,
    // What a login starts with. Ours may hold a project's folders, which would then be kept as the user's.
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    TERM: 'dumb',
    // Oh My Zsh asks whether to update itself, and can replace the shell by tmux.
    DISABLE_AUTO_UPDATE: 'true',
    ZSH_TMUX_AUTOSTART: 'false',
    ZSH_TMUX_AUTOSTARTED: 'true',
  };
}

/** The line between the last two markers; whatever else the start-up files print is outside them. */
function between(text: string, begin: string, end: string): string | undefined {
  const to = text.lastIndexOf(end);
  const from = text.lastIndexOf(begin, to);
  if (from < 0 || to < 0) return undefined;
  const lines = presentable(text.slice(from + begin.length, to)).split('\n');
  return lines.map((line) => line.trim()).findLast((line) => line.includes('/'));
}

function whyNoAnswer(shell: string, { ended, exitCode, stderr }: Outcome): string {
  if (ended === 'timed_out') return `${shell} took longer than ${budgetMs / 1000} s and was stopped`;
  if (ended === 'not_started') return `${shell} could not be started: ${presentable(stderr.text).trim()}`;
  return `${shell} did not say its PATH (exit code ${exitCode})`;
}

function keptAnswer(cacheFolder: string | undefined, shell: string, host: Host): Kept | undefined {
  const kept = readCache(cacheFolder, cacheName) as Partial<Kept> | null | undefined;
  const whole =
    typeof kept?.path === 'string' && typeof kept.askedAt === 'number' && kept.stamps !== undefined;
  return whole && kept.shell === shell && kept.home === host.home ? (kept as Kept) : undefined;
}

/** When each file that can change the PATH was last changed; 0 for one that does not exist. */
async function stampsOf(host: Host): Promise<Record<string, number>> {
  const { join } = pathsOf(host);
  const config = host.env['XDG_CONFIG_HOME'] || join(host.home, '.config');
  const files = [
    ...startUpFiles.home.map((file) => join(host.home, file)),
    ...startUpFiles.zsh.map((file) => join(host.env['ZDOTDIR'] || host.home, file)),
    ...startUpFiles.config.map((file) => join(config, file)),
    ...startUpFiles.etc.map((file) => join('/etc', file)),
  ];
  const stamps = await Promise.all(
    files.map(async (file) => [file, (await host.stat(file))?.mtimeMs ?? 0] as const),
  );
  return Object.fromEntries(stamps);
}

/** A folder stands for what is added to it and taken from it. */
const startUpFiles = {
  home: [
    '.profile',
    '.bash_profile',
    '.bash_login',
    '.bashrc',
    '.bash_aliases',
    '.login',
    '.cshrc',
    '.tcshrc',
    '.pam_environment',
  ],
  zsh: ['.zshenv', '.zprofile', '.zshrc', '.zlogin'],
  // fish keeps `fish_add_path` in fish_variables.
  config: ['fish/config.fish', 'fish/fish_variables', 'fish/conf.d', 'environment.d'],
  etc: [
    'profile',
    'profile.d',
    'environment',
    'paths',
    'paths.d',
    'bashrc',
    'bash.bashrc',
    'zshenv',
    'zprofile',
    'zshrc',
    'zsh/zshenv',
    'zsh/zprofile',
    'zsh/zshrc',
    'fish/config.fish',
    'fish/conf.d',
  ],
};
