import { expect } from 'vitest';
import { renderArgv } from '../../src/core/command-line.ts';
import type { Arg } from '../../src/core/discoverer.ts';
import { ToolcribError } from '../../src/core/errors.ts';

/** mulberry32, by Tommy Ettinger: fast, and the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const hostile = [
  '-',
  '--',
  '-x',
  '--output=/x',
  '--exec',
  '-oProxyCommand=x',
  '---',
  '-\n',
  '-\0',
  '‐x',
  '−x',
  '',
  ' ',
  'a b',
  '"a"',
  "'a'",
  '$(x)',
  '`x`',
  'a;b',
  'a\nb',
  'a\n--b',
  '	-x',
  ' -x',
  '=x',
  'x=-y',
  '@file',
  'a\0--b',
  'ünï',
  '日本',
  '‮-x',
  '\ud800',
  '%PATH%',
  '!x!',
  '^x',
  '/x',
  '\\x',
  '*',
  '~',
  '#',
  '{}',
];

/** Renders command lines of hostile values: no value is an option or more than one argument, or the line is refused. */
export function renderAtRandom(count: number): void {
  const random = randomFrom(20_261_120);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const text = () => (random() < 0.6 ? pick(hostile) : pick(hostile) + pick(hostile));
  let rendered = 0;
  let refused = 0;
  for (let round = 0; round < count; round++) {
    const values: Record<string, unknown> = {};
    const template: Arg[] = [];
    // What is to come of it, made from the values alone; undefined: it has to be refused.
    let expected: string[] | undefined = [];
    const add = (...args: string[]) => void expected?.push(...args);
    const placed = (value: string, ...before: string[]) => {
      if (value.startsWith('-') || value.includes('\0')) expected = undefined;
      else add(...before, value);
    };
    const pieces = 1 + Math.floor(random() * 4);
    for (let index = 0; index < pieces; index++) {
      const param = `p${index}`;
      const value = text();
      const absent = random() < 0.1;
      if (!absent) values[param] = value;
      const kind = Math.floor(random() * 7);
      if (kind === 0) {
        template.push({ param });
        if (!absent) placed(value);
      } else if (kind === 1) {
        template.push({ option: '--name', param });
        if (!absent) placed(value, '--name');
      } else if (kind === 2) {
        template.push({ option: '--name=', param });
        if (!absent && value.includes('\0')) expected = undefined;
        if (!absent) add(`--name=${value}`);
      } else if (kind === 3) {
        values[param] = [value, text()];
        template.push({ each: param });
        for (const one of values[param] as string[]) placed(one);
      } else if (kind === 4) {
        template.push({ join: ['stash@{', { param }, '}'] });
        if (!absent && value.includes('\0')) expected = undefined;
        if (!absent) add(`stash@{${value}}`);
      } else if (kind === 5) {
        template.push({ join: [{ param }, '..HEAD'] });
        if (!absent && (value.startsWith('-') || value.includes('\0'))) expected = undefined;
        if (!absent) add(`${value}..HEAD`);
      } else {
        template.push('--', { flag: '--all', param });
        // Only true is: not the text "true", and no number.
        add('--');
      }
    }
    let argv: string[] | undefined;
    try {
      argv = renderArgv(template, values);
      rendered++;
    } catch (error) {
      if (!(error instanceof ToolcribError) || !['ARG_FLAG', 'ARG_INVALID'].includes(error.code)) throw error;
      refused++;
    }
    // toEqual for each would take a minute.
    if (argv?.join('\u0001') !== expected?.join('\u0001') || argv?.length !== expected?.length)
      expect({ template, values, argv }).toEqual({ template, values, argv: expected });
  }
  expect(rendered).toBeGreaterThan(count / 10);
  expect(refused).toBeGreaterThan(count / 10);
}
