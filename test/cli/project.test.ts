import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/repository.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('has the same facts in the entry of the registry, the changelog and the package', () => {
  const { name, version, mcpName, repository } = JSON.parse(read('package.json')) as Record<string, string>;
  expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`);
  const entry = JSON.parse(read('server.json')) as Record<string, unknown>;
  expect(entry).toMatchObject({ name: mcpName, version, packages: [{ identifier: name, version }] });
  const { url } = entry['repository'] as { url: string };
  expect(repository).toMatchObject({ url: `git+${url}.git` });
  // The registry takes no more.
  expect(String(entry['description']).length).toBeLessThanOrEqual(100);
});

it('names only files that exist in CONTRIBUTING.md, except for those of its recipes', () => {
  const named = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|scripts)\/[\w./-]+\.\w+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(5);
  const missing = named.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)));
  expect([...new Set(missing)]).toEqual([
    'src/discoverers/hugo.ts',
    'src/tools/files/file-size.ts',
    'src/cli/settings-file.ts',
  ]);
});

it('uses actions by their commit in workflows', () => {
  for (const file of readdirSync(new URL('../../.github/workflows', import.meta.url)))
    for (const [, used] of read(`.github/workflows/${file}`).matchAll(/uses: (.*)/g))
      expect(used).toMatch(/@[0-9a-f]{40} # v/);
});

it('shows no path of the machine that made it in the recording of the README', () => {
  expect(read('README.md')).toContain('(docs/recording.svg)');
  const recording = read('docs/recording.svg');
  expect(recording).toContain('1 failed, 0 passed');
  expect(recording).toContain('Took back edit src/cart.js');
  expect(recording).not.toMatch(/\/tmp|\/home|\/root|Error/);
});

it.skipIf(process.platform === 'win32')(
  'names in the README what runs it and what tests it, and the gate takes no other commands',
  () => {
    const readme = read('README.md');
    const [, block = ''] = /^```sh\n([^]*?)^```$/m.exec(readme) ?? [];
    expect(block.replaceAll(/ *#.*/g, '')).toBe('npm ci && npm start\nnpm test\n');
    const folder = temporaryFolder();
    mkdirSync(join(folder, '.ci'));
    cpSync(fileURLToPath(new URL('../../.ci/run', import.meta.url)), join(folder, '.ci/run'));
    for (const [from, to] of [
      ['npm ci && npm start ', 'npm ci && npm run start '],
      ['\nnpm test\n', '\n'],
      ['\nnpm test\n', '\nnpm test\nnpm run check\n'],
      ['\nnpm test\n', '\nnpm run test:none\n'],
      ['```sh', '```bash'],
    ] as const) {
      expect(readme).toContain(from);
      writeFileSync(join(folder, 'README.md'), readme.replace(from, to));
      const { status, stdout, stderr } = spawnSync('bash', [join(folder, '.ci/run')], { encoding: 'utf8' });
      expect(status).toBe(1);
      expect(stderr).toContain(
        'README.md: its first block has to be "npm ci && npm start", then "npm test".',
      );
      expect(stdout).not.toContain('Programs the tests run');
    }
  },
);
