import { discoverers } from '../../discoverers/index.ts';
import { fileTools } from '../../tools/files/index.ts';
import type { Services } from '../../tools/files/services.ts';
import { builtInTools } from '../own-tools.ts';
import { programCatalogue, toolDefinition } from './tool-definition.ts';
import type { Catalogue } from '../published.ts';

/**
 * Everything that can be offered, worked out from the discoverers and our own tools. It takes some 100 ms, mostly
 * zod's, so the build does it once and puts the answer in the place of manifest.ts.
 */
export async function buildCatalogue(): Promise<Catalogue> {
  const files = await Promise.all(
    Object.entries(discoverers).map(async ([file, load]) =>
      [(await load()).default].flat().map((of) => ({ file, of })),
    ),
  );
  const own = await Promise.all([
    ...Object.values(fileTools).map((load) => load({} as Services)),
    ...Object.values(builtInTools).map((load) => load({} as never)),
  ]);
  const published = programCatalogue(files.flat());
  const tools = [...own.map(toolDefinition), ...published.tools];
  return { ...published, tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}
