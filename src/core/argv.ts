import type { Arg } from './discoverer.ts';
import { ToolcribError } from './errors.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Fills a template: the only place where arguments are built. Every value becomes whole arguments; nothing is
 * split, quoted, or handed to a shell. A value that would stand where the program looks for options, and begins
 * with `-`, is refused with ARG_FLAG.
 */
export function renderArgv(template: readonly Arg[], values: Values): string[] {
  return template.flatMap((arg) => renderArg(arg, values));
}

function renderArg(arg: Arg, values: Values): string[] {
  if (typeof arg === 'string') return [arg];
  if ('flag' in arg) return values[arg.param] === true ? [arg.flag] : [];
  if ('join' in arg) return joined(arg.join, values);
  if ('rest' in arg) return toList(values[arg.rest]).map((value) => asText(value, arg.rest));
  if ('choose' in arg) return renderArgv(arg.from[String(values[arg.choose])] ?? [], values);
  if ('each' in arg) return toList(values[arg.each]).flatMap((value) => place(value, arg.each, arg.option));
  const value = values[arg.param];
  return isAbsent(value) ? [] : place(value, arg.param, 'option' in arg ? arg.option : undefined);
}

/** One value as one argument, or glued to or behind its option. */
function place(value: unknown, name: string, option: string | undefined): string[] {
  const text = asText(value, name);
  if (option?.endsWith('=')) return [option + text];
  refuseOption(text, name);
  return option === undefined ? [text] : [option, text];
}

function joined(pieces: readonly (string | { readonly param: string })[], values: Values): string[] {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const value = values[piece.param];
    if (isAbsent(value)) return [];
    const part = asText(value, piece.param);
    if (text === '') refuseOption(part, piece.param);
    text += part;
  }
  return [text];
}

function refuseOption(text: string, name: string): void {
  if (!text.startsWith('-')) return;
  throw new ToolcribError(
    'ARG_FLAG',
    `${name}: "${text}" would be read as an option.`,
    'Give a value that does not begin with "-"; options are separate parameters.',
  );
}

function asText(value: unknown, name: string): string {
  const text = String(value);
  // execve ends an argument at NUL: what the program saw would not be what was checked.
  if (text.includes('\0'))
    throw new ToolcribError('ARG_INVALID', `${name}: contains a NUL character.`, 'Leave it out.');
  return text;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : isAbsent(value) ? [] : [value]);

/** The command as a person would type it. For reading only, never for running. */
export function printable(argv: readonly string[]): string {
  return argv
    .map((arg) => (/^[\w./:=@%+,^~-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
