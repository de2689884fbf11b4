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

/** Throws ARG_INVALID for a new text with a line of its own that stands for code which is not written out. */
export function refuseOmission(name: string, fresh: string, before: () => string): void {
  // Most texts have none of these, which is told forty times as fast.
  if (!['...', '…', 'unchanged', 'as before', 'the same'].some((sign) => fresh.includes(sign))) return;
  const line = omission.exec(fresh)?.[0].trim();
  if (line === undefined || before().includes(line)) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: the line ${JSON.stringify(line.slice(0, 100))} stands for code that would be lost.`,
    'Write that code out, or edit only the part that changes.',
  );
}
