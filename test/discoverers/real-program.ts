import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Program } from '../../src/core/program.ts';
import type { Output } from '../../src/core/report.ts';
import { schemaOf } from '../../src/machine/actions/describe.ts';
import { actionOf, alternativesOf, written } from './programs.ts';

/** The arguments of an action, as a call with these values makes them. */
export function argvOf(of: Program, key: string, given: object = {}): readonly string[] {
  const action = actionOf(of, key);
  const { run } = action;
  if ('reads' in run || 'alternatives' in run) throw new Error(`${key} has no line of its own`);
  return written(of, action, run, schemaOf(action.params).parse(given)).argv;
}

type Recorded = Partial<Omit<Output, 'values'>> & { readonly given?: object; readonly alternative?: number };

/** What an action makes of output, as data and as text; checked against the shape of its kind. */
export function reportOf(of: Program, key: string, { given = {}, alternative, ...output }: Recorded) {
  const action = actionOf(of, key);
  const out = alternative === undefined ? action.out : alternativesOf(action)?.[alternative]?.out;
  if (!out) throw new Error(`${key} has no report`);
  const values = schemaOf(action.params).parse({ ...(action.given as object), ...given });
  const data = out.read({ stdout: '', stderr: '', exitCode: 0, files: {}, after: {}, values, ...output });
  return { data: out.result.parse(data), text: out.show(data as never) };
}

/** A file of output that a program really printed. */
export const recorded = (file: string): string =>
  readFileSync(new URL(`recorded/${file}`, import.meta.url), 'utf8');

export function hasProgram(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
