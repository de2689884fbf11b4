import * as z from 'zod';
import {
  action,
  choice,
  list,
  name,
  on,
  operand,
  option,
  path,
  program,
  some,
  told,
} from '../core/grammar.ts';
import { diagnostics, level } from './reports/kinds.ts';
import { allFormatted, json, saidOr } from './reports/readers.ts';
import { here, reads, writes } from './shared/programs.ts';

const finding = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  level: z.string(),
  code: z.union([z.string(), z.int()]),
  message: z.string(),
});
const diagnosed = (all: z.output<typeof finding>[], prefix = '') =>
  all.map(({ level: said_, code, ...one }) => ({ ...one, level: level(said_), code: `${prefix}${code}` }));
const excluded = (option_: string) => option(option_, list(name('Code'), 'Not these'));

const shellcheck = program('shellcheck', {
  title: 'ShellCheck',
  category: 'build',
  site: 'https://www.shellcheck.net/wiki',
  get: { apt: 'shellcheck', brew: 'shellcheck', winget: 'koalaman.shellcheck', npm: 'shellcheck' },
  project: ['.shellcheckrc', '*.sh', '*.bash'],
  actions: {
    lint: action('Lint shell scripts with ShellCheck', 'Mistakes in scripts with their places.', reads, {
      role: 'lint',
      run: ['--format=json1'],
      params: {
        severity: choice(
          { all: [], warnings: '--severity=warning', errors: '--severity=error' },
          'From which level',
        ),
        dialect: option(
          '--shell=',
          z.enum(['sh', 'bash', 'dash', 'ksh']).describe('In place of the first line'),
        ),
        exclude: excluded('--exclude='),
        only: operand(some(path('Script', 'file'), 'Scripts')),
      },
      given: { only: ['build.sh'] },
      ok: [0, 1],
      out: diagnostics(
        json(z.object({ comments: z.array(finding) }), ({ comments }) => diagnosed(comments, 'SC')),
      ),
    }),
  },
});

const shfmt = program('shfmt', {
  title: 'shfmt',
  category: 'build',
  site: 'https://github.com/mvdan/sh/blob/master/cmd/shfmt/shfmt.1.scd',
  get: { apt: 'shfmt', brew: 'shfmt', winget: 'mvdan.shfmt' },
  project: ['*.sh', '*.bash'],
  actions: {
    format: action('Format shell scripts with shfmt', 'Formats, and names those changed.', writes, {
      role: 'format',
      run: ['-l'],
      params: {
        check: on('-d', 'Only show how, as a diff', '-w'),
        indent: option('-i=', z.int().min(0).max(16).describe('Blanks; 0 for tabs, which is usual')),
        only: here,
      },
      ok: [0, 1],
      out: told(saidOr(allFormatted)),
    }),
  },
});

const hadolint = program('hadolint', {
  title: 'Hadolint',
  category: 'build',
  site: 'https://github.com/hadolint/hadolint',
  get: {
    brew: 'hadolint',
    winget: 'hadolint.hadolint',
    site: 'https://github.com/hadolint/hadolint#install',
  },
  project: ['.hadolint.yaml', 'Dockerfile', 'Containerfile'],
  actions: {
    lint: action('Lint Dockerfiles with Hadolint', 'Mistakes in Dockerfiles with their places.', reads, {
      role: 'lint',
      run: ['--format=json', '--no-color'],
      params: {
        exclude: option('--ignore', list(name('Code: DL3008'), 'Not these')),
        only: operand(some(path('Dockerfile', 'file'), 'Dockerfiles')),
      },
      given: { only: ['Dockerfile'] },
      ok: [0, 1],
      out: diagnostics(json(z.array(finding), (all) => diagnosed(all))),
    }),
  },
});

export default [shellcheck, shfmt, hadolint];
