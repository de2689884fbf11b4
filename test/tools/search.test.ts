import { expect, it } from 'vitest';
import { rankTools } from '../../src/tools/find-actions.ts';
import { loadManifest } from '../../src/server/registry/manifest.ts';
import { questions } from '../server/questions.ts';

const manifest = await loadManifest();
// A machine with Docker has no Podman, whose actions are called the same.
const tools = manifest.tools.filter(({ program }) => program !== 'podman');

it('finds the right action among the first five for nineteen questions of twenty', () => {
  const isUsed = ({ program }: { readonly program: string }) => program === 'git';
  const wrong = questions.filter(([question, ...right]) => {
    const first = rankTools(tools, question, isUsed, manifest).slice(0, 5);
    const isRight = (name: string) =>
      right.some((one) => (one.startsWith('*') ? name.endsWith(one.slice(1)) : name === one));
    return !first.some(({ name }) => isRight(name));
  });
  expect(wrong.length / questions.length, JSON.stringify(wrong)).toBeLessThanOrEqual(0.05);
});
