import { childEnvironment } from './child-environment.ts';
import { readCache, writeCache } from '../../store/own-files.ts';
import type { Host } from '../host.ts';
import { limited } from '../limited.ts';
import { sanitize } from '../sanitize.ts';
import type { Outcome, Run } from '../processes/process.ts';
import type { Installation, ProgramFacts, SearchPath, Version } from './installation.ts';
import { makeProbeFolders, type ProbeFolders } from './probe-folders.ts';

interface World {
  readonly run: Run;
  readonly host: Host;
  readonly cacheFolder: string | undefined;
}

const cacheName = 'versions.json';
const atOnce = 4;
const budgetMs = 2000;
/** A script's version is that of what it loads, which may change without it. */
const goodForMs = 24 * 60 * 60 * 1000;

/** Nothing may be downloaded just to tell a version. */
const offline = {
  GOTOOLCHAIN: 'local',
  COREPACK_ENABLE_NETWORK: '0',
  RUSTUP_AUTO_INSTALL: '0',
  npm_config_offline: 'true',
};

/** The versions of installations by the ids of their programs. */
export type VersionsOf = (
  installations: readonly Installation[],
  facts: readonly ProgramFacts[],
  path: SearchPath,
) => Promise<Map<string, Version>>;

/**
 * Asks programs for their versions: fixed arguments, folders of ours, a scrubbed environment, little time.
 * Each is asked at most once while the probe lives, also when several callers want to know at the same time.
 */
export function createVersionProbe(world: World): VersionsOf {
  const asked = new Map<string, Promise<Version>>();
  const queued = limited(atOnce);
  const inFolders = foldersFor(world);
  return async (installations, facts, path) => {
    const known = keptVersions(world.cacheFolder);
    const learned: KeptVersions = {};
    const versionOf = async (installation: Installation): Promise<Version> => {
      const program = facts.find(({ id }) => id === installation.id);
      if (!program?.version) return { note: 'its version is not asked for' };
      const { shim, own } = installation;
      if (own)
        return { note: "not asked for: it is the project's own, which is started for that project only" };
      if (shim !== undefined)
        return { note: `not asked for: a ${shim} shim chooses it for each project, and may download it` };
      const key = await keyOf(installation, program.version, world.host);
      if (known[key]) return { version: known[key].version };
      const answer =
        asked.get(key) ??
        queued(() => inFolders((folders) => ask(installation, program, path, { ...world, folders })));
      asked.set(key, answer);
      const { version } = await answer;
      if (version !== undefined) learned[key] = { version, at: Date.now() };
      return answer;
    };
    const versions = installations.map(async (one) => [one.id, await versionOf(one)] as const);
    const all = new Map(await Promise.all(versions));
    if (Object.keys(learned).length > 0)
      // Read again: another server may have learned something meanwhile.
      writeCache(world.cacheFolder, cacheName, { ...keptVersions(world.cacheFolder), ...learned });
    return all;
  };
}

type VersionProbe = NonNullable<ProgramFacts['version']>;

/** What a version belongs to: the very file, and the question. Behind `node.exe script.js` that is the script. */
async function keyOf({ program, leading, words }: Installation, { args, pattern }: VersionProbe, host: Host) {
  const file = leading.at(-1) ?? program;
  const facts = await host.stat(file);
  return [file, await host.realPath(file), facts?.size, facts?.mtimeMs, ...words, ...args, pattern].join(' ');
}

/** Has questions asked in folders that are made for the first, and cleared when nobody is being asked. */
function foldersFor({ host, cacheFolder }: World) {
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
      if (--asking === 0) folders?.clear();
    }
  };
}

async function ask(
  { program, leading, words }: Installation,
  { version: question, environment = [] }: ProgramFacts,
  path: SearchPath,
  { run, host, folders }: World & { readonly folders: ProbeFolders },
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

/** What a program has said. A plugin that does not know its own version is not there. */
function versionIn(
  { ended, exitCode, stdout, stderr }: Outcome,
  pattern: RegExp,
  isPlugin: boolean,
): Version {
  if (ended === 'timed_out') return { note: `did not tell its version within ${budgetMs / 1000} s` };
  const found = pattern.exec(stdout.text) ?? pattern.exec(stderr.text);
  const version = sanitize(found?.[1] ?? found?.[0] ?? '')
    .trim()
    .slice(0, 100);
  if (version !== '') return { version };
  const printed = sanitize(stderr.text || stdout.text).trim();
  const said = printed.split('\n')[0]?.slice(0, 120);
  if (ended === 'not_started') return { note: `broken: it could not be started: ${said}`, broken: true };
  const note = said ? `answered: ${said}` : `told no version (exit code ${exitCode})`;
  if (isPlugin && ended === 'exited') return { note: `without this plugin: it ${note}`, broken: true };
  return { note };
}

type KeptVersions = Record<string, { readonly version: string; readonly at: number }>;

/** What is damaged or old is as good as never kept. */
function keptVersions(cacheFolder: string | undefined): KeptVersions {
  const kept = readCache(cacheFolder, cacheName);
  if (typeof kept !== 'object' || kept === null) return {};
  const isGood = ([, entry]: [string, Partial<KeptVersions[string]> | null]) =>
    typeof entry?.version === 'string' && Math.abs(Date.now() - Number(entry.at)) < goodForMs;
  return Object.fromEntries(Object.entries(kept).filter(isGood)) as KeptVersions;
}
