import { ToolcribError } from './errors.ts';
import type { Param, Params } from './parameter.ts';

/** Where a parameter stands in a template. */
export interface Slot<Name extends PropertyKey = PropertyKey> {
  readonly slot: Name;
}
/** A file in a folder that is made for this call and deleted after it: a report that the program is told to write. */
export interface Fresh {
  readonly fresh: string;
}
/** One argument made of several pieces; nothing when one of them is absent, inner glue apart. */
export interface Glue {
  readonly glue: readonly Piece[];
}
export type Piece = string | Slot | Fresh | Glue;
export type Slots<P> = { readonly [K in keyof P]-?: Slot<K> };
/** Says where each parameter stands, and nothing of how it is written. A misspelt name does not compile. */
export type Template<P> = (at: Slots<P>) => readonly Piece[];
/** Fixed words, behind which the parameters follow: options, `--`, operands, words. Or a template. */
export type Line<P> = readonly (string | Fresh | Glue)[] | Template<P>;

export const fresh = (file: string): Fresh => ({ fresh: file });
export const glue = (...pieces: readonly Piece[]): Glue => ({ glue: pieces });

/** Values by the names of their parameters, as the schemas made them. */
export type Values = Readonly<Record<string, unknown>>;

/** What is started. */
interface CommandLine {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

/**
 * Writes one line of an action for values that its parameters accept, with fresh files in a folder: the only place
 * where arguments are made. Every value becomes whole arguments; nothing is split, quoted, or handed to a shell. Throws
 * ARG_FLAG for a value that would be read as an option where it stands, and ARG_INVALID.
 */
export function write(
  { marks = '-' }: { readonly marks?: string },
  { params, dashes }: { readonly params: Params; readonly dashes?: false },
  line: Line<never>,
  values: Values,
  folder = '.',
): CommandLine {
  /** The words of one parameter; `within`: inside an argument, where no value can be an option. */
  const written = (key: PropertyKey, within: boolean): string[] => {
    const name = String(key);
    const [param, value] = [params[name], values[name]];
    if (!param) throw new Error(`no parameter "${name}"`);
    return value === undefined || value === null
      ? []
      : param.write(value, within ? String : bare(name, marks));
  };
  const argument = (piece: Piece, within = false): string[] => {
    if (typeof piece === 'string') return [piece];
    if ('fresh' in piece) return [`${folder}/${piece.fresh}`];
    return 'slot' in piece ? written(piece.slot, within) : glued(piece.glue, within);
  };
  const glued = (inner: readonly Piece[], within: boolean): string[] => {
    let text = '';
    for (const piece of inner) {
      const [word, ...more] = argument(piece, within || text !== '');
      if (word !== undefined && more.length === 0) text += word;
      else if (typeof piece === 'string' || !('glue' in piece)) return [];
    }
    return [text];
  };
  const keys = (...places: Param['place'][]) =>
    places.flatMap((place) => Object.keys(params).filter((key) => params[key]?.place === place));
  const slots = (...places: Param['place'][]) => keys(...places).flatMap((slot) => argument({ slot }));
  const inOrder = (fixed: readonly Piece[]) => {
    const behind = slots('operand', 'words');
    const end = dashes !== false && behind.length > 0 ? ['--'] : [];
    return [...fixed.flatMap((piece) => argument(piece)), ...slots('option'), ...end, ...behind];
  };
  const argv =
    typeof line === 'function' ? line(slotsOf(params)).flatMap((piece) => argument(piece)) : inOrder(line);
  const env = keys('variable').flatMap((key) =>
    written(key, true).map((value) => [params[key]?.variable ?? key, value] as const),
  );
  const [typed] = keys('input').flatMap((key) => written(key, true));
  for (const text of [...argv, ...env.flat()]) refuseNul(text);
  return { argv, env: Object.fromEntries(env), ...(typed !== undefined && { input: typed }) };
}

const slotsOf = (params: Params) =>
  Object.fromEntries(Object.keys(params).map((key) => [key, { slot: key }])) as never;

const bare = (name: string, marks: string) => (text: string) => {
  const mark = text.charAt(0);
  if (text === '' || !marks.includes(mark)) return text;
  throw new ToolcribError(
    'ARG_FLAG',
    `${name}: "${text}" would be read as an option.`,
    `Give a value that does not begin with "${mark}"; options are separate parameters.`,
  );
};

function refuseNul(text: string): void {
  // execve ends an argument at NUL: what the program saw would not be what was checked.
  if (text.includes('\0'))
    throw new ToolcribError('ARG_INVALID', 'A value contains a NUL character.', 'Leave it out.');
}

// A tilde at the beginning, and `NAME=value` before a program, would be something else.
const needsNoQuotes = /^(?!~|.*[=:]~)[\w./:=@%+,^~-]+$/;
const assigns = /^[A-Za-z_]\w*=/;

/** The command as a person would type it: `parseLine` reads the same words back. */
export function printable(argv: readonly string[]): string {
  return argv
    .map((arg, at) =>
      needsNoQuotes.test(arg) && !(at === 0 && assigns.test(arg)) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`,
    )
    .join(' ');
}
