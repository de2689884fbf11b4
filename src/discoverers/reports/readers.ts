import type * as z from 'zod';
import type { Output, Reader } from '../../core/grammar.ts';

const parse = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ''));

/** A JSON document; of it, what the schema names. */
export const json =
  <S extends z.ZodType, T>(schema: S, map: (value: z.output<S>, output: Output) => T): Reader<T> =>
  (output) =>
    map(schema.parse(parse(output.stdout)), output);

/**
 * One JSON object a line. Lines that are something else are passed over, unless none is one that is looked
 * for, or the last one is cut off.
 */
export const jsonLines =
  <S extends z.ZodType, T>(schema: S, map: (all: z.output<S>[]) => T): Reader<T> =>
  ({ stdout }) => {
    const lines = stdout.split('\n').filter((line) => line.trim() !== '');
    const objects = lines.map((line) => (/^\s*[[{]/.test(line) ? documentIn(line) : 'none'));
    const found = objects.flatMap((one) => {
      const known = typeof one === 'string' ? undefined : schema.safeParse(one.document);
      return known?.success ? [known.data] : [];
    });
    if (lines.length > 0 && (found.length === 0 || objects.at(-1) === 'broken'))
      throw new Error('expected JSON lines');
    return map(found);
  };

function documentIn(line: string): { readonly document: unknown } | 'broken' {
  try {
    return { document: parse(line) };
  } catch {
    return 'broken';
  }
}

/** Texts that the named groups of a pattern have found. */
export type PatternGroups = Readonly<Record<string, string | undefined>>;

/**
 * Lines that a pattern recognises; of standard output, or of both. Nothing recognised in what standard output
 * says is no answer: of what is known to say that there is nothing, `map` makes undefined.
 */
export const lines =
  <T>(
    pattern: RegExp,
    map: (found: PatternGroups) => T | undefined,
    from: 'stdout' | 'both' = 'stdout',
  ): Reader<T[]> =>
  ({ stdout, stderr, exitCode }) => {
    const all = (from === 'both' ? `${stdout}\n${stderr}` : stdout).split(/\r?\n/);
    const found = all.flatMap((line) => {
      const groups = pattern.exec(line)?.groups;
      return groups ? [map(groups)] : [];
    });
    if (found.length === 0 && (exitCode !== 0 || stdout.trim() !== ''))
      throw new Error('no line was recognised');
    return found.filter((one): one is T & {} => one !== undefined);
  };

/**
 * Fields with `separator` between them, a record a line (or up to a NUL). A record with too few of them is no
 * answer.
 */
export const records =
  <T>(
    fields: number,
    map: (...fields: string[]) => T,
    { separator = '\t', end = '\n' }: { separator?: string; end?: string } = {},
  ): Reader<T[]> =>
  ({ stdout }) =>
    stdout
      .split(end)
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const all = line.split(separator);
        if (all.length < fields) throw new Error(`expected ${fields} fields`);
        return map(...all);
      });

/** The answer of a formatter that found nothing to do. */
export const allFormatted = 'every file is formatted';

/**
 * All that it says; `nothing` where a success says nothing. A failure without a word on its own stream has
 * another reason.
 */
export const saidOr =
  (nothing: string, own: 'stdout' | 'stderr' = 'stdout'): Reader<string> =>
  (output) => {
    if (output.exitCode !== 0 && output[own].trim() === '') throw new Error('it failed');
    const said = [output.stdout, output.stderr].map((text) => text.trim());
    return said.filter((text) => text !== '').join('\n') || nothing;
  };

/** Each report file, read and put together. None is no answer. */
export const filed =
  <T>(read: (text: string, path: string) => T[]): Reader<T[]> =>
  ({ files }) => {
    const all = Object.entries(files);
    if (all.length === 0) throw new Error('no report was written');
    return all.flatMap(([path, text]) => read(text, path));
  };

/** A list that ends where the limit of the call is says that there may be more. */
export const limited =
  <T>(read: Reader<readonly T[]>): Reader<{ items: readonly T[]; more: string | undefined }> =>
  (output) => {
    const items = read(output);
    return {
      items,
      more: items.length === output.values['limit'] ? 'there may be more: raise limit' : undefined,
    };
  };
