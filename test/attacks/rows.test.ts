import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { rows } from './rows.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** The numbers that names of tests carry: as they stand there, or from the table that a name is filled from. */
function numbersIn(source: string): number[] {
  const named = [...source.matchAll(/ATTACK ([\d, –]*\d)/g)].flatMap(([, list = '']) => numbersOf(list));
  const isTable = /'ATTACK %[is]/.test(source);
  const tabled = isTable
    ? [...source.matchAll(/^\s*\[\s*'?(\d{1,3})'?,/gm)].map(([, number]) => Number(number))
    : [];
  return [...named, ...tabled];
}

/** `5, 13` and `24–29`. */
function numbersOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [from = NaN, to = from] = part.split('–').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

const tested = new Set<number>();
for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!path.endsWith('.test.ts') || path.endsWith('rows.test.ts')) continue;
  for (const number of numbersIn(readFileSync(join(folder, path), 'utf8'))) tested.add(number);
}

it.each(rows)('attack $number has a test: $title', ({ number }) => {
  expect(tested.has(number)).toBe(true);
});

it('names each once, and tests name no other', () => {
  const numbers = rows.map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  // 28, which no list has, lies within a range.
  expect([...tested].filter((number) => number !== 28 && !numbers.includes(number))).toEqual([]);
});

it('the server listens to no port but where it serves HTTP, which attack 109 is about', () => {
  const source = fileURLToPath(new URL('../../src/server', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.startsWith(join('http', '')),
  );
  // fetch_url asks others.
  const asking = join('fetch', 'request.ts');
  for (const path of files) {
    const text = readFileSync(join(source, path), 'utf8');
    expect(text, path).not.toMatch(/createServer|\.listen\(|streamableHttp/i);
    if (path !== asking) expect(text, path).not.toMatch(/node:https?'/);
  }
});
