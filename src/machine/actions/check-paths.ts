import type { Values } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Params } from '../../core/parameter.ts';
import { pathFacts, type PathKind } from '../../core/params.ts';
import type { Role } from '../../core/program.ts';
import type { Workspace } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';

/** A parameter whose values are paths. */
export interface PathParam {
  readonly name: string;
  readonly kind: PathKind;
  /** The file there is made or replaced. */
  readonly written: boolean;
}

/** The parameters of an action whose values are paths. */
export const pathParams = (params: Params): PathParam[] =>
  Object.entries(params).flatMap(([name, { schema }]) => {
    const facts = pathFacts(schema);
    return facts ? [{ name, ...facts }] : [];
  });

/** The values of a call, with all paths absolute and inside the roots. */
interface CheckedPaths {
  readonly folder: string;
  readonly values: Values;
  readonly paths: readonly string[];
}

/** Roles of actions that find nothing wrong with a file that is not there. A glob may find something. */
const looking: ReadonlySet<string | undefined> = new Set(['test', 'lint', 'types', 'format']);

/**
 * The folder of a call, every path parameter replaced by an absolute path inside the roots, and these paths.
 */
export async function checkPaths(
  params: readonly PathParam[],
  role: Role | undefined,
  { cwd, ...given }: Values,
  workspace: Workspace,
): Promise<CheckedPaths> {
  const folder =
    cwd === undefined
      ? workspace.home
      : await workspace.resolve(String(cwd), { kind: 'folder', mustExist: true });
  const values: Record<string, unknown> = { ...given };
  const paths: string[] = [];
  for (const { name, kind, written } of params) {
    const inside = async (path: unknown) => {
      const mustExist = !written && looking.has(role) && !/[*?[{]/.test(String(path));
      const found = await workspace.resolve(String(path), { from: folder, kind, mustExist });
      // The gate looks at what a program will write as it does at what we write; it makes the folders that
      // are missing.
      const place = written ? await unlessMissing(rooted(workspace).openPlace(found)) : undefined;
      await place?.folder.handle.close();
      paths.push(found);
      return found;
    };
    const value = given[name];
    if (typeof value === 'string') values[name] = await inside(value);
    if (Array.isArray(value)) values[name] = await Promise.all(value.map(inside));
  }
  return { folder, values, paths };
}

/** Undefined in the place of PATH_NOT_FOUND. */
export const unlessMissing = <T>(opened: Promise<T>): Promise<T | undefined> =>
  opened.catch((error: unknown) => {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  });
