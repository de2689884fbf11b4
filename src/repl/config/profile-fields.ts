import { anyText, fields, list, oneOf, record, text, type Checked } from './check.ts';

/** What a profile may say; a project's may say less. */
const shared = {
  description: text,
  /** Globs on tool names; `!` excludes. */
  tools: list(text, 1),
  prompt: text,
  /** What `--var` may give, with what it is otherwise. */
  variables: record(anyText, /^[A-Za-z_]\w*$/),
};

export const projectProfileFields = fields({ ...shared, mode: oneOf('plan', 'ask') });

export const profileFields = fields({
  ...shared,
  mode: oneOf('plan', 'ask', 'auto'),
  servers: list(text, 1),
  model: text,
});

export type ProfileFields = Checked<typeof profileFields>;
