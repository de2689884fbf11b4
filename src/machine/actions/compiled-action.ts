import { compileLine, type CompiledLine, type Line, type Template } from '../../core/command-line.ts';
import type { Program, ProgramAction, Step, Steps } from '../../core/program.ts';
import { pathParams, type PathParam } from './check-paths.ts';

/** An action with all that can be known of its lines and parameters before a call, found out once a tool. */
export interface CompiledAction {
  readonly of: Program;
  /** The name of the action in its program. */
  readonly key: string;
  readonly action: ProgramAction;
  readonly run: CompiledLine;
  readonly preview: CompiledStep | undefined;
  readonly before: CompiledStep | undefined;
  readonly after: NamedLines;
  readonly undo: { readonly changes: CompiledLine; readonly unkept: CompiledLine } | undefined;
  readonly wording: { readonly agreed: NamedLines; readonly told: NamedLines } | undefined;
  /** The parameters whose values are paths. */
  readonly paths: readonly PathParam[];
}

export interface CompiledStep {
  readonly line: CompiledLine;
  /** Exit codes that let the call go on. */
  readonly ok: readonly number[];
}

/** Lines by the names that their output is known by. */
export type NamedLines = readonly (readonly [name: string, line: CompiledLine])[];

/** Compiles an action whose own line is this one. */
export function compileAction(
  of: Program,
  key: string,
  action: ProgramAction,
  run: Line<never>,
): CompiledAction {
  const { preview, before, after, undo, wording }: Steps<never> = action.steps ?? {};
  const compiled = (line: Template<never>) => compileLine(of, action, line);
  const stepOf = (step: Step<never>): CompiledStep =>
    typeof step === 'function'
      ? { line: compiled(step), ok: [0] }
      : { line: compiled(step.line), ok: step.ok };
  const named = (lines: Readonly<Record<string, Template<never>>> = {}): NamedLines =>
    Object.entries(lines).map(([name, line]) => [name, compiled(line)]);
  return {
    of,
    key,
    action,
    run: compileLine(of, action, run),
    preview: preview && stepOf(preview),
    before: before && stepOf(before),
    after: named(after),
    undo: undo && { changes: compiled(undo.changes), unkept: compiled(undo.unkept) },
    wording: wording && { agreed: named(wording.agreed), told: named(wording.told) },
    paths: pathParams(action.params),
  };
}
