/** How much time may be spent; what was found until then is the answer. */
const budgetMs = 60;
/** A line that occurs more often says little of where a text begins. */
const mostSame = 4;
/** Of so many lines the likeness is told. */
const mostCompared = 50;
const leastLikeness = 0.4;
const candidates = 3;
/** Enough of a line to tell how alike two are. */
const lineCharacters = 400;

/**
 * The line of a text, from 0, where lines most like the given ones begin; undefined when none are. First by lines that
 * are the same but for blanks, quotes and case: each votes for a beginning. Without one, by the longest lines and
 * those of the text that are most like them.
 */
export function nearestStart(text: readonly string[], wanted: readonly string[]): number | undefined {
  const until = performance.now() + budgetMs;
  const given = wanted.map(folded);
  const same = votesOfSame(text, given, until);
  const votes = same.size > 0 ? same : votesOfAlike(text, given, until);
  const best = [...votes].sort(([, one], [, other]) => other - one).slice(0, candidates);
  const scored = best.map(([start]) => ({ start, score: likenessAt(text, given, start) }));
  scored.sort((one, other) => other.score - one.score);
  const [first] = scored;
  return first && first.score >= leastLikeness / 2 ? Math.max(0, first.start) : undefined;
}

/** A line without what is given wrongly most often: blanks, forms of quotes and dashes, case. */
function folded(line: string): string {
  if (line === '') return line;
  return line
    .slice(0, lineCharacters)
    .toLowerCase()
    .replaceAll(/[\s\u200b-\u200d\ufeff]+/g, '')
    .replaceAll(/[`´"\u2018-\u201f]/g, "'")
    .replaceAll(/[\u2010-\u2015]/g, '-');
}

/** For each line where the text may begin, how much speaks for it. */
type Votes = Map<number, number>;

const add = (votes: Votes, start: number, weight: number): void => {
  votes.set(start, (votes.get(start) ?? 0) + weight);
};

function votesOfSame(text: readonly string[], wanted: readonly string[], until: number): Votes {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const known = places.get(line) ?? [];
    if (/[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(line) && known.length < mostSame)
      places.set(line, [...known, index]);
  }
  const votes: Votes = new Map();
  if (places.size === 0) return votes;
  for (const [line, content] of text.entries()) {
    if (line % 512 === 0 && performance.now() > until) break;
    const same = places.get(folded(content)) ?? [];
    for (const index of same) add(votes, line - index, Math.min(80, content.length) / same.length);
  }
  return votes;
}

function votesOfAlike(text: readonly string[], wanted: readonly string[], until: number): Votes {
  const longest = [...wanted.entries()]
    .sort(([, one], [, other]) => other.length - one.length)
    .slice(0, candidates)
    .map(([index, line]) => ({ index, length: line.length, like: likenessTo(line) }));
  const votes: Votes = new Map();
  for (const [line, content] of text.entries()) {
    if (line % 256 === 0 && performance.now() > until) break;
    const other = folded(content);
    for (const { index, length, like } of longest) {
      // Of very different lengths, not enough can be shared.
      if (other.length < length / 4 || other.length > length * 4 + 4) continue;
      const likeness = like(other);
      if (likeness >= leastLikeness) add(votes, line - index, likeness * likeness * length);
    }
  }
  return votes;
}

/** How alike a text is from a line on: the average of its lines, weighed by their length. */
function likenessAt(text: readonly string[], wanted: readonly string[], start: number): number {
  let [score, whole] = [0, 0];
  for (const [index, line] of wanted.slice(0, mostCompared).entries()) {
    whole += line.length;
    if (line !== '') score += line.length * likenessTo(line)(folded(text[start + index] ?? ''));
  }
  return whole === 0 ? 0 : score / whole;
}

/**
 * How alike other lines are to one, from 0 to 1: twice the pairs of neighbouring characters they share, by all pairs of
 * both (Dice, Ecology 26, 1945).
 */
function likenessTo(line: string): (other: string) => number {
  const pairs = new Set(pairsOf(line));
  return (other) => {
    const others = new Set(pairsOf(other));
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared++;
    return pairs.size + others.size === 0 ? 0 : (2 * shared) / (pairs.size + others.size);
  };
}

const pairsOf = (line: string): number[] =>
  Array.from(
    { length: line.length },
    (_, at) => (line.charCodeAt(at - 1) || 0) * 65_536 + line.charCodeAt(at),
  );
