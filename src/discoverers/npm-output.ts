import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';

const unknownRecord = z.record(z.string(), z.unknown());
const stringOr = <T>(value: unknown, otherwise: T) => (typeof value === 'string' ? value : otherwise);
const onlyStrings = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(unknownRecord.catch({}).parse(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

export const packageResult = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  package_manager: z.string().optional().describe('When it is not npm, use that instead'),
  scripts: z.array(z.object({ name: z.string(), command: z.string() })),
  engines: z.record(z.string(), z.string()),
  workspaces: z.array(z.string()),
});

export function describePackage(json: string) {
  const manifest = unknownRecord.parse(JSON.parse(json.replace(/^\uFEFF/, '')));
  const { workspaces } = manifest;
  const globs = Array.isArray(workspaces)
    ? workspaces
    : unknownRecord.catch({}).parse(workspaces)['packages'];
  const wanted = z
    .object({ packageManager: z.object({ name: z.string() }) })
    .safeParse(manifest['devEngines']);
  return {
    name: stringOr(manifest['name'], undefined),
    version: stringOr(manifest['version'], undefined),
    package_manager: stringOr(manifest['packageManager'], wanted.data?.packageManager.name),
    scripts: Object.entries(onlyStrings(manifest['scripts'])).map(([script, command]) => ({
      name: script,
      command,
    })),
    engines: onlyStrings(manifest['engines']),
    workspaces: Array.isArray(globs) ? globs.filter((glob) => typeof glob === 'string') : [],
  };
}

/** What npm prints in place of an answer. A package can be called `error`, so that the key alone says nothing. */
const failure = z.object({
  error: z.object({ summary: z.string(), detail: z.string().optional(), code: z.string().optional() }),
});

function answerOf(stdout: string): unknown {
  const answer: unknown = JSON.parse(stdout);
  const failed = failure.safeParse(answer).data?.error;
  // `npm ls` answers in full and says in `error` that there are problems.
  if (!failed || failed.code === 'ELSPROBLEMS') return answer;
  const { message } = z.object({ message: z.string().optional() }).parse(answer);
  throw new ToolcribError('PROGRAM_FAILED', `npm: ${message ?? failed.summary}`, failed.detail);
}

const installed = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  get dependencies() {
    return z.record(z.string(), installed).optional();
  },
});
type Installed = z.infer<typeof installed>;

export const listResult = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  packages: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      within: z.string().optional().describe('The packages that lead to it'),
      from: z.string().optional().describe('Where it is from, when not from a registry'),
    }),
  ),
  problems: z.array(z.string()),
});

export function listPackages(stdout: string) {
  const root = installed
    .extend({ name: z.string().optional(), problems: z.array(z.string()).default([]) })
    .parse(answerOf(stdout));
  return {
    name: root.name,
    version: root.version,
    packages: packagesOf(root, []),
    problems: root.problems,
  };
}

function packagesOf({ dependencies = {} }: Installed, trail: readonly string[]): object[] {
  return Object.entries(dependencies).flatMap(([dependency, node]) => {
    // Missing ones are among the problems, or are optional and for another system.
    if (node.version === undefined) return [];
    const found = {
      name: dependency,
      version: node.version,
      ...(trail.length > 0 && { within: trail.join(' > ') }),
      ...(node.resolved !== undefined && !/^https?:/.test(node.resolved) && { from: node.resolved }),
    };
    return [found, ...packagesOf(node, [...trail, `${dependency}@${node.version}`])];
  });
}

const outdated = z.object({
  current: z.string().optional(),
  wanted: z.string(),
  latest: z.string(),
  dependent: z.string().optional(),
});

export const outdatedResult = z.object({
  packages: z.array(
    z.object({
      name: z.string(),
      current: z.string().optional().describe('Absent: not installed'),
      wanted: z.string().describe('Newest that package.json allows'),
      latest: z.string(),
      dependent: z.string().optional(),
    }),
  ),
});

export function listOutdated(stdout: string) {
  const byName = z
    .record(z.string(), z.union([outdated, z.array(outdated)]))
    .parse(answerOf(stdout.trim() === '' ? '{}' : stdout));
  return {
    packages: Object.entries(byName).flatMap(([dependency, entries]) =>
      [entries].flat().map((entry) => ({ name: dependency, ...entry })),
    ),
  };
}

export const viewResult = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string().optional(),
  license: z.string().optional(),
  homepage: z.string().optional(),
  repository: z.string().optional(),
  deprecated: z.string().optional(),
  engines: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  peer_dependencies: z.record(z.string(), z.string()),
  tags: z.record(z.string(), z.string()),
});

export function describePublished(stdout: string) {
  const answer = answerOf(stdout);
  const published = z.array(unknownRecord).parse([answer].flat());
  if (published.length > 1) {
    throw new ToolcribError(
      'ARG_INVALID',
      `package: ${published.length} versions match.`,
      'Give a full version such as 1.2.3, or a tag.',
    );
  }
  return describeVersion(published[0] ?? {});
}

function describeVersion(published: Record<string, unknown>) {
  // Old packages have { type, url }.
  const license = z.union([z.string(), z.object({ type: z.string() })]).safeParse(published['license']).data;
  return {
    name: z.string().parse(published['name']),
    version: z.string().parse(published['version']),
    description: stringOr(published['description'], undefined),
    license: typeof license === 'object' ? license.type : license,
    homepage: stringOr(published['homepage'], undefined),
    repository: stringOr(published['repository.url'], undefined),
    deprecated: stringOr(published['deprecated'], undefined),
    engines: onlyStrings(published['engines']),
    dependencies: onlyStrings(published['dependencies']),
    peer_dependencies: onlyStrings(published['peerDependencies']),
    tags: onlyStrings(published['dist-tags']),
  };
}

const auditReport = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      name: z.string(),
      severity: z.string(),
      isDirect: z.boolean().default(false),
      range: z.string(),
      via: z.array(z.union([z.string(), z.object({ title: z.string(), url: z.string().optional() })])),
      fixAvailable: z
        .union([z.boolean(), z.object({ name: z.string(), version: z.string() })])
        .default(false),
    }),
  ),
});

export const auditResult = z.object({
  vulnerabilities: z.array(
    z.object({
      name: z.string(),
      severity: z.string(),
      direct: z.boolean(),
      range: z.string(),
      because: z.array(z.string()).describe('Advisories, or names of the vulnerable packages it needs'),
      fix: z.string().optional().describe('What repairs it'),
    }),
  ),
});

export function listVulnerabilities(stdout: string) {
  const { vulnerabilities } = auditReport.parse(answerOf(stdout));
  return {
    vulnerabilities: Object.values(vulnerabilities).map((found) => ({
      name: found.name,
      severity: found.severity,
      direct: found.isDirect,
      range: found.range,
      because: found.via.map((why) =>
        typeof why === 'string' ? why : [why.title, why.url].filter(Boolean).join(' '),
      ),
      fix: fixOf(found.fixAvailable),
    })),
  };
}

function fixOf(fix: boolean | { name: string; version: string }): string | undefined {
  if (typeof fix === 'object') return `${fix.name}@${fix.version}`;
  return fix ? 'a newer version within the range' : undefined;
}
