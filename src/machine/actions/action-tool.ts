import { join } from 'node:path';
import * as z from 'zod';
import { toolName, type AnyAction, type AnyDiscoverer, type FileAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { pathKind } from '../../core/params.ts';
import type { CallContext, Tool, ToolResult } from '../../core/tool.ts';
import { actionResult } from './action-result.ts';
import { runAction, type ActionServices } from './run-action.ts';
import { rooted } from '../paths/workspace.ts';

interface Where {
  folder: string;
  context: CallContext;
}

/** A file of a project that is larger was not written by hand. */
const readBytes = 1024 * 1024;

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
    ...('whenTrusted' in action && action.whenTrusted ? { whenTrusted: action.whenTrusted } : {}),
    permits: true,
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
  name: string,
  action: AnyAction,
  services: ActionServices,
): Tool {
  return {
    ...describeAction(discoverer, name, action),
    async call({ cwd, ...values }, context) {
      const { workspace } = context;
      if ('asks' in action) {
        const { askDatabase } = await import('../databases/ask-database.ts');
        return askDatabase({ tool: toolName(discoverer, name), action, values, context, services });
      }
      const folder =
        cwd === undefined
          ? workspace.home
          : await workspace.resolve(cwd, { kind: 'folder', mustExist: true });
      const where = { folder, context };
      const { inside, paths } = await resolvePaths(action, values, where);
      if ('reads' in action) return readFor(action, where);
      if ('client' in action) {
        const { runDatabaseProgram } = await import('../databases/database-program.ts');
        return runDatabaseProgram({ discoverer, action, values: inside, paths, ...where, services });
      }
      return runAction({ discoverer, name, action, values: inside, paths, ...where, services });
    },
  };
}

/** Every path parameter, replaced by an absolute path that was found to lie inside the roots; and these. */
async function resolvePaths(action: AnyAction, values: Record<string, unknown>, { folder, context }: Where) {
  const resolved = { ...values };
  const paths: string[] = [];
  for (const [name, schema] of Object.entries(action.params)) {
    const kind = pathKind(schema as z.ZodType);
    if (!kind) continue;
    const inside = async (path: unknown) => {
      const found = await context.workspace.resolve(String(path), { from: folder, kind });
      paths.push(found);
      return found;
    };
    const value = values[name];
    if (typeof value === 'string') resolved[name] = await inside(value);
    if (Array.isArray(value)) resolved[name] = await Promise.all(value.map(inside));
  }
  return { inside: resolved, paths };
}

async function readFor(action: FileAction, { folder, context }: Where): Promise<ToolResult> {
  await context.permit({
    effects: action.effects,
    folder,
    touches: action.reads.map((file) => join(folder, file)),
    command: action.example.runs,
  });
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
      if (size > readBytes)
        throw new ToolcribError('TOO_LARGE', `${file}: ${size} bytes is more than is parsed.`);
      return await actionResult(action, (await opened.handle.readAll()).toString('utf8'), {
        notes: [],
      });
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
