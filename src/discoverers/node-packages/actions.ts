import * as z from 'zod';
import type { Effect } from '../../core/discoverer.ts';
import { operand, on, option, words, type Params } from '../../core/parameter.ts';
import { list, name, some } from '../../core/params.ts';
import { action, type ProgramAction } from '../../core/program.ts';
import { told, type Output, type Reader } from '../../core/report.ts';
import { advisories, packages, tasks } from '../reports/kinds.ts';
import * as read from './readers.ts';
import type { Row } from './rows.ts';

// npm-package-arg takes what looks like an archive, with or without a version behind it, for a file of the folder.
const isArchive = /\.(?:tgz|tar|tar\.gz)(?:@|$)/i;
const start = String.raw`^(?:(?:npm|jsr):)?(?:@[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*`;
const packageText = (version: string, says: string) =>
  z
    .string()
    .max(300)
    .regex(new RegExp(`${start}${version}$`), `expected ${says}`)
    .refine((spec) => !isArchive.test(spec), 'expected a package of the registry, not an archive')
    .describe(`Package: ${says}`);
const exactly = packageText('', 'name or @scope/name');
// Half a version would be a range, and match several.
const pinned = packageText(
  String.raw`(?:@(?:\d+\.\d+\.\d+[\w.+-]*|[A-Za-z][\w.-]*))?`,
  'name, name@1.2.3, name@tag',
);
const ranged = packageText(
  String.raw`(?:@[\^~]?[A-Za-z0-9][\w.+-]*)?`,
  'name, name@1.2.3, name@^1.2, name@tag; no URL',
);

/** Titles and descriptions; `#` is the package manager. */
const texts = {
  list: ['List # packages', 'Installed packages, and what is wrong with them.'],
  why: ['Why # installed a package', 'What depends on a package, and in which versions.'],
  outdated: ['List outdated # packages', 'Direct dependencies with newer versions in the registry.'],
  audit: ['Audit # packages', 'Known vulnerabilities of the locked packages, asked of the registry.'],
  view: ['Look up a package with #', 'Versions, licence, dependencies of a package in the registry.'],
  install: ['Install with #', 'Installs what the project needs, without scripts of packages.'],
  add: ['Add # packages', 'Adds packages of the registry, without running their scripts.'],
  remove: ['Remove # packages', 'Removes packages from the project.'],
  update: ['Update # packages', 'Updates packages within their ranges.'],
  scripts: ['List # scripts', 'Scripts, engines, workspaces and package manager of the package.json.'],
  run: ['Run a # script', 'Runs a script of the package.json.'],
  exec: ['Run an installed program with #', 'Runs a program of node_modules; fetches nothing.'],
  test: ['Run the # test script', 'Runs the test script of the package.json.'],
} as const;
const act = <const P extends Params = Record<never, never>>(
  { title }: Row,
  key: keyof typeof texts,
  effects: readonly Effect[],
  spec: Parameters<typeof action<P>>[3],
) => action<P>(texts[key][0].replace('#', title), texts[key][1], effects, spec);
const ifAny = <T, R>(value: T | undefined, make: (value: T) => R) => value && make(value);

const scope = ({ workspace }: Row) =>
  workspace && { workspace: option(workspace.one, name('Only this package of the workspace')) };
const everywhere = ({ workspace }: Row) =>
  workspace && { workspaces: on(workspace.all, 'In all packages of the workspace') };

export function looking(row: Row): Record<string, ProgramAction | undefined> {
  const [run, reader] = row.list;
  const looks: readonly Effect[] = [row.runsProject ? 'execute' : 'read'];
  const asks: readonly Effect[] = [...looks, 'network'];
  const within = { ...scope(row), ...everywhere(row) };
  const levels = z.int().min(0).max(20).default(0).describe('Levels below the direct ones');
  const depth = option('--depth=', levels);
  const params = { ...(reader === read.tree && { depth }), ...within };
  const [whichOne, given] = [{ package: operand(exactly) }, { package: 'semver' }];
  return {
    list: act(row, 'list', looks, { role: 'list', run, params, ok: [0, 1], out: packages(reader) }),
    why: act(row, 'why', looks, {
      ...{ role: 'why', run: row.why, params: whichOne, given, dashes: false, out: told(read.why) },
    }),
    outdated: ifAny(row.outdated, ([run, newer]) =>
      act(row, 'outdated', asks, { role: 'outdated', run, params: within, ok: [0, 1], out: packages(newer) }),
    ),
    audit: ifAny(row.audit, ([run, found, ok]) =>
      act(row, 'audit', asks, { role: 'audit', run, ok, out: advisories(found) }),
    ),
    view: ifAny(row.view, ([before, described, after = []]) =>
      act(row, 'view', asks, {
        run: ({ package: name }) => [...before, name, ...after],
        params: { package: operand(pinned) },
        given: { package: 'react@latest' },
        ok: [0, 1],
        out: told(described),
      }),
    ),
  };
}

