import { alikeOf, wordsOf } from './words.ts';

const weights = { name: 3, title: 3, program: 3, description: 1.5, parameters: 0.7 } as const;
type SearchField = keyof typeof weights;

/** The texts of something to be found: each field counts as much as `weights` says. */
export type SearchFields = Readonly<Record<SearchField, string>>;

/** The usual constants of BM25F: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework (2009). */
const [k1, b] = [1.2, 0.6];
/** What a word of the same meaning counts, beside the word itself. */
const alike = 0.45;

/** What each entry is worth to a query; 0 when no word of it is there. */
export function scoresOf(entries: readonly SearchFields[], query: string): number[] {
  /** How often each word stands in an entry, by the weight and the length of the fields it stands in. */
  const counts = entries.map(() => new Map<string, number>());
  for (const [field, weight] of Object.entries(weights)) {
    const texts = entries.map((fields) => wordsOf(fields[field as SearchField]));
    const mean = texts.reduce((sum, { length }) => sum + length, 0) / (entries.length || 1);
    for (const [at, words] of texts.entries())
      for (const word of words) {
        const weighed = weight / (1 - b + (b * words.length) / (mean || 1));
        counts[at]?.set(word, (counts[at].get(word) ?? 0) + weighed);
      }
  }
  const containing = new Map<string, number>();
  for (const count of counts)
    for (const word of count.keys()) containing.set(word, (containing.get(word) ?? 0) + 1);

  function scoreOf(terms: readonly string[], count: ReadonlyMap<string, number>): number {
    const often = (word: string) => {
      const many = containing.get(word) ?? 0;
      const rarity = Math.log(1 + (entries.length - many + 0.5) / (many + 0.5));
      return (rarity * (count.get(word) ?? 0)) / (k1 + (count.get(word) ?? 0));
    };
    const scores = terms.map((term) =>
      Math.max(often(term), ...alikeOf(term).map((other) => alike * often(other))),
    );
    // Who has all words is meant rather than who has one of them many times.
    const found = scores.filter((score) => score > 0).length;
    return scores.reduce((sum, score) => sum + score, 0) * (found / terms.length);
  }

  const terms = [...new Set(wordsOf(query))];
  return counts.map((count) => scoreOf(terms, count));
}
