// THIRD-PARTY-LICENSES.md: the licence of every package whose code is in the bundle.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `built`: what esbuild says of each of its runs. */
export function writeLicenses(root, built) {
  const folders = new Set(
    built
      .flatMap(({ metafile }) => Object.keys(metafile.inputs))
      .map((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
      .filter(Boolean),
  );
  const packages = [...folders].sort().map((folder) => describe(join(root, folder)));
  const unlicensed = packages.filter(({ license }) => !license);
  if (unlicensed.length > 0) throw new Error(`no licence: ${unlicensed.map(({ name }) => name).join(', ')}`);
  const text = [
    '# Third-party licences',
    '',
    'The package contains code of these packages, under their own licences. Written by `npm run build`.',
    ...packages.flatMap(({ name, version, license, text: full }) => [
      '',
      `## ${name} ${version} (${license})`,
      '',
      '```',
      full,
      '```',
    ]),
    '',
  ].join('\n');
  const file = join(root, 'THIRD-PARTY-LICENSES.md');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

function describe(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const holder = typeof author === 'string' ? author : (author?.name ?? 'its authors');
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `${license}. Copyright of ${holder}.`;
  return { name, version, license, text };
}
