import { expect, it } from 'vitest';
import { createCatalogueSearch } from '../../src/server/catalogue/find-actions.ts';
import { loadManifest } from '../../src/server/manifest.ts';
import { questions } from './questions.ts';

const manifest = await loadManifest();
const search = createCatalogueSearch(manifest.tools, manifest);

it('has the right action among the first five for nineteen questions of twenty', () => {
  const wrong = questions.filter(([question, ...right]) => {
    const first = search(question).slice(0, 5);
    const isRight = (name: string) =>
      right.some((one) => (one.startsWith('*') ? name.endsWith(one.slice(1)) : name === one));
    return !first.some(({ name }) => isRight(name));
  });
  expect(wrong.length / questions.length, JSON.stringify(wrong)).toBeLessThanOrEqual(0.05);
});
