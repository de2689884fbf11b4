import type { Document, Node, Pair } from 'yaml';
import { ToolcribError } from '../../core/errors.ts';

/** What a Compose file has Compose read besides, by paths as they are written there. */
export interface References {
  /** Files of variables and labels. */
  readonly texts: readonly string[];
  /** Each `include`: its files, and the folders that its paths are relative to, if it names one. */
  readonly includes: readonly { readonly files: readonly string[]; readonly folders: readonly string[] }[];
  /** Files with services that are extended. */
  readonly extended: readonly string[];
}

/**
 * Which files a Compose file names that are read before anything is started. Rather too many than too few: what another
 * reader of YAML could take for something else is refused, and keys count wherever they are. Throws REPO_UNTRUSTED.
 */
export async function referencesIn(text: string, file: string): Promise<References> {
  // Line ends of YAML 1.1 only, other encodings, and directives that change what things mean.
  const odd = /[\0\u0085\u2028\u2029\ufffd]|\r(?!\n)|^%/m.test(text);
  if (odd) throw unclear(file, 'has characters that are read in more than one way');
  const { default: yaml } = await import('yaml');
  const documents = yaml.parseAllDocuments(text, { version: '1.2', merge: false, prettyErrors: false });
  const texts: string[] = [];
  const extended: string[] = [];
  const includes: { files: string[]; folders: string[] }[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    const [problem] = [...document.errors, ...document.warnings.filter(({ message }) => !isOwnTag(message))];
    if (problem) throw unclear(file, `could not be understood (${problem.code})`);
    if (document.contents === null) continue;
    if (!yaml.isMap(document.contents)) throw unclear(file, 'is no Compose file');
    const strings = stringsOf(yaml, document);
    yaml.visit(document, {
      Value(_, { tag }) {
        if (tag !== undefined && !plainTags.test(tag)) throw unclear(file, `has ${JSON.stringify(tag)}`);
      },
      Pair(_, pair) {
        const key = strings.key(pair);
        if (key === 'env_file' || key === 'label_file')
          texts.push(...strings.in(pair.value as Node, key).map(({ value }) => value));
        if (key === 'extends') extended.push(...named(strings.in(pair.value as Node, key), 'file'));
      },
    });
    for (const item of strings.items(document.contents, 'include')) {
      const found = strings.in(item, 'path');
      includes.push({ files: named(found, 'path'), folders: named(found, 'project_directory') });
      texts.push(...named(found, 'env_file'));
    }
  }
  return { texts, includes, extended };
}

/** Not `!!binary`, which makes one text of another. */
const plainTags = /^(?:!(?:reset|override)?|tag:yaml\.org,2002:(?:str|int|bool|null|float|map|seq))$/;
const isOwnTag = (message: string): boolean => /^Unresolved tag: !(?:reset|override)$/.test(message);

interface Found {
  readonly key: string;
  readonly value: string;
}

const named = (found: readonly Found[], wanted: string): string[] =>
  found.flatMap(({ key, value }) => (key === wanted ? [value] : []));

function stringsOf(yaml: typeof import('yaml'), document: Document) {
  const real = (node: unknown): unknown => (yaml.isAlias(node) ? node.resolve(document) : node);
  const keyOf = ({ key }: Pair<unknown, unknown>): string | undefined => {
    const name = real(key);
    return yaml.isScalar(name) ? String(name.value) : undefined;
  };
  /** All strings in a value, each with the key it stands under; what is merged in stands where it is merged. */
  function inside(given: unknown, key: string, seen = new Set<unknown>()): Found[] {
    const node = real(given);
    if (yaml.isScalar(node)) return typeof node.value === 'string' ? [{ key, value: node.value }] : [];
    if (!yaml.isCollection(node) || seen.has(node)) return [];
    const within = new Set([...seen, node]);
    return node.items.flatMap((item) => {
      if (!yaml.isPair(item)) return inside(item, key, within);
      const name = keyOf(item) ?? key;
      return inside(item.value, name === '<<' ? key : name, within);
    });
  }
  /** What a list at the top has, or the one thing in its place. */
  function items(top: unknown, wanted: string, depth = 0): unknown[] {
    const node = real(top);
    if (yaml.isSeq(node) && depth > 0) return node.items.flatMap((item) => items(item, wanted, depth));
    if (!yaml.isMap(node) || depth > 20) return [];
    return node.items.flatMap((pair) => {
      const key = keyOf(pair);
      if (key === '<<') return items(pair.value, wanted, depth + 1);
      const value = real(pair.value);
      return key === wanted ? (yaml.isSeq(value) ? value.items : [value]) : [];
    });
  }
  return { key: keyOf, in: inside, items };
}

const unclear = (file: string, why: string): ToolcribError =>
  new ToolcribError(
    'REPO_UNTRUSTED',
    `${file} ${why}, so that it cannot be told which files Compose would read.`,
    'Look at it; if it is yours, trust the project (toolcrib trust).',
  );
