import { discoverers } from '../../discoverers/index.ts';
import type { Catalogue } from '../../machine/catalogue.ts';
import { builtInTools } from '../../tools/index.ts';
import { builtInEntry, programEntries } from './catalogue-entries.ts';

/**
 * Everything that can be offered, worked out from the discoverers and the built-in tools. It takes some 100
 * ms, mostly zod's, so the build does it once and puts the answer in the place of manifest.ts.
 */
export async function buildCatalogue(): Promise<Catalogue> {
  const files = await Promise.all(
    Object.entries(discoverers).map(async ([file, load]) =>
      [(await load()).default].flat().map((of) => ({ file, of })),
    ),
  );
  const builtIn = await Promise.all(Object.values(builtInTools).map((load) => load()));
  const { programs, tools: actions } = programEntries(files.flat());
  const tools = [...builtIn.map((module) => builtInEntry(module.default)), ...actions];
  return { programs, tools: tools.sort((one, other) => (one.name < other.name ? -1 : 1)) };
}
