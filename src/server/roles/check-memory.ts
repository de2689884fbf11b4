import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { ToolResult } from '../../core/tool.ts';

/** What is checked. */
export type Kind = 'test' | 'lint' | 'types' | 'build' | 'format';

/** One test that failed, or one diagnostic. */
export interface Problem {
  /** The same for the same problem, wherever it has moved to. */
  readonly id: string;
  readonly level: 'error' | 'warning' | 'info';
  readonly file?: string;
  readonly line?: number;
  readonly name?: string;
  readonly message: string;
}

/**
 * The problems that a result has, by the kind of its report; undefined when it has no report. Programs name files from
 * where they run, or absolutely; here they are named from the root.
 */
export function problemsOf(
  { data, isError }: ToolResult,
  folder: string,
  root: string,
): readonly Problem[] | undefined {
  if (isError || !data) return undefined;
  const fromRoot = (file: string): string => {
    const path = relative(root, resolve(folder, file));
    return path.startsWith('..') || isAbsolute(path) ? file : path;
  };
  const { failures, items } = data as {
    failures?: readonly Omit<Problem, 'id' | 'level'>[];
    items?: readonly (Omit<Problem, 'id'> & { readonly code?: string; readonly column?: number })[];
  };
  const short = (text: string) => text.replaceAll(`${root}${sep}`, '');
  const named = <P extends { readonly file?: string; readonly message: string }>(one: P) => ({
    ...one,
    ...(one.file !== undefined && { file: fromRoot(one.file) }),
    message: short(one.message),
  });
  if (failures)
    return failures.map((one) => ({ ...named(one), id: one.name ?? '', level: 'error' as const }));
  return items?.map(({ code, ...one }) => ({
    ...named(one),
    id: JSON.stringify([one.file, code, one.message]),
    message: short(code === undefined ? one.message : `${one.message} [${code}]`),
  }));
}

/** What is different from last time. */
export interface Since {
  readonly fixed: number;
  readonly new: ReadonlySet<string>;
}

/** What failed last, while the server runs. */
export class CheckMemory {
  readonly #last = new Map<string, readonly Problem[]>();

  /** What failed last: the names of tests, or files. Undefined when that is not known. */
  failed(key: string): readonly string[] | undefined {
    const problems = this.#last.get(key);
    if (problems === undefined || problems.length === 0) return undefined;
    return [...new Set(problems.flatMap(({ name, file }) => name ?? file ?? []))];
  }

  /** What is different; undefined the first time, and where there is no report. */
  note(key: string, problems: readonly Problem[], isPart: boolean): Since | undefined {
    const last = this.#last.get(key);
    const known = new Set(last?.map(({ id }) => id));
    const now = new Set(problems.map(({ id }) => id));
    // Of a part, what is not in the answer was not looked at.
    const kept = isPart ? (last ?? []).filter(({ id }) => !now.has(id)) : [];
    this.#last.set(key, [...problems, ...kept]);
    if (!last || isPart) return undefined;
    return {
      fixed: last.filter(({ id }) => !now.has(id)).length,
      new: new Set([...now].filter((id) => !known.has(id))),
    };
  }
}
