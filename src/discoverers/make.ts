import * as z from 'zod';
import { action, list, matching, on, operand, option, path, program, type Reader } from '../core/grammar.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics, tasks } from './reports/kinds.ts';
import { reads, runs } from './shared/programs.ts';
import { ofTargets, taskWords } from './shared/tasks.ts';

const files = ['GNUmakefile', 'makefile', 'Makefile'];
const file = option('--file=', path('Makefile of another name', 'file'));

const most = 500;
const notRules = /^(?:ifn?eq|ifn?def|else|endif|export|unexport|override|private|vpath|undefine)\b/;

interface MakeTargets {
  items: { name: string; says?: string }[];
  total: number;
  more?: string;
}

/**
 * The targets that a Makefile states, with what the comment behind or above them says; make itself would run
 * code.
 */
const targets: Reader<MakeTargets> = ({ stdout }) => {
  const found = new Map<string, string>();
  const unread = new Set<string>();
  let comments: string[] = [];
  let isDefining = false;
  for (const line of stdout.replaceAll(/\\\r?\n[ \t]*/g, ' ').split(/\r?\n/)) {
    const above = comments;
    comments = [];
    if (line.startsWith('#')) comments = [...above, line.replace(/^#+ ?/, '')].slice(-20);
    if (/^ *(?:define|endef)\b/.test(line)) isDefining = /^ *define/.test(line);
    const unknown = /^(?:[-s]?include +(.+)|\$[({](?:eval|foreach|call) .*)/.exec(line);
    if (unknown) unread.add(unknown[1] ?? unknown[0]);
    const end = line.search(/[:=#]/);
    const rest = line.slice(end);
    const isRule = end > 0 && rest[0] === ':' && !/^:{1,3}=/.test(rest) && !/^\s/.test(line);
    if (!isRule || isDefining || unknown || notRules.test(line)) continue;
    if (/^:+[^#;=]*=/.test(rest)) {
      comments = above; // A variable of a target.
      continue;
    }
    const behind = /##+(.*)/.exec(rest)?.[1]?.trim();
    const said = above.slice(above.lastIndexOf('') + 1).filter((each) => /\p{L}/u.test(each));
    for (const target of line.slice(0, end).split(/\s+/)) {
      if (target.includes('$')) unread.add(target);
      else if (/^[\w/][\w./+@-]*$/.test(target))
        found.set(target, found.get(target) || (behind ?? said.join(' ')).slice(0, 200));
    }
  }
  const items = [...found].slice(0, most).map(([key, says]) => ({ name: key, ...(says && { says }) }));
  if (items.length === 0) throw new Error('no target is written here');
  const more = unread.size > 0 && `only make knows: ${[...unread].join(', ').slice(0, 500)}`;
  return { items, total: found.size, ...(more && { more }) };
};

/**
 * A variable of a Makefile is a piece of its recipes, which a shell runs: nothing that a shell reads
 * otherwise than as words; and none that says how make itself starts programs.
 */
const plain =
  String.raw`(?!(?:SHELL|\.SHELLFLAGS|MAKE|(?:GNU)?MAKEFLAGS|MAKEFILES|MFLAGS)=)[A-Za-z_.][\w.]*=` +
  String.raw`[\w ./:=@%+,^-]*`;
const named = String.raw`[A-Za-z0-9_./%@+][\w./%@+,:~-]*`;
const assigns = new RegExp(`^${plain}$`);
const isPlain = 'NAME=value of plain words, such as CFLAGS=-O2 -g';
const target = matching(new RegExp(`^${named}$`), 'the name of a target', 'Target');
const makeWords = taskWords(
  new RegExp(`^(?:${plain}|${named})$`),
  `a target or ${isPlain}`,
  'NAME=value, or further targets',
);
export default program('make', {
  title: 'GNU make',
  category: 'build',
  site: 'https://www.gnu.org/software/make',
  get: { apt: 'make', brew: 'make', winget: 'ezwinports.make' },
  called: ['make', 'gmake', 'mingw32-make'],
  // No code in the line.
  everyday: /^(?!.*(?:--ev|SHELL|--file=-|-f ?-))/,
  version: { args: ['--version'], pattern: /GNU Make (\S+)/ },
  project: files,
  settings: { LC_ALL: 'C.UTF-8' },
  hints: [{ says: /No rule to make target|No targets/, wayOut: 'make_tasks lists the targets there are.' }],
  actions: {
    tasks: action('List make targets', 'Targets with their comments; runs nothing.', reads, {
      role: 'tasks',
      run: { reads: files },
      out: tasks(targets),
    }),
    task: action('Run a make target', 'Runs one target and shows what it prints.', runs, {
      role: 'task',
      run: ({ file: other, task, args }) => [other, '--', task, args],
      params: { file, task: operand(target), args: makeWords },
      moreEffects: ({ task, args }) => ofTargets(task, args),
      given: { task: 'test', args: ['V=1'] },
    }),
    build: action('Build with make', 'Builds targets; compilers’ errors with their places.', runs, {
      role: 'build',
      moreEffects: ({ targets: all }) => ofTargets(all),
      run: [],
      params: {
        file,
        jobs: option('--jobs=', z.int().min(1).max(64).describe('Recipes at once')),
        keep_going: on('--keep-going', 'Go on after a failure'),
        dry_run: on('--dry-run', 'Only print the commands'),
        variables: operand(list(matching(assigns, isPlain, 'Variable'), 'NAME=value')),
        targets: operand(list(target, 'The first target of the file unless told')),
      },
      given: { targets: ['all'], variables: ['CFLAGS=-O2 -g'], jobs: 4 },
      ok: [0, 2],
      out: diagnostics(compiled),
    }),
  },
});
