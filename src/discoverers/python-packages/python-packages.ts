import { on, operand, option, required, type Params } from '../../core/parameter.ts';
import { name } from '../../core/params.ts';
import { action, family, present } from '../../core/program.ts';
import { packages } from '../reports/kinds.ts';
import { keptBy, packageName, requirement, some } from '../shared/python.ts';
import { pdm } from './pdm.ts';
import { pip } from './pip.ts';
import { poetry } from './poetry.ts';
import { changes, names, type Row } from './row.ts';
import { uv } from './uv.ts';

const given = { packages: ['requests'] };

const looks = ({ title, list, outdated, direct, why }: Row) => {
  const params: Params = direct ? { top_level: on(direct, 'Only those that no other needs') } : {};
  return {
    list: action(`List ${title} packages`, "Packages of the project's environment.", ['execute'], {
      role: 'list',
      run: list[0],
      params,
      out: packages(list[1]),
    }),
    outdated: action(
      `List outdated ${title} packages`,
      'Packages with newer versions.',
      ['execute', 'network'],
      {
        role: 'outdated',
        run: outdated[0],
        params,
        out: packages(outdated[1]),
      },
    ),
    why:
      why &&
      action(`Why ${title} has a package`, 'What depends on a package.', ['execute', 'network'], {
        role: 'why',
        run: why,
        params: { package: operand(packageName) },
        given: { package: 'idna' },
      }),
  };
};

const adds = (title: string, { dev, group: option_ }: NonNullable<Row['add']>) => {
  const group = option(option_, name('Group of dependencies'));
  return {
    add: action(`Add packages with ${title}`, 'Adds packages to project, lock and environment.', changes, {
      role: 'add',
      run: ['add'],
      params: { dev: on(dev, 'For development'), group, packages: operand(some(requirement, 'Packages')) },
      given: { packages: ['requests>=2.32'], dev: true },
    }),
    remove: action(`Remove packages with ${title}`, 'Removes packages from the project.', changes, {
      role: 'remove',
      run: ['remove'],
      params: { group, packages: names },
      given,
    }),
  };
};

export default family({ pip, uv, poetry, pdm }, (row, id) => {
  const { list: _list, outdated: _outdated, direct: _direct, why: _why, ...rest } = row;
  const { add, update, each, install, frozen, more, title, ...facts } = rest;
  const params: Params = frozen ? { frozen: on(frozen, 'Fail when the lock file is not up to date') } : {};
  return {
    ...facts,
    title,
    category: 'package-manager',
    inspect: keptBy(id),
    actions: present({
      ...looks(row),
      ...(add && adds(title, add)),
      update: action(`Update packages with ${title}`, 'Updates packages within their bounds.', changes, {
        role: 'update',
        run: update,
        params: { packages: each ? required(each, some(packageName, 'Packages')) : names },
        given,
      }),
      install:
        install &&
        action(`Install with ${title}`, 'Makes the environment what project and lock say.', changes, {
          role: 'install',
          run: install,
          params,
        }),
      ...more,
    }),
  };
});
