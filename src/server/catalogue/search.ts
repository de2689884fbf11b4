import { alikeOf, wordsOf } from './words.ts';

/** Something to be found: each field has texts, and counts as much as `weights` says. */
export interface Entry {
  readonly name: string;
  readonly fields: Readonly<Record<Field, string>>;
}

const weights = { name: 3, title: 3, program: 3, description: 1.5, parameters: 0.7 } as const;
type Field = keyof typeof weights;
const fields = Object.keys(weights) as Field[];

/** The usual constants of BM25F: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework (2009). */
const [k1, b] = [1.2, 0.6];
/** What a word of the same meaning counts, beside the word itself. */
const alike = 0.45;

export interface Match {
  readonly name: string;
  readonly score: number;
}

/** Finds entries by words, the best first; empty when no word of the query is in any. */
export function createSearch(entries: readonly Entry[]): (query: string) => Match[] {
  const documents = entries.map(({ name, fields: texts }) => ({
    name,
    words: Object.fromEntries(fields.map((field) => [field, wordsOf(texts[field])])) as Record<
      Field,
      string[]
    >,
  }));
  const lengths = Object.fromEntries(
    fields.map((field) => [field, mean(documents.map(({ words }) => words[field].length))]),
  ) as Record<Field, number>;
  const counts = documents.map(({ words }) => weighed(words, lengths));
  const containing = new Map<string, number>();
  for (const count of counts)
    for (const word of count.keys()) containing.set(word, (containing.get(word) ?? 0) + 1);
  const rarity = (word: string): number => {
    const many = containing.get(word) ?? 0;
    return Math.log(1 + (documents.length - many + 0.5) / (many + 0.5));
  };

  return (query) => {
    const terms = [...new Set(wordsOf(query))];
    return documents
      .map(({ name }, at) => ({
        name,
        score: scoreOf(terms, counts[at] ?? new Map<string, number>(), rarity),
      }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1));
  };
}

/** How often each word stands in an entry, by the weight and the length of the fields it stands in. */
function weighed(words: Readonly<Record<Field, string[]>>, lengths: Readonly<Record<Field, number>>) {
  const count = new Map<string, number>();
  for (const field of fields)
    for (const word of words[field]) {
      const long = 1 - b + (b * words[field].length) / (lengths[field] || 1);
      count.set(word, (count.get(word) ?? 0) + weights[field] / long);
    }
  return count;
}

function scoreOf(
  terms: readonly string[],
  count: ReadonlyMap<string, number>,
  rarity: (word: string) => number,
): number {
  let score = 0;
  let found = 0;
  for (const term of terms) {
    const often = (word: string) => (rarity(word) * (count.get(word) ?? 0)) / (k1 + (count.get(word) ?? 0));
    const best = Math.max(often(term), ...alikeOf(term).map((other) => alike * often(other)));
    score += best;
    if (best > 0) found += 1;
  }
  // Who has all words is meant rather than who has one of them many times.
  return score * (found / terms.length);
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / (numbers.length || 1);
