import { ToolcribError } from '../../core/errors.ts';

// Nothing here runs over the end of a line, so that time is linear in the text.
const comment = String.raw`(?://+|#+|/\*+|<!--|--|;+|%+|\*|\{/\*|\(\*|"{3})[ \t]*\(?[ \t]*`;
const kept = '(?:the |all )?(?:rest|remainder|remaining|existing|unchanged|previous|same|other|omitted)';
const what =
  '(?:code|lines?|file|content|methods?|functions?|class|implementation|imports?|tests?|unchanged)';
const ending = String.raw`(?:\.{3}|…|unchanged|as before|stays? the same)`;
/** `// ... rest of the code`, `... existing methods`, `# remaining code unchanged`; not `...rest`, which is code. */
const omission = new RegExp(
  String.raw`^[ \t]*(?:${comment}(?:\.{3}|…)[^\w\n]{0,20}${kept}\b(?![,)}\]])|` +
    String.raw`(?:\.{3}|…)[ \t]+${kept}\b.*\b${what}\b|` +
    String.raw`${comment}${kept}\b[^.…\n]{0,40}\b${what}\b.{0,40}${ending}).*$`,
  'im',
);

/** The line of a new text that stands for code which is not written out; undefined when there is none of its own. */
export function omittedLine(fresh: string, before: () => string): string | undefined {
  // Most texts have none of these, which is told forty times as fast.
  if (!['...', '…', 'unchanged', 'as before', 'the same'].some((sign) => fresh.includes(sign)))
    return undefined;
  const line = omission.exec(fresh)?.[0].trim();
  return line === undefined || before().includes(line) ? undefined : line;
}

/** A text that would take away what it only mentions. */
export const standsForCode = (what: string, line: string): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `${what}: the line ${JSON.stringify(line.slice(0, 100))} stands for code that would be lost.`,
    'Write that code out, or edit only the part that changes.',
  );
