// THIRD-PARTY-LICENSES.md: the licence of all code in the bundle that is not ours, also of what its packages
// have taken over from others. Whatever they took that is not known here ends the build, and so does an entry
// without its text.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const texts = join(import.meta.dirname, 'licenses');

/** Comments in which packages say that they took something over, and the name of it, where it is a work. */
const taken = [
  ['mysql2', 'adapted from denque', 'denque'],
  ['mysql2', 'github.com/mysqljs/mysql/', 'mysql'],
  ['mysql2', 'raw.githubusercontent.com/mysqljs/mysql/', 'mysql'],
  ['named-placeholders', 'mariasql library', 'mariasql'],
  ['pg', 'Ported from PostgreSQL', 'postgresql'],
  ['sql-escaper', 'mysqljs/sqlstring', 'sqlstring'],
  ['zod', 'Adapted from valibot', 'valibot'],
  ['zod', 'mapOnSchema', 'mapOnSchema'],
  // A sequence of characters, and a place in their own sources.
  ['zod', 'Adapted from https://stackoverflow.com/'],
  ['zod', 'ported from top-level'],
  ['openai', 'Taken from https://datatracker.ietf.org/'],
  ['@anthropic-ai/sdk', 'Taken from https://datatracker.ietf.org/'],
  ['@anthropic-ai/sdk', 'copied from `messages`'],
  ['@modelcontextprotocol/client', 'ported from a public package that'],
  ['@modelcontextprotocol/client', 'ported from `schemas.ts`'],
  ['@modelcontextprotocol/client', 'ported from the package index'],
  ['@modelcontextprotocol/client', 'taken from the cached `tools/list`'],
  ['@modelcontextprotocol/server', 'ported from a public package that'],
  ['@modelcontextprotocol/server', 'ported from `schemas.ts`'],
  ['pg-connection-string', 'copied from https://github.com/brianc/node-postgres'],
];

/** `built`: the answers of esbuild's runs. */
export function writeLicenses(root, built) {
  const text = licensesOf(root, [...new Set(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)))]);
  const file = join(root, 'THIRD-PARTY-LICENSES.md');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

/** The text of that file for the inputs of a bundle. Throws for what has no licence or text, or is unknown. */
export function licensesOf(root, inputs) {
  const packages = new Map();
  const others = new Map();
  for (const input of inputs) {
    const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (folder === undefined) continue;
    const { name, ...entry } = packages.get(folder) ?? describe(join(root, folder));
    const { notices, inlined } = lookInto(join(root, input), name);
    packages.set(folder, { ...entry, name, notices: new Set([...(entry.notices ?? []), ...notices]) });
    for (const [other, version] of inlined) {
      const before = others.get(other) ?? { versions: new Set(), holders: new Set() };
      if (version) before.versions.add(version);
      others.set(other, { ...before, holders: before.holders.add(name) });
    }
  }
  const own = [...packages].sort().map(([, entry]) => sectionOf(entry));
  const inlined = [...others].sort().map(([name, { versions, holders }]) => {
    const { license, text } = describe(join(root, 'node_modules', name), name);
    const version = [...versions].sort().join(', ');
    return sectionOf({ name, version, license, text, within: `Part of ${[...holders].sort().join(', ')}.` });
  });
  return [
    '# Third-party licences',
    '',
    'The package contains code of these packages, under their own licences. Written by `npm run build`.',
    ...own,
    ...inlined,
    '',
  ].join('\n');
}

/** That file with more entries, for what is handed on together with programs. */
export function licensesWith(root, more) {
  const known = readFileSync(join(root, 'THIRD-PARTY-LICENSES.md'), 'utf8');
  return `${[known.trimEnd(), ...more.map(sectionOf)].join('\n')}\n`;
}

/** Name, version, licence and text of a package in a folder; of one that is inlined elsewhere, by its name. */
export function describe(folder, inlined) {
  const file = join(folder, 'package.json');
  const facts = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const { name = inlined, version, license } = facts;
  const own = existsSync(folder)
    ? readdirSync(folder).filter((entry) => /^(?:licen[cs]e|notice)/i.test(entry))
    : [];
  const ours = join(texts, `${name}.txt`);
  const [, kept, keptText = ''] = existsSync(ours) ? /^(\S+)\n+([^]*)$/.exec(readFileSync(ours, 'utf8')) : [];
  const text =
    own.map((entry) => readFileSync(join(folder, entry), 'utf8').trim()).join('\n\n') || keptText.trim();
  const where = `put it into scripts/licenses/${name}.txt, its SPDX identifier on the first line`;
  if (!(license ?? kept)) throw new Error(`${name}: no licence is known: ${where}.`);
  if (text.length < 200) throw new Error(`${name}: there is no text of its licence (${license}): ${where}.`);
  return { name, version, license: license ?? kept, text };
}

/** A module of a package that a bundler has put into a file, as it is written in comments and source maps. */
const moduleOf = /node_modules\/((?:@[\w.-]+\/)?\w[\w.-]*)\/[\w@./-]*\.[cm]?[jt]sx?\b/g;
const vendored = /\/_?(?:vendor|vendored|third[-_]party|external)\/((?:@[\w.-]+\/)?\w[\w-]*)/i;
const comment = /^\s*(?:\/\*|\*|\/\/)|\/\/|\/\*/;
const takes = /\b(?:adapted|borrowed|copied|ported|taken) from\b|\bbased on code\b|\bvendored from\b/i;

/** Copyright notices in a file, which the bundler leaves out, and names of packages that are inlined there. */
function lookInto(file, owner) {
  const source = readFileSync(file, 'utf8');
  const map = existsSync(`${file}.map`) ? JSON.parse(readFileSync(`${file}.map`, 'utf8')).sources : [];
  const inlined = new Map();
  for (const [path, name] of [source, ...map].join('\n').matchAll(moduleOf)) {
    const [, version] =
      new RegExp(`\\.pnpm/${name.replace('/', '\\+')}@([^/_()]+)`).exec(
        source.slice(Math.max(0, source.indexOf(path) - 200), source.indexOf(path)),
      ) ?? [];
    if (name !== owner) inlined.set(name, version ?? inlined.get(name));
  }
  const below = dirname(file).slice(file.lastIndexOf('node_modules/'));
  const [, folder] = vendored.exec(`${below}/`) ?? [];
  if (folder !== undefined) inlined.set(folder, undefined);
  const notices = [];
  for (const line of source.split('\n')) {
    if (line.length > 400 || !comment.test(line)) continue;
    const text = line
      .replace(/^.*?(?:\/\/+|\/\*+|\*)!?\s*/, '')
      .replace(/\s*\*\/\s*$/, '')
      .trim();
    if (/\bcopyright\b.*(?:\d{4}|\(c\))|\(c\) \S/i.test(text)) notices.push(text);
    if (!takes.test(text)) continue;
    const known = taken.find(([name, says]) => name === owner && text.includes(says));
    if (!known) throw new Error(`${file}: "${text}": scripts/licenses.mjs has to say whose that is (taken).`);
    if (known[2] !== undefined) inlined.set(known[2], undefined);
  }
  return { notices, inlined };
}

function sectionOf({ name, version, license, text, notices = [], within }) {
  const further = [...notices].filter((notice) => !text.includes(notice)).sort();
  return [
    '',
    `## ${[name, version].filter(Boolean).join(' ')} (${license})`,
    ...(within ? ['', within] : []),
    '',
    '```',
    text,
    ...(further.length > 0 ? ['', 'Notices in its files:', ...further] : []),
    '```',
  ].join('\n');
}
