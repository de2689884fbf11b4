import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { printable, renderArgv } from '../../src/core/argv.ts';
import type { AnyAction, AnyDiscoverer } from '../../src/core/discoverer.ts';

/** The arguments of an action, as a call with these values makes them. */
export function argvOf(discoverer: AnyDiscoverer, actionName: string, given: object = {}): string[] {
  const action = actionOf(discoverer, actionName);
  if (!('argv' in action)) throw new Error(`${actionName} runs nothing`);
  const values = z.strictObject(action.params).parse(given) as Record<string, unknown>;
  return [...(discoverer.prefix ?? []), ...renderArgv(action.argv, values)];
}

/** Runs an action with the program that is installed here, or the one given. */
export function runAction(
  discoverer: AnyDiscoverer,
  actionName: string,
  given: object,
  where: { cwd: string; env?: Record<string, string>; program?: string },
) {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, LC_ALL: 'C', ...discoverer.settings, ...where.env };
  const program = where.program ?? discoverer.programs[0]!;
  const { cwd } = where;
  const ended = spawnSync(program, argvOf(discoverer, actionName, given), {
    cwd,
    env,
    encoding: 'utf8',
    input: '',
  });
  const action = actionOf(discoverer, actionName);
  const ok = 'argv' in action && (action.succeedsWith ?? [0]).includes(ended.status ?? -1);
  const data =
    ok && action.parse && action.result ? action.result.parse(action.parse(ended.stdout)) : undefined;
  return { exitCode: ended.status, stdout: ended.stdout, stderr: ended.stderr, data };
}

/** What an action makes of recorded output, checked against the shape it promises. */
export function parseRecorded(discoverer: AnyDiscoverer, actionName: string, file: string): unknown {
  const action = actionOf(discoverer, actionName);
  const text = readFileSync(new URL(`recorded/${discoverer.id}/${file}`, import.meta.url), 'utf8');
  const parsed: unknown = action.parse?.(text);
  expect(z.strictObject(action.result!.shape).parse(parsed)).toEqual(parsed);
  return parsed;
}

export function hasProgram(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** The one law every file here starts with. */
export function itKeepsItsExamples(discoverer: AnyDiscoverer): void {
  it.each(Object.entries(discoverer.actions))('%s runs what its example says', (name, action: AnyAction) => {
    if ('argv' in action) {
      const argv = argvOf(discoverer, name, action.example.given);
      expect(printable([discoverer.programs[0]!, ...argv])).toBe(action.example.runs);
    }
    expect(action.description.length).toBeLessThan(160);
    expect('parse' in action).toBe('result' in action);
    for (const schema of Object.values(action.params)) {
      expect(z.toJSONSchema(schema as z.ZodType, { io: 'input' }).description).toBeTruthy();
    }
  });
}

function actionOf(discoverer: AnyDiscoverer, name: string): AnyAction {
  const action = discoverer.actions[name];
  if (!action) throw new Error(`${discoverer.id} has no action ${name}`);
  return action;
}
