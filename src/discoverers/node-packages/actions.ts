import {
  action,
  matching,
  name,
  on,
  operand,
  type Output,
  type Params,
  present,
  type Program,
  type Reader,
  saidAfter,
  type Slot,
  told,
  words,
} from '../../core/grammar.ts';
import { advisories, packages, tasks } from '../reports/kinds.ts';
import { packageActions } from '../shared/packages.ts';
import { asks, makes, reaches, reads, runs, runsProgram } from '../shared/programs.ts';
import { ofNamedTask } from '../shared/tasks.ts';
import * as read from './readers.ts';
import type { PackageManagerRow } from './rows.ts';

// npm-package-arg takes what looks like an archive, with or without a version behind it, for a file of the
// folder.
const isArchive = /\.(?:tgz|tar|tar\.gz)(?:@|$)/i;
const start = String.raw`^(?:(?:npm|jsr):)?(?:@[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*`;
const packageText = (version: string, says: string) =>
  matching(new RegExp(`${start}${version}$`), says, `Package: ${says}`)
    .max(300)
    .refine((spec) => !isArchive.test(spec), 'expected a package of the registry, not an archive');
const exactly = packageText('', 'name or @scope/name');
// Half a version would be a range, and match several.
const version = String.raw`(?:@(?:\d+\.\d+\.\d+[\w.+-]*|[A-Za-z][\w.-]*))?`;
const pinned = packageText(version, 'name, name@1.2.3, name@tag');
const range = String.raw`(?:@[\^~]?[A-Za-z0-9][\w.+-]*)?`;
const ranged = packageText(range, 'name, name@1.2.3, name@^1.2, name@tag; no URL');

const ifAny = <T, R>(value: T | undefined, make: (value: T) => R) => value && make(value);

/** The words of a program about a change, and which versions of the packages are there now. */
const nowThere =
  (list: Reader<read.PackageList>) =>
  (output: Output): string => {
    const asked = (output.values['packages'] as string[]).map((spec) => spec.replace(/(.)@.*/, '$1'));
    const found = list({ ...output, stdout: saidAfter(output, 'now') })
      .filter((one) => asked.length === 0 || asked.includes(one.name))
      .map((one) => `${one.name} ${one.version ?? one.problem}`);
    return [output.stdout.trim(), output.stderr.trim(), ...found].filter(Boolean).join('\n');
  };

/** The words of a program about a change, without its noise. */
const calmed = (noise: RegExp) =>
  told(({ stdout, stderr }) =>
    [stdout, stderr]
      .flatMap((text) => text.trim().split('\n'))
      .filter((line) => line !== '' && !noise.test(line))
      .join('\n'),
  );

/**
 * Keeping packages. Hooks of the project's own are run: of pnpm and Yarn always, of npm before 11 for some.
 */
export function keeping(row: PackageManagerRow, scope: Params): Program['actions'] {
  const { title, quiet, install, within, list, outdated, noise } = row;
  const [looks, asking] = row.runsProject ? [runs, reaches] : [reads, asks];
  return {
    ...packageActions(`${title} packages`, {
      like: 'semver',
      spec: ranged,
      bare: exactly,
      changes: makes,
      looks,
      asks: asking,
      all: scope,
      adding: { dev: on(row.dev, 'For development only') },
      add: [row.add, ...quiet],
      remove: [row.remove, ...quiet],
      update: [row.update, ...(within ? [within.option] : []), ...quiet],
      ...(within && { whole: [within.all] }),
      answer: row.saysNoVersions
        ? { steps: { after: { now: () => list[0] } }, out: told(nowThere(list[1])) }
        : noise && { out: calmed(noise) },
      why: row.why,
      explained: told(read.why),
      list: [list[0], packages(list[1])],
      outdated: outdated && [outdated[0], packages(outdated[1])],
    }),
    install: action(`Install with ${title}`, 'Installs the dependencies, without their scripts.', makes, {
      role: 'install',
      run: ({ frozen: how }) => [how, ...quiet],
      params: { frozen: on(install.frozen, 'Exactly what the lock file says', install.usual) },
      given: { frozen: true },
      ...(noise && { out: calmed(noise) }),
    }),
    ...present({
      audit: ifAny(row.audit, ([run, found]) =>
        action(`Audit ${title} packages`, 'Known vulnerabilities of the locked packages.', asking, {
          role: 'audit',
          run,
          ok: [0, 1],
          out: advisories(found),
        }),
      ),
      view: ifAny(row.view, ([before, after = []]) =>
        action(`Look up a package with ${title}`, 'Versions, licence and dependencies.', asking, {
          run: ({ package: name }) => [...before, name, ...after],
          params: { package: operand(pinned) },
          given: { package: 'react@latest' },
          ok: [0, 1],
          out: told(read.view),
        }),
      ),
    }),
  };
}

export function running(row: PackageManagerRow, scope: Params): Program['actions'] {
  const { title, task = 'run', between, more, workspace } = row;
  const gap = between ? [between] : [];
  const args = words('Arguments of the script');
  const where = { ...scope, ...(workspace && { workspaces: on(workspace.all, 'In all packages') }) };
  const files = task === 'task' ? ['deno.json', 'deno.jsonc', 'package.json'] : ['package.json'];
  return present({
    // Asking a program would obey the project's settings.
    scripts: action(`List ${title} scripts`, 'Scripts, engines, workspaces of the package.json.', reads, {
      role: 'tasks',
      run: { reads: files },
      out: tasks(read.scripts),
    }),
    [task]: action(`Run a ${title} script`, 'Runs a script of the package.json.', runs, {
      role: 'task',
      moreEffects: ofNamedTask,
      run: ({ task: script, args: rest, ...at }: Readonly<Record<string, Slot>>) =>
        [task, at['workspace'], at['workspaces'], script, ...gap, rest].filter((one) => one !== undefined),
      params: { ...where, task: operand(name('Script')), args } as Params,
      given: { task: 'build', args: ['--watch=false'] },
    }),
    exec: ifAny(row.exec, (before) =>
      runsProgram(`Run a program with ${title}`, 'Runs an installed program of node_modules.', before, 'tsc'),
    ),
    test: action(`Run the ${title} test script`, 'Runs the test script of the package.json.', runs, {
      run: ({ args: rest }) => ['test', ...gap, rest],
      params: { args },
      given: { args: ['test/cart.test.js'] },
    }),
    ...more,
  });
}
