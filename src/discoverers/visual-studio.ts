import * as z from 'zod';
import {
  action,
  choice,
  joined,
  list,
  matching,
  name,
  operand,
  option,
  path,
  program,
  some,
} from '../core/grammar.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';
import { reaches, runs } from './shared/programs.ts';
import { ofTasks } from './shared/tasks.ts';

const at = (file: string) => ({
  win32: [
    `%ProgramFiles%/Microsoft Visual Studio/*/*/${file}`,
    `%ProgramFiles(x86)%/Microsoft Visual Studio/*/*/${file}`,
  ],
});
const common = {
  category: 'build',
  on: ['win32'],
  project: ['*.sln', '*.slnx', '*.vcxproj'],
  marks: '-/@',
} as const;
const answer = { ok: [0, 1] as number[], out: diagnostics(compiled) };

const project = operand(path('Project or solution; the one here unless told', 'file').optional());
const configuration = option('-property:Configuration=', name('Configuration: Debug, Release'));
const platform = option('-property:Platform=', name('Platform: x64, Win32, AnyCPU'));
const usual = ['-nologo', '-verbosity:quiet'];
const target = (title: string, says: string, word: string) =>
  action(title, says, reaches, {
    ...answer,
    run: [`-target:${word}`, ...usual],
    dashes: false,
    params: { configuration, platform, project },
    given: { configuration: 'Release', project: 'Shop.sln' },
  });
const msbuild = program('msbuild', {
  ...common,
  title: 'MSBuild',
  site: 'https://learn.microsoft.com/visualstudio/msbuild/msbuild-command-line-reference',
  get: { winget: 'Microsoft.VisualStudio.2022.BuildTools' },
  version: { args: ['-version', '-nologo'], pattern: /(\d+(?:\.\d+)+)/ },
  elsewhere: at('MSBuild/Current/Bin/MSBuild.exe'),
  // No other property, by whichever switch: some are commands.
  everyday: /^(?!.*[-/][a-zA-Z]+:(?!(?:Configuration|Platform)=\w+(?: |$))\S*=)/,
  settings: { VSLANG: '1033', MSBUILDDISABLENODEREUSE: '1' },
  actions: {
    build: action('Build with MSBuild', 'Builds; errors with their places.', reaches, {
      ...answer,
      role: 'build',
      run: usual,
      dashes: false,
      params: {
        configuration,
        platform,
        jobs: option('-maxCpuCount:', z.int().min(1).max(64).describe('Projects at once')),
        targets: option(
          '-target:',
          list(matching(/^[\w:.-]+$/, 'a target', 'Target'), 'Targets'),
          joined(';'),
        ),
        project,
      },
      moreEffects: ({ targets: all }) => ofTasks(all),
      given: { configuration: 'Release', targets: ['Restore', 'Build'] },
    }),
    rebuild: target('Rebuild with MSBuild', 'Builds everything anew.', 'Rebuild'),
    restore: target('Restore with MSBuild', 'Gets the packages that projects need.', 'Restore'),
    clean: target('Clean with MSBuild', 'Deletes what was built.', 'Clean'),
  },
});

const solution = operand(path('Solution or project', 'file'));
const how = matching(
  /^\w[\w ]*(?:\|[\w ]+)?$/,
  'Release, or Release|x64',
  'Configuration, with its platform behind |',
).default('Debug');
const build = (title: string, says: string, word: string) =>
  action(title, says, reaches, {
    ...answer,
    run: ({ solution: what, configuration: which, only }) => [what, word, which, only],
    params: {
      solution,
      configuration: operand(how),
      only: option('/Project', name('Only this project of the solution')),
    },
    given: { solution: 'Shop.sln', configuration: 'Release|x64' },
  });
const visualStudio = program('visual_studio', {
  ...common,
  category: 'editor',
  title: 'Visual Studio',
  site: 'https://learn.microsoft.com/visualstudio/ide/reference/devenv-command-line-switches',
  get: { winget: 'Microsoft.VisualStudio.2022.Community' },
  // Its .com is the one that prints.
  called: ['devenv.com', 'devenv'],
  version: 'unknown',
  elsewhere: at('Common7/IDE/devenv.com'),
  settings: { VSLANG: '1033' },
  actions: {
    open: action('Open in Visual Studio', 'Opens files, a project or a solution in a window.', runs, {
      stays: 'window',
      run: ({ window, paths }) => [window, paths],
      params: {
        window: choice({ new: [], open: '/Edit' }, 'Window: the one that is open is for files only'),
        paths: operand(some(path('File, project or solution'), 'What to open')),
      },
      given: { paths: ['Shop.sln'] },
    }),
    build: build('Build with Visual Studio', 'Builds a solution as the IDE does.', '/Build'),
    rebuild: build('Rebuild with Visual Studio', 'Cleans and builds a solution.', '/Rebuild'),
    clean: build('Clean with Visual Studio', 'Deletes what a solution has built.', '/Clean'),
  },
});

export default [msbuild, visualStudio];