/** What it said, and which versions of the packages are there now. */
const nowThere =
  (list: Reader<read.Packages>) =>
  (output: Output): string => {
    const asked = (output.values['packages'] as string[]).map((spec) => spec.replace(/(.)@.*/, '$1'));
    const found = list({ ...output, stdout: output.after['now'] ?? '' })
      .filter((one) => asked.length === 0 || asked.includes(one.name))
      .map((one) => `${one.name} ${one.version ?? one.problem}`);
    return [output.stdout.trim(), output.stderr.trim(), ...found].filter(Boolean).join('\n');
  };

export function changing(row: Row): Record<string, ProgramAction> {
  const { change, quiet, install, within } = row;
  const [ls, listed] = row.list;
  // Hooks of the project's own are run: of pnpm and Yarn always, of npm before 11 for a git dependency.
  const effects = ['write', 'execute', 'network'] as const;
  const saying = row.saysNoVersions && { after: { now: () => ls }, out: told(nowThere(listed)) };
  const frozen = on(install.frozen, 'Exactly what the lock file says', install.usual);
  const adds = {
    ...scope(row),
    dev: on(change.dev, 'For development only'),
    exact: on(change.exact, 'Exactly this version, no range'),
    packages: operand(some(ranged, 'Packages to add')),
  };
  const removes = { ...scope(row), packages: operand(some(exactly, 'Packages to remove')) };
  const which = list(exactly, 'Only these; none: all').default(within ? [within.all] : []);
  const updates = { ...scope(row), packages: operand(which) };
  const given = { packages: ['semver'] };
  const dashes = false;
  return {
    install: act(row, 'install', effects, {
      role: 'install',
      run: ({ frozen: how }) => [how, ...quiet],
      params: { frozen },
      given: { frozen: true },
    }),
    add: act(row, 'add', effects, {
      ...{ role: 'add', run: [change.add, ...quiet], params: adds, dashes, ...saying },
      given: { packages: ['vitest@^4.0.0'], dev: true },
    }),
    [change.remove]: act(row, 'remove', effects, {
      ...{ role: 'remove', run: [change.remove, ...quiet], params: removes, given, dashes },
    }),
    [change.update]: act(row, 'update', effects, {
      run: [change.update, ...(within ? [within.option] : []), ...quiet],
      ...{ role: 'update', params: updates, given, dashes, ...saying },
    }),
  };
}

export function running(row: Row): Record<string, ProgramAction | undefined> {
  const { task = 'run', between, more } = row;
  const gap = between ? [between] : [];
  const args = words('Arguments of the script');
  const reads = task === 'task' ? ['deno.json', 'deno.jsonc', 'package.json'] : ['package.json'];
  return {
    // Asking a program would obey the project's settings.
    scripts: act(row, 'scripts', ['read'], { role: 'tasks', reads, out: tasks(read.scripts) }),
    [task]: act(row, 'run', ['execute'], {
      role: 'task',
      run: ({ workspace, workspaces, task: script, args: rest }) =>
        [task, workspace, workspaces, script, ...gap, rest].filter((piece) => piece !== undefined),
      params: { ...scope(row), ...everywhere(row), task: operand(name('Script')), args },
      given: { task: 'build', args: ['--watch=false'] },
    }),
    exec: ifAny(row.exec, (before) =>
      act(row, 'exec', ['execute'], {
        run: ({ program, args: rest }) => [...before, program, rest],
        params: { program: operand(name('Program')), args: words('Its arguments') },
        given: { program: 'tsc', args: ['--noEmit'] },
      }),
    ),
    test: act(row, 'test', ['execute'], {
      run: ({ args: rest }) => ['test', ...gap, rest],
      params: { args },
      given: { args: ['test/cart.test.js'] },
    }),
    ...more,
  };
}
