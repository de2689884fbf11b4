import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('the entry of the registry, the changelog and the package say the same', () => {
  const { name, version, mcpName, repository } = JSON.parse(read('package.json')) as Record<string, string>;
  expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`);
  const entry = JSON.parse(read('server.json')) as Record<string, unknown>;
  expect(entry).toMatchObject({ name: mcpName, version, packages: [{ identifier: name, version }] });
  const { url } = entry['repository'] as { url: string };
  expect(repository).toMatchObject({ url: `git+${url}.git` });
  // The registry takes no more.
  expect(String(entry['description']).length).toBeLessThanOrEqual(100);
});

it('names only files that are there in CONTRIBUTING.md, but for the one of its example', () => {
  const named = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|scripts)\/[\w./-]+\.\w+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(5);
  const missing = named.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)));
  expect(missing).toEqual(['src/discoverers/hugo.ts']);
});

it('workflows use actions by their commit', () => {
  for (const file of readdirSync(new URL('../../.github/workflows', import.meta.url)))
    for (const [, used] of read(`.github/workflows/${file}`).matchAll(/uses: (.*)/g))
      expect(used).toMatch(/@[0-9a-f]{40} # v/);
});

it('the recording of the README shows no path of the machine that made it', () => {
  expect(read('README.md')).toContain('(docs/recording.svg)');
  const recording = read('docs/recording.svg');
  expect(recording).toContain('1 failed, 0 passed');
  expect(recording).toContain('Took back edit src/cart.js');
  expect(recording).not.toMatch(/\/tmp|\/home|\/root|Error/);
});
