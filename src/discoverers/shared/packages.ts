import type { Effect } from '../../core/discoverer.ts';
import { operand } from '../../core/parameter.ts';
import { list, name, some } from '../../core/params.ts';
import { action, present } from '../../core/program.ts';
import type { Report } from '../../core/report.ts';

type Words = readonly string[];
interface PackageWords {
  /** A package, as an example. */
  readonly like: string;
  /** Effects of what changes, and of what looks. */
  readonly changes: readonly Effect[];
  readonly looks: readonly Effect[];
  readonly install?: Words;
  readonly add?: Words;
  readonly remove?: Words;
  readonly update?: Words;
  readonly why?: Words;
  readonly list?: readonly [Words, Report];
  readonly outdated?: readonly [Words, Report];
}

/** What is done with packages everywhere, by the words that a program has for it; `of`: what it calls them. */
export function packageActions(of: string, { like, changes, looks, ...words }: PackageWords) {
  const given = { packages: [like] };
  const packages = operand(some(name('Package'), 'Packages'));
  const these = operand(list(name('Package'), 'Only these'));
  const plain = { dashes: false } as const;
  const { install, add, remove, update, why, list: listed, outdated } = words;
  const known = { ...plain, params: { packages }, given };
  return present({
    install:
      install &&
      action(`Get ${of}`, 'Gets what the project needs.', changes, { role: 'install', run: install }),
    add:
      add &&
      action(`Add ${of}`, 'Adds packages to the project.', changes, { ...known, role: 'add', run: add }),
    remove:
      remove &&
      action(`Remove ${of}`, 'Removes packages from it.', changes, { ...known, role: 'remove', run: remove }),
    update:
      update &&
      action(`Update ${of}`, 'Moves packages to the newest versions that fit.', changes, {
        ...plain,
        ...{ role: 'update', run: update, params: { packages: these }, given },
      }),
    why:
      why &&
      action(`Explain one of the ${of}`, 'What leads to a package.', looks, {
        ...plain,
        ...{ role: 'why', run: why, params: { package: operand(name('Package')) }, given: { package: like } },
      }),
    list:
      listed &&
      action(`List ${of}`, 'Packages of the project.', looks, {
        role: 'list',
        run: listed[0],
        out: listed[1],
      }),
    outdated:
      outdated &&
      action(`List outdated ${of}`, 'Packages that have newer versions.', looks, {
        ...{ role: 'outdated', run: outdated[0], out: outdated[1] },
      }),
  });
}
