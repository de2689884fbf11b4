import type { KnownNames } from '../../core/config.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Config } from '../../core/settings.ts';
import { shownPath } from '../paths/shown-path.ts';

/**
 * The settings that the bytes of a file say. Names of tools and toolsets are checked when `known` tells which there
 * are. Throws CONFIG_INVALID with file, line and what was probably meant. What it needs is loaded when it is called:
 * most people have no such file.
 */
export async function readSettings(
  bytes: Buffer,
  { file, whose, known }: { file: string; whose: 'operator' | 'project'; known?: KnownNames | undefined },
): Promise<Config> {
  const [{ readJsonc }, { checkConfig, placeOf }] = await Promise.all([
    import('./jsonc.ts'),
    import('../../core/config.ts'),
  ]);
  const document = await readJsonc(decoded(bytes, file));
  if ('wrong' in document) throw invalid(`${shownPath(file)}:${document.line}`, document.wrong);
  const checked = checkConfig(document.value, { whose, file: shownPath(file), known });
  if ('config' in checked) return checked.config;
  const [first] = checked.complaints
    .slice(0, 20)
    .map(({ path, says }) => ({ line: document.lineOf(path), path, says }))
    .sort((one, other) => one.line - other.line);
  if (!first) throw invalid(shownPath(file), 'it cannot be understood.');
  const where = first.path.length === 0 ? '' : `${placeOf(first.path)}: `;
  throw invalid(`${shownPath(file)}:${first.line}`, where + first.says);
}

/** CONFIG_INVALID for a place in a file. */
export const invalid = (place: string, why: string): ToolcribError =>
  new ToolcribError('CONFIG_INVALID', `${place}: ${why}`);

function decoded(bytes: Buffer, file: string): string {
  try {
    // It also takes away the mark that Windows editors put before the text.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid(shownPath(file), 'it is not UTF-8.');
  }
}
