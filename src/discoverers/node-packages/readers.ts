import * as z from 'zod';
import { type Reader, ToolcribError } from '../../core/grammar.ts';
import type { advisories, packages, tasks } from '../reports/kinds.ts';
import { json, jsonLines, lines } from '../reports/readers.ts';

/** The fields of a kind that is a list. */
export type PackageItems<K extends { result: z.ZodType }> =
  z.input<K['result']> extends { items: infer I } ? I : never;
export type PackageList = PackageItems<typeof packages>;
export type AdvisoryList = PackageItems<typeof advisories>;

const text = z.string();
const said = text.optional();
const record = <T extends z.ZodType>(schema: T) => z.record(text, schema);

/**
 * An error that is printed in place of an answer. A package can be called `error`, so that the key alone says
 * nothing.
 */
const failure = z.object({
  message: said,
  error: z.object({ summary: said, message: said, code: said }).optional(),
  uri: said,
});

/** A JSON answer. Throws PROGRAM_FAILED with the few words in which it says that there is none. */
const answer =
  <S extends z.ZodType, T>(schema: S, map: (found: z.output<S>) => T): Reader<T> =>
  (output) => {
    const { stdout } = output;
    const start = stdout.search(/^[[{]/m);
    const whole = start < 0 ? '{}' : stdout.slice(start);
    const { error, message, uri } = failure.safeParse(JSON.parse(whole)).data ?? {};
    // `npm ls` answers in full and says in `error` that there are problems.
    const failed = error?.code === 'ELSPROBLEMS' ? undefined : error;
    const why = failed?.summary || failed?.message || (failed || uri ? message : undefined);
    if (why !== undefined) throw new ToolcribError('PROGRAM_FAILED', why.trim());
    if (start < 0 && stdout.trim() !== '') throw new Error('expected JSON');
    return json(schema, map)({ ...output, stdout: whole });
  };

// ---- what is installed

const node = z.object({
  version: said,
  missing: z.boolean().optional(),
  problems: z.array(text).default([]),
  invalid: said,
  extraneous: z.boolean().optional(),
  resolved: said,
  get dependencies() {
    return z.record(z.string(), node).optional();
  },
  get devDependencies() {
    return z.record(z.string(), node).optional();
  },
  get optionalDependencies() {
    return z.record(z.string(), node).optional();
  },
});
type DependencyNode = z.output<typeof node>;

const problemOf = ({
  missing,
  problems: [first = 'missing'],
  invalid,
  extraneous,
  resolved,
}: DependencyNode) => {
  if (missing) return first;
  if (invalid) return `does not fit ${invalid}`;
  if (extraneous) return 'extraneous';
  return resolved !== undefined && !/^https?:/.test(resolved) ? resolved : undefined;
};
const below = (of: DependencyNode, within: string): PackageList =>
  Object.entries({ '': of.dependencies, dev: of.devDependencies, optional: of.optionalDependencies }).flatMap(
    ([group, all = {}]) =>
      Object.entries(all).flatMap(([name, one]) => {
        const problem = problemOf(one);
        // An optional one for another system is not there, and that is no problem.
        const here = { name, version: one.version, group: within || group || undefined, problem };
        const trail = `${within && `${within} > `}${name}`;
        return [
          ...(one.version || problem ? [here] : []),
          ...below(one, within === '' ? `in ${name}` : trail),
        ];
      }),
  );
/** The tree of npm, or those of pnpm, one for each package of a workspace. */
export const tree = answer(z.union([z.array(node.extend({ name: said })), node]), (all) =>
  Array.isArray(all) && all.length > 1
    ? all.flatMap((one) => below(one, `in ${one.name}`))
    : [all].flat().flatMap((one) => below(one, '')),
);

/** `name@version`, `@scope/name@npm:version`. */
export const versioned = (spec: string) => {
  const cut = spec.lastIndexOf('@');
  return { name: spec.slice(0, cut), version: spec.slice(cut + 1).replace(/^npm:/, '') };
};
const listed = z.object({ data: z.object({ trees: z.array(z.object({ name: text })) }) });
export const yarn1List = jsonLines(listed, (all) => {
  if (all.length === 0) throw new Error('no list');
  return all.flatMap(({ data }) => data.trees.map((one) => versioned(one.name)));
});
const located = z.object({ value: text, children: z.object({ Version: text }) });
export const yarnList = jsonLines(located, (all) =>
  all
    .filter(({ value }) => !value.includes('@workspace:'))
    .map(({ value, children }) => ({ name: value.replace(/(.)@.*/, '$1'), version: children.Version })),
);
const denoLine = /^│ (?:npm:)?(?<name>[@\w][\w./:-]*) +│ (?<wanted>\S+) +│ (?<version>\d\S*)/;
export const denoList: Reader<PackageList> = lines(denoLine, ({ name = '', version }) => ({ name, version }));

// ---- what is outdated

/** The version that the project allows is only told where it is newer than what there is. */
const newer = (one: PackageList[number]) => ({
  ...one,
  wanted: one.wanted === one.version ? undefined : one.wanted,
});
const one = z.object({ current: said, wanted: said, latest: text, dependent: said, dependencyType: said });
export const outdated = answer(record(z.union([one, z.array(one)])), (all) =>
  Object.entries(all).flatMap(([name, each]) =>
    [each].flat().map(({ current: version, dependent, dependencyType: type, wanted, latest }) => {
      const group = Array.isArray(each) ? dependent : type?.replace(/d?ependencies$/i, '') || undefined;
      return newer({ name, version, wanted, latest, group });
    }),
  ),
);
const cell = (name: string) => `(?<${name}>\\d\\S*) +[|│] `;
const row = `^[|│] (?:npm:)?(?<name>[@\\w][\\w./:-]*)(?: \\((?<group>\\w+)\\))? +[|│] `;
/** The tables of Bun and Deno. */
export const tabled: Reader<PackageList> = lines(
  new RegExp(`${row}${cell('version')}${cell('wanted')}(?<latest>\\d\\S*)`),
  (found) => newer({ ...found, name: found['name'] ?? '' }),
);

// ---- what is known to be vulnerable

const via = z.object({ title: text, severity: text, url: said, range: text });
const fix = z.union([z.boolean(), z.object({ name: text, version: text })]).optional();
const vulnerable = z.object({ via: z.array(z.union([via, text])), fixAvailable: fix });
export const npmAudit = answer(z.object({ vulnerabilities: record(vulnerable) }), ({ vulnerabilities }) =>
  Object.entries(vulnerabilities).flatMap(([name, { via: causes, fixAvailable }]) =>
    causes.flatMap((cause) => {
      if (typeof cause === 'string') return [];
      const by =
        typeof fixAvailable === 'object' ? `; fixed by ${fixAvailable.name}@${fixAvailable.version}` : '';
      return [{ ...cause, package: name, title: cause.title + by, affected: cause.range }];
    }),
  ),
);
const advisory = z.object({ severity: text, title: text, url: said, vulnerable_versions: text });
const ofPackage = (name: string, found: z.output<typeof advisory>) => ({
  ...found,
  package: name,
  affected: found.vulnerable_versions,
});
const inModule = advisory.extend({ module_name: text });
export const pnpmAudit = answer(z.object({ advisories: record(inModule) }), (all) =>
  Object.values(all.advisories).map((found) => ofPackage(found.module_name, found)),
);
export const bunAudit = answer(record(z.array(advisory)), (all) =>
  Object.entries(all).flatMap(([name, each]) => each.map((found) => ofPackage(name, found))),
);

// ---- what a registry, and a package.json, say of a package

const strings = record(text).catch({});
const published = z.object({
  name: text,
  version: said,
  description: said,
  // Old packages have an object.
  license: said.catch(undefined),
  homepage: said.catch(undefined),
  deprecated: z.union([text, z.boolean()]).optional(),
  engines: strings,
  dependencies: strings,
  peerDependencies: strings,
  'dist-tags': strings,
});
const pairs = (all: Readonly<Record<string, string>>) =>
  Object.entries(all)
    .map(([name, range]) => `${name} ${range}`)
    .join(', ');
/** Facts that are known, `key: fact`. */
const factsOf = (all: Readonly<Record<string, string | undefined>>) =>
  Object.entries(all).flatMap(([key, value]) => (value ? [`${key}: ${value}`] : []));
const describe = ({
  name,
  version,
  description,
  'dist-tags': tags,
  ...found
}: z.output<typeof published>) => [
  [`${name}@${version ?? tags['latest']}`, description].filter(Boolean).join(': '),
  ...factsOf({
    deprecated: String(found.deprecated || ''),
    license: found.license,
    homepage: found.homepage,
    engines: pairs(found.engines),
    dependencies: pairs(found.dependencies),
    'peer dependencies': pairs(found.peerDependencies),
    tags: pairs(tags),
  }),
];
/** One version of a package, as `view --json` has it. Throws for several. */
export const view = answer(z.union([z.array(published).min(1), published]), (found) => {
  const [first, ...others] = [found].flat();
  if (!first || others.length > 0)
    throw new ToolcribError(
      'ARG_INVALID',
      `package: ${others.length + 1} versions match.`,
      'Give a full version or a tag.',
    );
  return describe(first).join('\n');
});
/** The reason why a package is there, without what Yarn 1 says of its own doings. */
export const why: Reader<string> = ({ stdout, stderr, values }) => {
  const said = stdout.replaceAll(/^(?:yarn why|\[\d\/\d\]|Done in|info (?:Disk|Number)).*\n?/gm, '').trim();
  return said || stderr.trim() || `${String(values['package'])} is not installed here`;
};

const manifest = z.object({
  packageManager: said.catch(undefined),
  engines: strings,
  scripts: strings,
  tasks: record(z.union([text, z.object({ command: said, description: said })])).catch({}),
  workspaces: z
    .union([z.array(text), z.object({ packages: z.array(text) }).transform((all) => all.packages)])
    .catch([]),
});
/** Scripts of a package.json, or tasks of a deno.json, which may have comments. */
export const scripts: Reader<z.input<(typeof tasks)['result']>> = ({ stdout }) => {
  const plain = stdout.replace(/^\uFEFF/, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const found = manifest.parse(JSON.parse(plain));
  const more = factsOf({
    'package manager': found.packageManager,
    engines: pairs(found.engines),
    workspaces: found.workspaces.join(', '),
  });
  const all = Object.entries({ ...found.scripts, ...found.tasks }).map(([name, task]) =>
    typeof task === 'string'
      ? { name, command: task }
      : { name, command: task.command, says: task.description },
  );
  return { total: all.length, items: all, ...(more.length > 0 && { more: more.join('; ') }) };
};
