import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '../environment.ts';
import { readCache, writeCache } from '../folders.ts';
import type { Host } from '../host.ts';
import type { Installation, ProgramFacts, SearchPath, Version } from './installation.ts';
import { limited } from '../limited.ts';
import { presentable } from '../presentable.ts';
import type { Outcome, Run } from '../processes/process.ts';

export interface VersionProbe {
  /**
   * The version of each installation, by id. Programs are asked at most once while the probe lives, also when
   * several callers want to know at the same time; what was learned before about the same file is not asked again.
   */
  versionsOf(
    installations: Iterable<Installation>,
    facts: readonly ProgramFacts[],
  ): Promise<Map<string, Version>>;
}

interface Asked {
  readonly installation: Installation;
  readonly facts: ProgramFacts;
  readonly question: NonNullable<ProgramFacts['version']>;
}

interface Known extends Version {
  readonly at: number;
  /** Files as small as this are scripts: their version is that of what they load, which may change without them. */
  readonly small: boolean;
}

const cacheName = 'versions.json';
const atOnce = 4;
const budgetMs = 2000;
const keptMost = 1000;
const smallBytes = 64 * 1024;
const smallGoodForMs = 24 * 60 * 60 * 1000;

/** Nothing may be downloaded just to tell a version. */
const offline = {
  GOTOOLCHAIN: 'local',
  COREPACK_ENABLE_NETWORK: '0',
  RUSTUP_AUTO_INSTALL: '0',
  npm_config_offline: 'true',
};

/** Asks programs for their versions: fixed arguments, an empty folder, a scrubbed environment, little time. */
export function createVersionProbe(world: {
  readonly run: Run;
  readonly host: Host;
  readonly cacheFolder: string | undefined;
  readonly path: SearchPath;
}): VersionProbe {
  const { host, cacheFolder } = world;
  const asked = new Map<string, Promise<Version>>();
  const queued = limited(atOnce);

  const probe = async (
    want: Asked,
    known: Record<string, Known>,
    learned: Record<string, Known>,
  ): Promise<Version> => {
    const subject = await subjectOf(want, host);
    if (!subject) return { note: 'is gone' };
    const earlier = known[subject.key];
    const mayHaveCome = want.facts.prefix !== undefined && earlier?.version === undefined;
    if (earlier && isGood(earlier) && !mayHaveCome) return versionOf(earlier);
    const { version, final } = await queued(() => ask(want, world));
    if (final) learned[subject.key] = { ...version, at: Date.now(), small: subject.small };
    return version;
  };

  return {
    async versionsOf(installations, facts) {
      const byId = new Map(facts.map((program) => [program.id, program]));
      const known = knownVersions(cacheFolder);
      const learned: Record<string, Known> = {};
      const versions = await Promise.all(
        [...installations].map(async (installation): Promise<readonly [string, Version]> => {
          const program = byId.get(installation.id);
          const want = program?.version && { installation, facts: program, question: program.version };
          if (!want) return [installation.id, { note: 'its version is not asked for' }];
          if (installation.shim !== undefined)
            return [installation.id, { note: noteForShim(installation.shim) }];
          const key = [installation.id, installation.program, ...installation.leading].join('\0');
          const answer = asked.get(key) ?? probe(want, known, learned);
          asked.set(key, answer);
          return [installation.id, await answer];
        }),
      );
      if (Object.keys(learned).length > 0) keep(cacheFolder, learned);
      return new Map(versions);
    },
  };
}

const noteForShim = (manager: string): string =>
  `not asked for: a ${manager} shim chooses it for each project, and may download it`;

/** What the version belongs to: the very file, and the question. Behind `node.exe script.js` that is the script. */
async function subjectOf(want: Asked, host: Host): Promise<{ key: string; small: boolean } | undefined> {
  const { installation, question } = want;
  const file = (await host.realPath(installation.leading.at(-1) ?? installation.program)) ?? '';
  const facts = await host.stat(file);
  if (!facts) return undefined;
  // Some programs are many: busybox, the Xcode tools. Their name makes the difference.
  const parts = [
    file,
    facts.size,
    facts.mtimeMs,
    installation.program,
    ...question.args,
    question.pattern.source,
  ];
  const key = createHash('sha256').update(parts.join('\0')).digest('base64url');
  return { key, small: facts.size < smallBytes };
}

async function ask(
  { installation, facts, question }: Asked,
  { run, host, path }: { run: Run; host: Host; path: SearchPath },
): Promise<{ version: Version; /** Whether it would say the same again. */ final: boolean }> {
  // A project's own files (.npmrc, .mvn, global.json, …) would be obeyed, and can name code to run.
  const empty = await mkdtemp(join(tmpdir(), 'toolcrib-version-'));
  try {
    const outcome = await run({
      program: installation.program,
      argv: [...installation.leading, ...question.args],
      cwd: empty,
      env: { ...childEnvironment(host, path, facts.environment ?? [], offline), PWD: empty },
      timeoutMs: budgetMs,
      keepBytes: 16 * 1024,
    });
    const version = versionIn(outcome, question.pattern);
    // A plugin may come later, and the program's own file would not show it.
    return { version, final: outcome.ended === 'exited' && !(facts.prefix && version.unknown) };
  } finally {
    // What a program left there is of no use; where Windows still holds a file, the system cleans up later.
    await rm(empty, { recursive: true, force: true }).catch(() => undefined);
  }
}

function versionIn(outcome: Outcome, pattern: RegExp): Version {
  if (outcome.ended === 'timed_out') return { note: `did not tell its version within ${budgetMs / 1000} s` };
  const found = pattern.exec(outcome.stdout.text) ?? pattern.exec(outcome.stderr.text);
  const version =
    found &&
    presentable(found[1] ?? found[0])
      .trim()
      .slice(0, 100);
  if (version) return { version };
  const printed = presentable(outcome.stderr.text || outcome.stdout.text).trim();
  const said = printed.split('\n')[0]?.slice(0, 120);
  if (outcome.ended === 'not_started') return { note: `could not be started: ${said}` };
  const note = said ? `told no version, but: ${said}` : `told no version (exit code ${outcome.exitCode})`;
  return { note, unknown: outcome.ended === 'exited' };
}

const versionOf = ({ version, note }: Known): Version => ({
  ...(version !== undefined && { version }),
  ...(note !== undefined && { note }),
});

const isGood = ({ small, at }: Known): boolean => !small || Math.abs(Date.now() - at) < smallGoodForMs;

function knownVersions(cacheFolder: string | undefined): Record<string, Known> {
  const kept = readCache(cacheFolder, cacheName);
  if (typeof kept !== 'object' || kept === null || Array.isArray(kept)) return {};
  const sound = Object.entries(kept as Record<string, Partial<Known> | null>).filter(
    ([, entry]) => typeof (entry?.version ?? entry?.note) === 'string' && typeof entry?.at === 'number',
  );
  return Object.fromEntries(sound) as Record<string, Known>;
}

/** Read again before writing: another server may have learned something meanwhile. */
function keep(cacheFolder: string | undefined, learned: Record<string, Known>): void {
  const all = Object.entries({ ...knownVersions(cacheFolder), ...learned });
  const newest = all.sort(([, a], [, b]) => b.at - a.at).slice(0, keptMost);
  writeCache(cacheFolder, cacheName, Object.fromEntries(newest));
}
