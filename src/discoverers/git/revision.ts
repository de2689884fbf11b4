import { name } from '../../core/params.ts';

/**
 * The name of a branch, tag or commit. Not a search through all messages: git takes `:/text` and `^{/text}` for regular
 * expressions, and one that repeats repetitions takes all memory there is.
 */
export const revision = (description: string) =>
  name(description)
    .refine(
      (text) => !/:\/|\^\{\//.test(text),
      'is a search (":/" or "^{/"), and a name is expected; git_log finds commits by their message',
    )
    .describe(description);

export const asOf = revision('Branch, tag or commit').default('HEAD');
