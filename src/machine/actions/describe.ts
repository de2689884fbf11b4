import * as z from 'zod';
import type { Params } from '../../core/parameter.ts';
import type { Action, Program, Source } from '../../core/program.ts';
import { toolName, type Platform } from '../../core/discoverer.ts';
import type { ToolFacts } from '../../core/tool.ts';
import type { ProgramFacts } from '../programs/installation.ts';

/** The schema of what a caller may give; unknown parameters are refused. */
export const schemaOf = (params: Params, more: Readonly<Record<string, z.ZodType>> = {}): z.ZodObject =>
  z.strictObject({
    ...Object.fromEntries(Object.entries(params).map(([key, { schema }]) => [key, schema])),
    ...more,
  });

/** The facts of an action for a caller: its own parameters and the folder to work in. */
export function describeAction(of: Program<Action>, key: string, action: Action): ToolFacts {
  const { title, description, effects, params } = action;
  // What has no paths has no use for a folder to find them from.
  const cwd = { cwd: z.string().min(1).optional() };
  return {
    name: toolName(of, key),
    program: of.id,
    title,
    description,
    effects,
    params: schemaOf(params, 'databaseQuestion' in action ? {} : cwd),
  };
}

/** The facts of a program without its actions. */
export function factsOf(of: Program<Action>): ProgramFacts {
  const { id, title, category, site, called = [id], on, elsewhere, project, environment, everyday } = of;
  const { own, version = { args: ['--version'], pattern: /(\d+\.\d[\w.+-]*)/ } } = of;
  return {
    id,
    title,
    category,
    site,
    called,
    install: installOf(of),
    ...(on && { on }),
    ...(version !== 'unknown' && { version: { ...version, pattern: version.pattern.source } }),
    ...(elsewhere && { elsewhere }),
    ...(project && { project: project.map(signOf) }),
    ...(own && { own }),
    ...(everyday && { everyday: linesOf(everyday, called) }),
    ...(environment && { environment }),
  };
}

function linesOf(everyday: NonNullable<Program['everyday']>, called: readonly string[]) {
  const isOne = typeof everyday === 'string' || everyday instanceof RegExp;
  const lines = isOne ? called.map((name) => [name, everyday] as const) : Object.entries(everyday);
  return Object.fromEntries(lines.map(([name, line]) => [name, sourceOf(line)]));
}

/** Words of a line as an expression: `add run…`. */
function sourceOf(line: string | RegExp): string {
  if (typeof line !== 'string') return line.source;
  const words = line.split(' ');
  const leading = words.filter((word) => word.endsWith('…')).map((word) => word.slice(0, -1));
  const [ends, leads] = [words.filter((word) => !word.endsWith('…')), leading].map((all) => all.join('|'));
  const further = leading.length > 0 ? `|^(?:${leads})(?: --)? (?<line>[^-].*)` : '';
  return `^(?:${ends})(?: |$)${further}`;
}

const signOf = (one: NonNullable<Program['project']>[number]) =>
  typeof one === 'string' ? one : { file: one.file, has: one.has.source };

const commands: Readonly<Record<Source, string>> = {
  apt: 'sudo apt install',
  brew: 'brew install',
  winget: 'winget install',
  npm: 'npm install --global',
  pip: 'pipx install',
  cargo: 'cargo install',
  site: 'see',
};
const sources: Readonly<Record<Platform, readonly Source[]>> = {
  linux: ['apt', 'npm', 'pip', 'cargo', 'site', 'brew'],
  darwin: ['brew', 'npm', 'pip', 'cargo', 'site'],
  win32: ['winget', 'npm', 'pip', 'cargo', 'site'],
};

/** The command that installs it, by platform: from the first source that has it. */
function installOf({ get, site }: Program<Action>): ProgramFacts['install'] {
  const way = (platform: Platform) => {
    const source = sources[platform].find((one) => get[one] !== undefined);
    return source ? `${commands[source]} ${get[source]}` : `see ${site}`;
  };
  return { linux: way('linux'), darwin: way('darwin'), win32: way('win32') };
}
