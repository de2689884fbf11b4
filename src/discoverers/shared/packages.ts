import * as z from 'zod';
import type { Effect } from '../../core/discoverer.ts';
import { operand, required, type Params } from '../../core/parameter.ts';
import { list, name, some } from '../../core/params.ts';
import { action, present, type Line } from '../../core/program.ts';
import type { Report } from '../../core/report.ts';

type Words = readonly string[];
interface PackageWords {
  /** A package, as an example. */
  readonly like: string;
  /** A package with the versions that are wanted, and its bare name; any name when left out. */
  readonly spec?: z.ZodType;
  readonly bare?: z.ZodType;
  /** Effects of what changes, and of what looks. */
  readonly changes: readonly Effect[];
  readonly looks: readonly Effect[];
  /** Parameters beside: of all, of adding, of removing, of getting, of lists. */
  readonly all?: Params;
  readonly adding?: Params;
  readonly removing?: Params;
  readonly getting?: Params;
  readonly listing?: Params;
  readonly install?: Words;
  readonly add?: Words;
  readonly remove?: Words;
  readonly update?: Words;
  /** The option that names each package to update, where that is no operand. */
  readonly each?: string;
  readonly why?: Line<{ package: unknown }>;
  readonly list?: readonly [Words, Report];
  readonly outdated?: readonly [Words, Report];
}

/** What is done with packages everywhere, by the words that a program has for it; `of`: what it calls them. */
export function packageActions(of: string, { like, changes, looks, ...words }: PackageWords) {
  const { install, add, remove, update, each, why, list: listed, outdated } = words;
  const { all, adding, removing, getting, listing, bare = name('Package'), spec = bare } = words;
  const change = (
    role: 'add' | 'remove' | 'update',
    title: string,
    says: string,
    run?: Words,
    params?: Params,
  ) =>
    run &&
    action(`${title} ${of}`, says, changes, {
      ...{ role, run, dashes: false, params: { ...all, ...params }, given: { packages: [like] } as never },
    });
  const these = list(bare, 'Only these');
  const lists = { ...all, ...listing } as Params;
  return present({
    install:
      install &&
      action(`Get ${of}`, 'Gets what the project needs.', changes, {
        ...{ role: 'install', run: install, params: { ...all, ...getting } as Params },
      }),
    add: change('add', 'Add', 'Adds packages to the project.', add, {
      ...adding,
      packages: operand(some(spec, 'Packages')),
    }),
    remove: change('remove', 'Remove', 'Removes packages from it.', remove, {
      ...removing,
      packages: operand(some(bare, 'Packages')),
    }),
    update: change('update', 'Update', 'Moves packages to the newest versions that fit.', update, {
      packages: each ? required(each, these) : operand(these),
    }),
    why:
      why &&
      action(`Explain one of the ${of}`, 'What leads to a package.', looks, {
        ...{
          role: 'why',
          run: why,
          dashes: false,
          params: { package: operand(bare) },
          given: { package: like },
        },
      }),
    list:
      listed &&
      action(`List ${of}`, 'Packages of the project.', looks, {
        ...{ role: 'list', run: listed[0], params: lists, out: listed[1] },
      }),
    outdated:
      outdated &&
      action(`List outdated ${of}`, 'Packages that have newer versions.', looks, {
        // Some end so when there are.
        ...{ role: 'outdated', run: outdated[0], params: lists, ok: [0, 1], out: outdated[1] },
      }),
  });
}
