import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { flag, list } from '../core/params.ts';
import { readMakefile } from './makefile.ts';

// make hands its command-line variables on to the environment of every recipe, so names by which a variable becomes a
// program are refused; and values reach the shell of a recipe unquoted, so what means something to a shell is, too.
const variableNames = /^[A-Za-z_][A-Za-z0-9_]*$/;
const reserved = new RegExp(
  [
    'SHELL|MAKE|MAKESHELL|MAKEFLAGS|MAKEFILES|MAKEFILE_LIST|MAKEOVERRIDES|MAKELEVEL|MAKE_\\w*|MFLAGS|GNUMAKEFLAGS',
    'CURDIR|VPATH|SUFFIXES|PATH|HOME|IFS|ENV|BASH_\\w*|LD_\\w*|DYLD_\\w*|GIT_\\w*|NODE_OPTIONS|NPM_CONFIG_\\w*',
    'PERL5\\w*|RUBY\\w*',
    'PYTHON\\w+|JAVA_TOOL_OPTIONS|JDK_\\w*OPTIONS|_JAVA_OPTIONS|RUSTC_\\w*|DOCKER_HOST|EDITOR|VISUAL|PAGER|BROWSER',
  ].join('|'),
);
const isReserved = new RegExp(`^(?:${reserved.source})$`, 'i');

const variable = z
  .string()
  .max(2000)
  .regex(
    /^[^=]+=[\w.,:=@%+/ -]*$/,
    'expected NAME=value without characters that mean something to make or a shell',
  )
  .refine((text) => variableNames.test(nameOf(text)), 'expected NAME=value')
  .refine((text) => !isReserved.test(nameOf(text)), 'this variable decides what make runs and cannot be set');

const nameOf = (assignment: string): string => assignment.slice(0, assignment.indexOf('='));

export const make = defineDiscoverer({
  id: 'make',
  title: 'GNU make',
  category: 'build',
  homepage: 'https://www.gnu.org/software/make/',
  programs: ['make', 'gmake', 'mingw32-make'],
  version: { args: ['--version'], pattern: /^GNU Make (\S+)/ },
  install: {
    linux: 'Install the package make, for instance: sudo apt install make',
    darwin: 'xcode-select --install',
    win32: 'winget install ezwinports.make',
  },
  signals: { files: ['GNUmakefile', 'makefile', 'Makefile'] },
  hints: [{ says: /No rule to make target|No targets/, wayOut: 'make_targets lists the targets there are.' }],

  actions: {
    targets: {
      title: 'List make targets',
      description: 'Targets of the Makefile with their comments, read without running make.',
      effects: ['read'],
      params: {},
      reads: ['GNUmakefile', 'makefile', 'Makefile'],
      example: { runs: 'reads GNUmakefile, makefile, Makefile' },
      result: z.object({
        default: z.string().nullable().describe('What make without a target builds'),
        targets: z.array(
          z.object({
            name: z.string(),
            doc: z.string().nullable(),
            prerequisites: z.array(z.string()),
            phony: z.boolean(),
            conditional: z.boolean(),
            line: z.number(),
          }),
        ),
        pattern_rules: z.array(z.string()),
        includes: z.array(z.string()).describe('Not read; may define more targets'),
        computed: z.array(z.string()).describe('Names only make knows'),
      }),
      parse: readMakefile,
    },
    run: {
      title: 'Run make',
      description: 'Builds targets; recipes can do anything.',
      effects: ['execute'],
      params: {
        targets: list(
          z.string().regex(/^[A-Za-z0-9_][\w.+/%-]*$/, 'expected the name of a target'),
          'Default: the first target',
        ),
        variables: list(variable, 'NAME=value'),
        jobs: z.int().min(1).max(64).optional().describe('Recipes at once'),
        keep_going: flag('Go on after a failure'),
      },
      argv: [
        { option: '--jobs=', param: 'jobs' },
        { flag: '--keep-going', param: 'keep_going' },
        '--',
        { each: 'variables' },
        { each: 'targets' },
      ],
      example: {
        given: { targets: ['test'], variables: ['V=1'], jobs: 4 },
        runs: 'make --jobs=4 -- V=1 test',
      },
    },
  },
});
