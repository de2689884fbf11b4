import { join } from 'node:path';
import * as z from 'zod';
import { toolName, type AnyAction, type AnyDiscoverer, type FileAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { pathFacts } from '../../core/params.ts';
import type { CallContext, Plan, PlanContext, Tool, ToolFacts, ToolResult } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';
import { parsedResult } from './action-result.ts';
import { planAction } from './plan-action.ts';
import { runProgram, type ActionServices } from './run-program.ts';

/** A file of a project that is larger was not written by hand. */
const readBytes = 1024 * 1024;

/** What an action looks like to a caller: its own parameters and the folder to work in; unknown ones are refused. */
export function describeAction(discoverer: AnyDiscoverer, name: string, action: AnyAction): ToolFacts {
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
      // What has no paths has no use for a folder to find them from.
      ...(!('asks' in action) && { cwd: z.string().min(1).optional() }),
    }),
    ...(result ? { result } : {}),
  };
}

/** An action of an installed program as a tool. */
export function actionTool(
  discoverer: AnyDiscoverer,
  key: string,
  action: AnyAction,
  services: ActionServices,
): Tool {
  const facts = describeAction(discoverer, key, action);
  const { name } = facts;
  if ('asks' in action) {
    const databases = () => import('../databases/ask-database.ts');
    return {
      ...facts,
      plan: async (values, context) =>
        (await databases()).planQuery({ tool: name, action, values, services }, context),
      run: async ({ work }, context) => (await databases()).askDatabase(work, context),
    };
  }
  const called = async (values: Record<string, unknown>, context: PlanContext) => ({
    key,
    discoverer,
    ...(await placed(action, values, context)),
    context,
    services,
  });
  if ('reads' in action)
    return {
      ...facts,
      async plan(values, context): Promise<Plan<string>> {
        const { folder, paths } = await called(values, context);
        return {
          effects: action.effects,
          subject: action.example.runs || name,
          folder,
          touches: [...paths, ...action.reads.map((file) => join(folder, file))],
          takenBack: false,
          exactly: JSON.stringify([name, folder]),
          work: folder,
        };
      },
      run: ({ work }, context) => readAction(action, work, context),
    };
  if ('client' in action) {
    const databases = () => import('../databases/database-program.ts');
    return {
      ...facts,
      plan: async (values, context) =>
        (await databases()).planDatabaseProgram({ ...(await called(values, context)), action }),
      run: async ({ work }, context) => (await databases()).runDatabaseProgram(work, context),
    };
  }
  return {
    ...facts,
    plan: async (values, context) => planAction({ ...(await called(values, context)), action }),
    run: ({ work }, context) => runProgram(work, { ...action, hints: discoverer.hints }, context, services),
  };
}

/** The folder of a call, every path parameter replaced by an absolute path inside the roots, and these paths. */
async function placed(
  action: AnyAction,
  { cwd, ...values }: Record<string, unknown>,
  { workspace }: PlanContext,
) {
  const folder =
    cwd === undefined
      ? workspace.home
      : await workspace.resolve(String(cwd), { kind: 'folder', mustExist: true });
  const resolved: Record<string, unknown> = { ...values };
  const paths: string[] = [];
  for (const [name, schema] of Object.entries(action.params)) {
    const facts = pathFacts(schema as z.ZodType);
    if (!facts) continue;
    const { kind, written } = facts;
    const inside = async (path: unknown) => {
      const found = await workspace.resolve(String(path), { from: folder, kind });
      // The gate looks at what a program will write as it does at what we write; it makes the folders that are missing.
      const place = written ? await unlessMissing(rooted(workspace).openPlace(found)) : undefined;
      await place?.folder.handle.close();
      paths.push(found);
      return found;
    };
    const value = values[name];
    if (typeof value === 'string') resolved[name] = await inside(value);
    if (Array.isArray(value)) resolved[name] = await Promise.all(value.map(inside));
  }
  return { folder, values: resolved, paths };
}

/** What the first of its files that is there says. Throws PATH_NOT_FOUND, and what the gate throws. */
async function readAction(
  { reads, parse }: FileAction,
  folder: string,
  { workspace }: CallContext,
): Promise<ToolResult> {
  for (const file of reads) {
    const opened = await unlessMissing(rooted(workspace).openFile(file, { from: folder }));
    if (!opened) continue;
    try {
      const { size } = opened.stat;
      if (size > readBytes)
        throw new ToolcribError('TOO_LARGE', `${file}: ${size} bytes is more than is parsed.`);
      return parsedResult(parse, (await opened.handle.readAll()).toString('utf8'), {
        command: file,
        notes: [],
      });
    } finally {
      await opened.handle.close();
    }
  }
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no ${reads.join(', ')} here.`,
    'Give the folder that has one as cwd.',
  );
}

const unlessMissing = <T>(opened: Promise<T>): Promise<T | undefined> =>
  opened.catch((error: unknown) => {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  });
