import * as z from 'zod';
import { glue, list, matching, name, operand, option, path, type Slot, some } from '../../core/grammar.ts';

/**
 * The name of a branch, tag or commit. Not a search through all messages: git takes `:/text` and `^{/text}`
 * for regular expressions, and one that repeats repetitions takes all memory there is.
 */
export const revision = (says: string) =>
  name(says)
    .refine(
      (text) => !/:\/|\^\{\//.test(text),
      'is a search (":/" or "^{/"), and a name is expected; git_log finds commits by their message',
    )
    .describe(says);

/** Options that keep git's output as it is, and programs of the project out of it. */
export const plain = ['--no-color', '--no-ext-diff', '--no-textconv'];

/** HEAD unless told. */
export const asOf = operand(revision('Branch, tag or commit').default('HEAD'));

/** Only these, or all. */
export const onlyPaths = operand(list(path('Path'), 'Only these files or folders'));

/** At least one. */
export const somePaths = (written = false) =>
  operand(some(path('Path', 'any', { written }), 'Files or folders'));

/** A name of a configured remote: an address or a path would let the caller choose whom to talk to. */
export const remote = matching(
  /^[A-Za-z0-9_][\w.-]{0,99}$/,
  'the name of a remote, as git_remotes lists them',
  'Remote, by name',
);

/** An address to clone from or to add. Not one that runs a program (`ext::`), nor an option. */
export const address = matching(
  /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)[^\s-][^\s]*$/,
  'an address: https://host/path, ssh://host/path or user@host:path',
  'Address: https://…, ssh://…, user@host:path',
);

export const most = (usual: number) =>
  option('--max-count=', z.int().min(1).max(500).default(usual).describe('How many at most'));
export const skip = option('--skip=', z.int().min(0).max(1_000_000).default(0).describe('How many to skip'));

/** The number of a stash; the newest is 0. */
export const stashIndex = operand(
  z.int().min(0).max(10_000).default(0).describe('Which one; the newest is 0'),
);
export const stashAt = (index: Slot) => glue('stash@{', index, '}');
