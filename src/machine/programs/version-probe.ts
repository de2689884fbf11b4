import { childEnvironment } from './child-environment.ts';
import { readCache, writeCache } from '../../store/own-files.ts';
import type { Host } from '../host.ts';
import { limited } from '../limited.ts';
import { sanitize } from '../sanitize.ts';
import type { Outcome, Run } from '../processes/process.ts';
import type { Installation, ProgramFacts, SearchPath, Version } from './installation.ts';
import { makeProbeFolders, type ProbeFolders } from './probe-folders.ts';

interface ProbeContext {
  readonly run: Run;
  readonly host: Host;
  readonly cacheFolder: string | undefined;
}

const cacheName = 'versions.json';
const atOnce = 4;
const budgetMs = 2000;
/**
 * The time for which a cached version counts: a script's version is that of what it loads, which may change
 * without it.
 */
const cachedForMs = 24 * 60 * 60 * 1000;

/** Variables that keep programs from downloading anything just to tell a version. */
const offline = {
  GOTOOLCHAIN: 'local',
  COREPACK_ENABLE_NETWORK: '0',
  RUSTUP_AUTO_INSTALL: '0',
  npm_config_offline: 'true',
};

/** Finds the versions of installations, by the ids of their programs. */
export type VersionsOf = (
  installations: readonly Installation[],
  facts: readonly ProgramFacts[],
  path: SearchPath,
) => Promise<Map<string, Version>>;

/**
 * Creates a probe that starts programs to ask for their versions: with fixed arguments, in our own folders,
 * in a scrubbed environment, for a short time. Each is started at most once in the life of a probe, even when
 * several callers ask at the same time.
 */
export function createVersionProbe(context: ProbeContext): VersionsOf {
  const answers = new Map<string, Promise<Version>>();
  const queued = limited(atOnce);
  const inFolders = foldersFor(context);
  return async (installations, facts, path) => {
    const cached = cachedVersions(context.cacheFolder);
    const fresh: CachedVersions = {};
    const versionOf = async (installation: Installation): Promise<Version> => {
      const program = facts.find(({ id }) => id === installation.id);
      if (!program?.version) return { note: 'its version is not asked for' };
      const { shim, own } = installation;
      if (own)
        return { note: "not asked for: it is the project's own, which is started for that project only" };
      if (shim !== undefined)
        return { note: `not asked for: a ${shim} shim chooses it for each project, and may download it` };
      const key = await keyOf(installation, program.version, context.host);
      if (cached[key]) return { version: cached[key].version };
      const answer =
        answers.get(key) ??
        queued(() => inFolders((folders) => ask(installation, program, path, { ...context, folders })));
      answers.set(key, answer);
      const { version } = await answer;
      if (version !== undefined) fresh[key] = { version, at: Date.now() };
      return answer;
    };
    const entries = installations.map(async (each) => [each.id, await versionOf(each)] as const);
    const versions = new Map(await Promise.all(entries));
    if (Object.keys(fresh).length > 0)
      // Read again, because another server may have added versions meanwhile.
      writeCache(context.cacheFolder, cacheName, { ...cachedVersions(context.cacheFolder), ...fresh });
    return versions;
  };
}

type VersionProbe = NonNullable<ProgramFacts['version']>;

/**
 * The cache key of a version: the very file, and the question. For `node.exe script.js` the file is the
 * script.
 */
async function keyOf({ program, leading, words }: Installation, { args, pattern }: VersionProbe, host: Host) {
  const file = leading.at(-1) ?? program;
  const facts = await host.stat(file);
  return [file, await host.realPath(file), facts?.size, facts?.mtimeMs, ...words, ...args, pattern].join(' ');
}

/** Runs questions in folders that are made for the first one, and cleared when no question is running. */
function foldersFor({ host, cacheFolder }: ProbeContext) {
  let folders: ProbeFolders | undefined;
  let asking = 0;
  return async (ask: (folders: ProbeFolders) => Promise<Version>): Promise<Version> => {
    asking++;
    try {
      if (cacheFolder === undefined) throw new Error('there is no folder for it');
      folders ??= makeProbeFolders(host, cacheFolder);
      return await ask(folders);
    } catch (error) {
      return { note: `not asked for: ${error instanceof Error ? error.message : String(error)}` };
    } finally {
      asking--;
      if (asking === 0) folders?.clear();
    }
  };
}

async function ask(
  { program, leading, words }: Installation,
  { version: question, environment = [] }: ProgramFacts,
  path: SearchPath,
  { run, host, folders }: ProbeContext & { readonly folders: ProbeFolders },
): Promise<Version> {
  if (!question) return {};
  const outcome = await run({
    program,
    argv: [...leading, ...words, ...question.args],
    cwd: folders.empty,
    env: { ...childEnvironment(host, path, environment, offline), ...folders.env(question.caches ?? []) },
    timeoutMs: budgetMs,
    keepBytes: 16 * 1024,
  });
  return versionIn(outcome, new RegExp(question.pattern), words.length > 0);
}

/** Reads the version in a program's output. A plugin that does not know its own version is not there. */
function versionIn(
  { ended, exitCode, stdout, stderr }: Outcome,
  pattern: RegExp,
  isPlugin: boolean,
): Version {
  if (ended === 'timed_out') return { note: `did not tell its version within ${budgetMs / 1000} s` };
  const match = pattern.exec(stdout.text) ?? pattern.exec(stderr.text);
  const version = sanitize(match?.[1] ?? match?.[0] ?? '')
    .trim()
    .slice(0, 100);
  if (version !== '') return { version };
  const printed = sanitize(stderr.text || stdout.text).trim();
  const line = printed.split('\n')[0]?.slice(0, 120);
  if (ended === 'not_started') return { note: `broken: it could not be started: ${line}`, broken: true };
  const note = line ? `answered: ${line}` : `told no version (exit code ${exitCode})`;
  if (isPlugin && ended === 'exited') return { note: `without this plugin: it ${note}`, broken: true };
  return { note };
}

type CachedVersions = Record<string, { readonly version: string; readonly at: number }>;

/** Reads the cached versions; damaged and old ones count as missing. */
function cachedVersions(cacheFolder: string | undefined): CachedVersions {
  const cached = readCache(cacheFolder, cacheName);
  if (typeof cached !== 'object' || cached === null) return {};
  const isGood = ([, entry]: [string, Partial<CachedVersions[string]> | null]) =>
    typeof entry?.version === 'string' && Math.abs(Date.now() - Number(entry.at)) < cachedForMs;
  return Object.fromEntries(Object.entries(cached).filter(isGood)) as CachedVersions;
}
