import * as z from 'zod';
import { defineAction } from '../../core/discoverer.ts';
import { flag, list, path, text } from '../../core/params.ts';
import * as output from './output.ts';
import { asOf, revision } from './revision.ts';

const lineNumber = z.int().min(1).max(10_000_000);
const fileInTree = z.string().regex(/^[^-/:\s][^\0]*$/, 'expected a path from the top of the repository');

/** Looks into files as commits have them, and writes nothing. */
export const contents = {
  blame: defineAction({
    title: 'Show who changed each line',
    description: 'Commit, author and date of each line of a file.',
    effects: ['read'],
    params: {
      path: path('File', 'file'),
      first: lineNumber.default(1).describe('First line'),
      last: lineNumber.default(200).describe('Last line'),
      ref: revision('As of this commit; the working tree when left out').optional(),
    },
    argv: [
      'blame',
      '--porcelain',
      '--no-textconv',
      '--no-progress',
      { join: ['-L', { param: 'first' }, ',', { param: 'last' }] },
      { param: 'ref' },
      '--',
      { param: 'path' },
    ],
    example: {
      given: { path: 'README.md', last: 10 },
      runs: 'git blame --porcelain --no-textconv --no-progress -L1,10 -- README.md',
    },
    result: output.blameResult,
    parse: output.parseBlame,
  }),
  grep: defineAction({
    title: 'Search at a commit',
    description:
      'Lines that contain a text in tracked files of a commit. For the working tree, grep is faster.',
    effects: ['read'],
    params: {
      pattern: text('Text to find; not a regular expression'),
      ref: asOf,
      ignore_case: flag('Ignore case'),
      paths: list(path('Path'), 'Only these files or folders'),
    },
    argv: [
      'grep',
      '--line-number',
      '-I',
      '--no-color',
      '--no-textconv',
      '--no-recurse-submodules',
      // A regular expression that repeats repetitions takes all memory there is.
      '--fixed-strings',
      { flag: '--ignore-case', param: 'ignore_case' },
      { join: ['-e', { param: 'pattern' }] },
      { param: 'ref' },
      '--',
      { each: 'paths' },
    ],
    succeedsWith: [0, 1],
    example: {
      given: { pattern: 'TODO' },
      runs: 'git grep --line-number -I --no-color --no-textconv --no-recurse-submodules --fixed-strings -eTODO HEAD --',
    },
  }),
  file: defineAction({
    title: 'Read a file at a commit',
    description: 'A file as it was at a commit.',
    effects: ['read'],
    params: { file: fileInTree.describe('Path from the top of the repository'), ref: asOf },
    argv: ['cat-file', 'blob', { join: [{ param: 'ref' }, ':', { param: 'file' }] }],
    example: { given: { file: 'src/index.ts', ref: 'v1.0' }, runs: 'git cat-file blob v1.0:src/index.ts' },
  }),
};
