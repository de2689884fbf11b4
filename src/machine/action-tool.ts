import { delimiter, dirname } from 'node:path';
import * as z from 'zod';
import { printable, renderArgv } from '../core/argv.ts';
import {
  toolName,
  type AnyAction,
  type AnyDiscoverer,
  type FileAction,
  type RunAction,
} from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { pathKind } from '../core/params.ts';
import type { CallContext, Tool, ToolResult } from '../core/tool.ts';
import { actionResult, failureOf } from './action-result.ts';
import type { Installation } from './installation.ts';
import { localProgram } from './local-program.ts';
import { precautionsFor } from './precautions.ts';
import type { Run } from './process.ts';
import { rooted } from './workspace.ts';

/** What running actions needs of this machine. */
export interface ActionServices {
  run: Run;
  installation: Installation;
  /** The whole environment of a child that may inherit `names` and is given `settings`. */
  childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Record<string, string>;
}

interface Where {
  folder: string;
  context: CallContext;
}

const parsedBytes = 8 * 1024 * 1024;
const shownBytes = 256 * 1024;

/** What an action looks like to a caller: its own parameters and the folder to work in; unknown ones are refused. */
export function describeAction(
  discoverer: AnyDiscoverer,
  name: string,
  action: AnyAction,
): Omit<Tool, 'call'> {
  const result = action.result?.extend({
    omitted: z
      .record(z.string(), z.int())
      .optional()
      .describe('Entries left out of each list to keep this short'),
    notes: z.array(z.string()).optional(),
  });
  return {
    name: toolName(discoverer, name),
    program: discoverer.id,
    title: action.title,
    description: action.description,
    effects: action.effects,
    params: z.strictObject({
      ...action.params,
      cwd: z.string().min(1).optional().describe('Folder to run in'),
    }),
    ...(result ? { result } : {}),
  };
}

/** An action of an installed program as a tool. */
export function actionTool(
  discoverer: AnyDiscoverer,
  name: string,
  action: AnyAction,
  services: ActionServices,
): Tool {
  return {
    ...describeAction(discoverer, name, action),
    async call({ cwd, ...values }, context) {
      const folder = await context.workspace.resolve(cwd ?? '.', { kind: 'folder', mustExist: true });
      const where = { folder, context };
      const inside = await resolvePaths(action, values, where);
      return 'reads' in action ? readFor(action, where) : runFor(discoverer, action, inside, where, services);
    },
  };
}

/** Every path parameter, replaced by an absolute path that was found to lie inside the roots. */
async function resolvePaths(action: AnyAction, values: Record<string, unknown>, { folder, context }: Where) {
  const resolved = { ...values };
  for (const [name, schema] of Object.entries(action.params)) {
    const kind = pathKind(schema as z.ZodType);
    if (!kind) continue;
    const inside = (path: unknown) => context.workspace.resolve(String(path), { from: folder, kind });
    const value = values[name];
    if (typeof value === 'string') resolved[name] = await inside(value);
    if (Array.isArray(value)) resolved[name] = await Promise.all(value.map(inside));
  }
  return resolved;
}

async function readFor(action: FileAction, { folder, context }: Where): Promise<ToolResult> {
  for (const file of action.reads) {
    const opened = await rooted(context.workspace)
      .openFile(file, { from: folder })
      .catch((error: unknown) => {
        if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
        throw error;
      });
    if (!opened) continue;
    try {
      const { size } = await opened.handle.stat();
      if (size > parsedBytes)
        throw new ToolcribError('TOO_LARGE', `${file}: ${size} bytes is more than is parsed.`);
      return actionResult(action, await opened.handle.readFile('utf8'), []);
    } finally {
      await opened.handle.close();
    }
  }
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no ${action.reads.join(', ')} here.`,
    'Give the folder that has one as cwd.',
  );
}

async function runFor(
  discoverer: AnyDiscoverer,
  action: RunAction,
  values: Record<string, unknown>,
  { folder, context }: Where,
  { run, installation, childEnvironment }: ActionServices,
): Promise<ToolResult> {
  const asTyped = [...(discoverer.prefix ?? []), ...renderArgv(action.argv, values)];
  const { signal, workspace } = context;
  const base = childEnvironment(discoverer.environment ?? [], {
    ...discoverer.settings,
    ...(discoverer.ceiling
      ? { [discoverer.ceiling]: workspace.roots.map((root) => dirname(root)).join(delimiter) }
      : {}),
  });
  const local = await localProgram(discoverer.local, folder, workspace.roots, base);
  const program = local ?? installation.program;
  const leading = local ? [] : installation.leading;
  const ask = (question: readonly string[]) =>
    run({ program, argv: [...leading, ...question], cwd: folder, env: base, signal, keepBytes: parsedBytes });
  const precautions = await precautionsFor(discoverer, action, ask, workspace);
  const outcome = await run({
    program,
    argv: [...leading, ...(discoverer.hardening ?? []), ...precautions.argv, ...asTyped],
    cwd: folder,
    env: { ...base, ...precautions.env },
    signal,
    onLine: context.progress,
    keepBytes: action.parse ? parsedBytes : shownBytes,
    ...(action.timeoutMs ? { timeoutMs: action.timeoutMs } : {}),
  });
  const notes = [...(local ? [`ran ${local}`] : []), ...precautions.notes];
  return (
    failureOf({ ...outcome, command: printable([program, ...asTyped]) }, action.succeedsWith ?? [0], notes) ??
    actionResult(action, outcome.stdout.text, notes, outcome)
  );
}
