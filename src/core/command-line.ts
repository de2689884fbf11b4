import { ToolcribError } from './errors.ts';
import type { RefuseOption, Param, Params } from './parameter.ts';

/** The place of a parameter in a template. */
export interface Slot<Name extends PropertyKey = PropertyKey> {
  readonly slot: Name;
}
/**
 * A file in a folder that is made for this call and deleted after it: a report that the program is told to
 * write.
 */
export interface Fresh {
  readonly fresh: string;
}
/** One argument made of several pieces; nothing when one of them is absent, inner glue apart. */
export interface Glue {
  readonly glue: readonly Piece[];
}
export type Piece = string | Slot | Fresh | Glue;
export type Slots<P> = { readonly [K in keyof P]-?: Slot<K> };
/**
 * The order of a line: it says where each parameter stands, and nothing of how it is written. A misspelt name
 * does not compile.
 */
export type Template<P> = (at: Slots<P>) => readonly Piece[];
/** Fixed words, behind which the parameters follow: options, `--`, operands, words. Or a template. */
export type Line<P> = readonly (string | Fresh | Glue)[] | Template<P>;

export const fresh = (file: string): Fresh => ({ fresh: file });
export const glue = (...pieces: readonly Piece[]): Glue => ({ glue: pieces });

/** Values by the names of their parameters, as the schemas made them. */
export type Values = Readonly<Record<string, unknown>>;

/** Arguments, variables and input of a program that is started. */
export interface CommandLine {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** A line of an action that has been looked through once: a call only fills in its values. */
export interface CompiledLine {
  /** It names files that are made for each call. */
  readonly hasFresh: boolean;
  /**
   * The command line for values that the parameters accept, with fresh files in a folder. Every value becomes
   * whole arguments; nothing is split, quoted, or handed to a shell. Throws ARG_FLAG for a value that would
   * be read as an option where it stands, and ARG_INVALID.
   */
  write(values: Values, folder?: string): CommandLine;
}

/** A parameter at its place, with the check that none of its values is read as an option there. */
interface ValuePart {
  readonly name: string;
  readonly param: Param;
  readonly bare: RefuseOption;
}
type Part = string | Fresh | ValuePart | { readonly glued: readonly Part[] };

/** The pieces of a line in their order: those in front, and the operands and words behind a `--`. */
export function piecesOf(params: Params, line: Line<never>): Record<'front' | 'behind', readonly Piece[]> {
  if (typeof line === 'function') return { front: line(slotsOf(params)), behind: [] };
  return {
    front: [...line, ...slotsAt(params, 'option')],
    behind: [...slotsAt(params, 'operand'), ...slotsAt(params, 'words')],
  };
}

const slotsAt = (params: Params, place: Param['place']): Slot[] =>
  Object.keys(params)
    .filter((name) => params[name]?.place === place)
    .map((slot) => ({ slot }));

/** Compiles one line of an action: the only place where arguments are made. */
export function compileLine(
  { marks = '-' }: { readonly marks?: string },
  { params, dashes }: { readonly params: Params; readonly dashes?: false },
  line: Line<never>,
): CompiledLine {
  const partOf = (piece: Piece): Part => {
    if (typeof piece === 'string' || 'fresh' in piece) return piece;
    return 'slot' in piece ? valuePart(String(piece.slot), params, marks) : { glued: piece.glue.map(partOf) };
  };
  const partsAt = (place: Param['place']): ValuePart[] =>
    slotsAt(params, place).map(({ slot }) => valuePart(String(slot), params, marks));
  const pieces = piecesOf(params, line);
  const front = pieces.front.map(partOf);
  const behind = pieces.behind.map(partOf);
  const variables = partsAt('variable');
  const inputs = partsAt('input');
  return {
    hasFresh: front.some(isFresh),
    write(values, folder = '.') {
      const argv = front.flatMap((part) => argumentsOf(part, values, folder));
      const operands = behind.flatMap((part) => argumentsOf(part, values, folder));
      if (operands.length > 0 && dashes !== false) argv.push('--');
      argv.push(...operands);
      const env: Record<string, string> = {};
      for (const part of variables)
        for (const text of argumentsOf(part, values, folder, true))
          env[part.param.variable ?? part.name] = text;
      const [input] = inputs.flatMap((part) => argumentsOf(part, values, folder, true));
      // execve ends an argument at NUL: what the program saw would not be what was checked.
      if ([...argv, ...Object.values(env)].some((text) => text.includes('\0'))) throw hasNul();
      return input === undefined ? { argv, env } : { argv, env, input };
    },
  };
}

const slotsOf = (params: Params) =>
  Object.fromEntries(Object.keys(params).map((key) => [key, { slot: key }])) as never;

function valuePart(name: string, params: Params, marks: string): ValuePart {
  const param = params[name];
  if (!param) throw new Error(`no parameter "${name}"`);
  return { name, param, bare: (text) => refuseMark(text, name, marks) };
}

const isFresh = (part: Part): boolean => {
  if (typeof part === 'string') return false;
  return 'glued' in part ? part.glued.some(isFresh) : 'fresh' in part;
};

/** The arguments of one part; `within` another argument, where no value can be an option. */
function argumentsOf(part: Part, values: Values, folder: string, within = false): readonly string[] {
  if (typeof part === 'string') return [part];
  if ('fresh' in part) return [`${folder}/${part.fresh}`];
  if ('glued' in part) return gluedText(part.glued, values, folder, within);
  const value = values[part.name];
  const isNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  if (isNothing) return [];
  return part.param.write(value, within ? String : part.bare);
}

function gluedText(parts: readonly Part[], values: Values, folder: string, within: boolean): string[] {
  let text = '';
  for (const part of parts) {
    const [word, ...more] = argumentsOf(part, values, folder, within || text !== '');
    const isInnerGlue = typeof part === 'object' && 'glued' in part;
    if (word !== undefined && more.length === 0) text += word;
    else if (!isInnerGlue) return [];
  }
  return [text];
}

function refuseMark(text: string, name: string, marks: string): string {
  const mark = text.charAt(0);
  if (text === '' || !marks.includes(mark)) return text;
  throw new ToolcribError(
    'ARG_FLAG',
    `${name}: "${text}" would be read as an option.`,
    `Give a value that does not begin with "${mark}"; options are separate parameters.`,
  );
}

const hasNul = (): ToolcribError =>
  new ToolcribError('ARG_INVALID', 'A value contains a NUL character.', 'Leave it out.');

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
