import { synonymsOf, wordsOf } from './words.ts';

const weights = { name: 3, title: 3, program: 3, description: 1.5, parameters: 0.7 } as const;
type SearchField = keyof typeof weights;

/** The texts of an entry that are searched; the field of a word weighs it by `weights`. */
export type SearchFields = Readonly<Record<SearchField, string>>;

/** The usual constants of BM25F: S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework (2009). */
const [k1, b] = [1.2, 0.6];
/** The score of a synonym, as a part of the score of the word itself. */
const synonymWeight = 0.45;

/** Scores each entry for a query by BM25F; 0 without a word in common. */
export function scoresOf(entries: readonly SearchFields[], query: string): number[] {
  // Occurrences of each word in each entry, weighed by the fields they are in and the lengths of these.
  const counts = entries.map(() => new Map<string, number>());
  for (const [field, weight] of Object.entries(weights)) {
    const texts = entries.map((fields) => wordsOf(fields[field as SearchField]));
    const mean = texts.reduce((sum, { length }) => sum + length, 0) / (entries.length || 1);
    for (const [at, words] of texts.entries())
      for (const word of words) {
        const weighted = weight / (1 - b + (b * words.length) / (mean || 1));
        counts[at]?.set(word, (counts[at].get(word) ?? 0) + weighted);
      }
  }
  const containing = new Map<string, number>();
  for (const count of counts)
    for (const word of count.keys()) containing.set(word, (containing.get(word) ?? 0) + 1);

  function scoreOf(terms: readonly string[], count: ReadonlyMap<string, number>): number {
    const wordScore = (word: string) => {
      const entryCount = containing.get(word) ?? 0;
      const rarity = Math.log(1 + (entries.length - entryCount + 0.5) / (entryCount + 0.5));
      return (rarity * (count.get(word) ?? 0)) / (k1 + (count.get(word) ?? 0));
    };
    const scores = terms.map((term) =>
      Math.max(wordScore(term), ...synonymsOf(term).map((other) => synonymWeight * wordScore(other))),
    );
    // An entry with all words is more likely meant than one with one of them many times.
    const matched = scores.filter((score) => score > 0).length;
    return scores.reduce((sum, score) => sum + score, 0) * (matched / terms.length);
  }

  const terms = [...new Set(wordsOf(query))];
  return counts.map((count) => scoreOf(terms, count));
}
