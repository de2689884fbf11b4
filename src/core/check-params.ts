import * as z from 'zod';
import { acceptedOf, inAcceptedForm } from './accepted.ts';
import { ToolcribError } from './errors.ts';
import { nearest } from './nearest.ts';

/**
 * The values a schema accepts, by the names and in the forms that models bring, with defaults filled in.
 * Throws ARG_INVALID that names each wrong parameter (or whatever `noun` the keys are called), what was
 * expected, and the right name for one that does not exist.
 */
export function checkParams<S extends z.ZodObject>(
  schema: S,
  given: unknown,
  noun = 'parameter',
): z.output<S> {
  const values = inAcceptedForm(schema, given ?? {});
  // What came as JSON text has not been looked at yet.
  refuseDeep(values);
  const parsed = schema.safeParse(values, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => {
    const param = schema.shape[String(issue.path[0])] as z.ZodType | undefined;
    // Of what may be one or several, a caller has most likely given one.
    return param && acceptedOf(param)?.several ? { ...issue, path: issue.path.slice(0, 1) } : issue;
  });
  refuseOptions(issues);
  const known = Object.keys(schema.shape).filter(
    (name) => !acceptedOf(schema.shape[name] as z.ZodType)?.unlisted,
  );
  const complaints = issues.flatMap((issue) => complaintsOf(issue, known, noun));
  throw new ToolcribError('ARG_INVALID', complaints.join(' '));
}

/** Far deeper than any parameter is; what looks at values step by step runs out of stack at some thousand. */
const deepest = 100;

/** Throws ARG_INVALID for arguments with lists or objects nested in one another more than 100 deep. */
export function refuseDeep(given: unknown): void {
  let level = [given];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest)
      throw new ToolcribError('ARG_INVALID', `arguments: are nested more than ${deepest} deep.`);
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
}

/** A value of the wrong form that begins with `-` is most likely meant as an option, and is called that. */
function refuseOptions(issues: readonly z.core.$ZodIssue[]): void {
  for (const issue of issues) {
    if (issue.code !== 'invalid_format' || typeof issue.input !== 'string' || !issue.input.startsWith('-'))
      continue;
    throw new ToolcribError(
      'ARG_FLAG',
      `${issue.path.map(String).join('.')}: "${issue.input}" would be read as an option.`,
      'Give a value that does not begin with "-"; options are separate parameters.',
    );
  }
}

function complaintsOf(issue: z.core.$ZodIssue, known: readonly string[], noun: string): string[] {
  const where = issue.path.map(String).join('.');
  const name = where || 'arguments';
  if (issue.code === 'unrecognized_keys')
    return where === ''
      ? issue.keys.map((key) => unknownKey(key, known, noun))
      : [`${where}: unknown key ${issue.keys.join(', ')}.`];
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return [`${name}: is required (expected ${issue.expected}).`];
  const isCounted = issue.code === 'too_small' && ['array', 'string'].includes(issue.origin);
  if (isCounted && issue.minimum === 1) return [`${where}: is empty.`];
  if (issue.code === 'too_small' && !isCounted) return [`${where}: expected at least ${issue.minimum}.`];
  return [`${name}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}.`];
}

function unknownKey(key: string, known: readonly string[], noun: string): string {
  const best = nearest(key, known);
  const list = known.length > 0 ? `The ${noun}s are ${known.join(', ')}.` : 'This tool takes no parameters.';
  return `${key}: there is no such ${noun}${best ? `; did you mean ${best}?` : '.'} ${list}`;
}
