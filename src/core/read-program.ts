import * as z from 'zod';
import type { Line, Values } from './command-line.ts';
import type { Params } from './parameter.ts';
import type { Program, ProgramAction } from './program.ts';
import { compileReading, textValue, type ReadLine } from './read-line.ts';

/** An action of a program, and the values with which it is the command line that was read. */
export interface ReadAction {
  /** The name of the action in its program. */
  readonly action: string;
  readonly values: Values;
}

/** Variables that stand before a program, by their names. */
type Variables = Readonly<Record<string, string>>;

/** Reads command lines of one program; see `compileProgram`. */
export type ReadProgram = (argv: readonly string[], variables?: Variables) => readonly ReadAction[];

/**
 * Prepares the lines of a program to be read: the inverse of `compileLine`, over all its actions. What it
 * returns gives every action that a line could be, with its values; none where the line is not recognised,
 * which is so for each word, option and variable that the grammar does not have. `freshFolder`: the folder of
 * the files that are made for a call.
 */
export function compileProgram(of: Program, freshFolder?: string): ReadProgram {
  const own = Object.entries(of.actions).flatMap(([key, action]) => {
    const line = lineOf(action);
    return line ? [{ key, params: action.params, line, dashes: action.dashes }] : [];
  });
  const compile = ({ params, line, dashes }: (typeof own)[number], strict = false) =>
    compileReading(params, line, { marks: of.marks, dashes, isStrict: strict, freshFolder });
  const compiled = own.map((one) => ({ ...one, loose: compile(one) }));
  const loose = compiled.map((one) => one.loose);
  const all = compiled.map((one) => ({ ...one, line: compile(one, isStrict(one.loose, loose)) }));
  return (argv, variables = {}) =>
    all.flatMap(({ key, params, line }) => {
      const fromVariables = valuesOf(params, variables);
      const read = line.read(argv);
      return read && fromVariables ? [{ action: key, values: { ...read, ...fromVariables } }] : [];
    });
}

/** The line that does what an action is for; undefined where a file is read, or other programs do it. */
function lineOf({ run }: ProgramAction): Line<never> | undefined {
  if (typeof run !== 'function' && ('reads' in run || 'alternatives' in run)) return undefined;
  return run;
}

/**
 * True where what stands behind an action's operands may be for another program, as the same first words
 * begin a line that hands words on.
 */
const isStrict = (line: ReadLine, all: readonly ReadLine[]): boolean =>
  all.some(({ handsOn, leading: [first] }) => handsOn && (first === undefined || first === line.leading[0]));

/** The values that variables give; undefined where one of them is no parameter of the action. */
function valuesOf(params: Params, variables: Variables): Values | undefined {
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(variables)) {
    const [key, param] = Object.entries(params).find(([, { variable }]) => variable === name) ?? [];
    if (key === undefined || !param) return undefined;
    const value = textValue(text, param.schema);
    if (!z.safeParse(param.schema, value).success) return undefined;
    values[key] = value;
  }
  return values;
}
