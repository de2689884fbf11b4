import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Words of exported types that are the field's, or plain English. A new one needs a thought: is there one already? */
const fieldWords = new Set(
  `
  admit advisory alternative alternatives annotations answer answers any as ask asked assistant audit
  audited before body broken budget budgets built cache cached call capabilities case category change
  changed chat check checked child choice client code collect collected collector command commands
  compiled complaint config connect content context damaged database decide decided decision
  declaration definition delta dependency details diff discovery done dump early edit editable editor
  elicit emit encoding encryption end endpoint ends engine entered entry error event excerpt excess
  expose facts failure fetch fields file files filter folder folders force format found fresh full
  garbage git glob glue grep groups guard guarded handler header http image in info input installation
  instruction interaction interruption item items json junit kept key kind known lasting launch limit
  limits line lines link list listed listening listing loader local location locations log logged
  login loop manager markdown matched mcp memory message mode model move mutable named names new no
  node object of one only open opened option options outcome own package paint pair param params
  parsed part path pattern pending permission person piece pipe plain planned platform prepared preset
  pressed probe problem processes profile project prose protection provider query question questions
  range raw read reader readers reading readline reason record recording refuse removal replacement
  reply requested response restore result results rooted row rpc run schema scope screen search secret
  selection serve server services setting settings shell shot sink skipped slash slot slots snapshot
  source spec splice stage start started state states stdio stop store stored stream table target task
  template terminal test text time times todo tokens tool toolbox toolcrib tools totals trace tracker
  transport tree trusted turn type undo undone unfinished unified updates usage used user value values
  version versions view waiter watch watchdog watched watcher window wire with wording work workspace
  write written xml
`.split(/\s+/),
);

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const sources = files.map((file) => readFileSync(join('src', file), 'utf8'));
const types = sources.flatMap((source) =>
  [...source.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name = '']) => name),
);
const wordsOf = (name: string): string[] =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z][a-z0-9]+|[a-z0-9]+/g) ?? []).map((word) => word.toLowerCase());

const [, section = ''] = readFileSync('docs/architecture.md', 'utf8').split('## Words');
const glossary = [...section.matchAll(/^\| ([a-z][a-z-]*) +\|/gm)].map(([, word = '']) => word);

/** A word, or its plural. */
const isKnown = (word: string): boolean =>
  [word, word.replace(/s$/, ''), word.replace(/ies$/, 'y')].some(
    (one) => glossary.includes(one) || fieldWords.has(one),
  );

it('has at most 40 words of its own', () => {
  expect(glossary.length).toBeGreaterThan(30);
  expect(glossary.length).toBeLessThanOrEqual(40);
});

it.each(glossary)('uses the word %s, which the glossary has', (word) => {
  const found = sources.some((source) => source.toLowerCase().includes(word.replace('-', '')));
  expect(found || sources.some((source) => source.includes(word))).toBe(true);
});

it('names exported types by words of the field or of the glossary', () => {
  expect(types.length).toBeGreaterThan(300);
  const unknown = types.filter((name) => !wordsOf(name).every(isKnown));
  expect(unknown).toEqual([]);
});

it('would see a private word', () => {
  expect(wordsOf('CribOptions').every(isKnown)).toBe(false);
});
