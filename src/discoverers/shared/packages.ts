import * as z from 'zod';
import {
  action,
  type ActionSpec,
  type Effect,
  type Line,
  list,
  matching,
  name,
  operand,
  type Params,
  present,
  type Reader,
  type Report,
  required,
  some,
  told,
  ToolcribError,
} from '../../core/grammar.ts';

type PackageLine = readonly string[];
interface PackageLines {
  /** A package, as an example. */
  readonly like: string;
  /** A package with the versions that are wanted, and its bare name; any name when left out. */
  readonly spec?: z.ZodType<string>;
  readonly bare?: z.ZodType<string>;
  /** Effects of what changes, of what looks, and of what asks for newer versions, where that is more. */
  readonly changes: readonly Effect[];
  readonly looks: readonly Effect[];
  readonly asks?: readonly Effect[];
  /** Parameters beside: of all, of adding, of removing, of getting, of lists. */
  readonly all?: Params | undefined;
  readonly adding?: Params;
  readonly removing?: Params;
  readonly getting?: Params;
  readonly listing?: Params;
  readonly install?: PackageLine;
  readonly add?: PackageLine;
  readonly remove?: PackageLine;
  readonly update?: PackageLine;
  /** The option that names each package to update, where that is no operand. */
  readonly each?: string;
  /** The words for all packages, when none to update is named; nothing is written when left out. */
  readonly whole?: readonly string[];
  /** Its words, while it succeeds, that a package of this group was not there to be removed. */
  readonly absent?: RegExp;
  /** The answer of adding and updating, where the program says too little. */
  readonly answer?: Pick<ActionSpec<Params>, 'steps' | 'out'> | undefined;
  readonly why?: Line<{ package: unknown }>;
  readonly explained?: Report;
  readonly list?: readonly [PackageLine, Report];
  readonly outdated?: readonly [PackageLine, Report] | undefined;
}

/** A name, with a version perhaps: no address, and no path. */
const packageName = matching(
  /^[A-Za-z0-9][\w.+-]*(?:\/[\w.+-]+)*(?:@[\w.^~<>=*+-]+)?$/,
  'the name of a package, with @version perhaps; no address, no path',
  'Package',
);

/** The answer of a removal. Throws NOT_FOUND where none of the packages was there. */
const unlessAbsent =
  (absent: RegExp): Reader<string> =>
  ({ stdout, stderr, values }) => {
    const said = `${stdout.trim()}\n${stderr.trim()}`.trim();
    const missing = [...said.matchAll(absent)].map((found) => found[1] ?? '');
    if (missing.length >= (values['packages'] as readonly string[]).length)
      throw new ToolcribError(
        'NOT_FOUND',
        `packages: ${missing.join(', ')}: not there, nothing was removed.`,
      );
    return said || 'removed';
  };

/** The actions on packages, by the words that a program has for them; `of`: what it calls packages. */
export function packageActions(of: string, lines: PackageLines) {
  const { like, changes, install, add, remove, update, each, answer, absent, whole = [] } = lines;
  const { all, adding, removing, getting, bare = packageName, spec = bare } = lines;
  const removed = absent && { out: told(unlessAbsent(absent)) };
  const change = (role: 'Add' | 'Remove' | 'Update', says: string, run?: PackageLine, params?: Params) =>
    run &&
    action<Params>(`${role} ${of}`, says, changes, {
      role: role.toLowerCase() as 'add',
      run,
      dashes: false,
      params: { ...all, ...params },
      given: { packages: [like] },
      ...(role === 'Remove' ? removed : answer),
    });
  const these = list(bare, 'Only these').default([...whole]);
  return present({
    install:
      install &&
      action(`Get ${of}`, 'Installs the dependencies of the project.', changes, {
        role: 'install',
        run: install,
        params: { ...getting } as Params,
      }),
    add: change('Add', 'Adds packages to the project.', add, {
      ...adding,
      packages: operand(some(spec, 'Packages')),
    }),
    remove: change('Remove', 'Removes packages from it.', remove, {
      ...removing,
      packages: operand(some(bare, 'Packages')),
    }),
    update: change('Update', 'Moves packages to the newest versions that fit.', update, {
      packages: each ? required(each, these) : operand(these),
    }),
    ...lookingActions(of, lines),
  });
}

/** The actions that look at packages and change nothing. */
function lookingActions(of: string, lines: PackageLines) {
  const { like, looks, asks = looks, why, explained, list: listed, outdated } = lines;
  const { all, listing, bare = name('Package') } = lines;
  const lists = { ...all, ...listing } as Params;
  return {
    why:
      why &&
      action(`Explain one of the ${of}`, 'Why a package is installed: what leads to it.', looks, {
        role: 'why',
        run: why,
        dashes: false,
        params: { package: operand(bare) },
        given: { package: like },
        ...(explained && { out: explained }),
      }),
    list:
      listed &&
      action(`List ${of}`, 'Installed packages of the project.', looks, {
        role: 'list',
        run: listed[0],
        params: lists,
        // Some end so when something is wrong with one of them.
        ok: [0, 1],
        out: listed[1],
      }),
    outdated:
      outdated &&
      action(`List outdated ${of}`, 'Packages that have newer versions.', asks, {
        role: 'outdated',
        run: outdated[0],
        params: lists,
        // Some end so when there are.
        ok: [0, 1],
        out: outdated[1],
      }),
  };
}
