import { nearest } from '../core/check-params.ts';
import { loadManifest } from '../server/manifest.ts';
import { UsageError } from './usage.ts';

/** A misspelt toolset would silently leave its tools out. */
export async function checkToolsets(toolsets: readonly string[]): Promise<void> {
  const { programs } = await loadManifest();
  const known = ['files', 'toolcrib', ...programs.map(({ id }) => id)];
  const wrong = toolsets.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const best = nearest(wrong, known);
  throw new UsageError(
    `toolset ${wrong}: there is no such toolset${best ? `; did you mean ${best}?` : `; there are ${known.join(', ')}.`}`,
  );
}
