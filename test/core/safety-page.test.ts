import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { askReasons } from '../../src/core/policy.ts';

it('docs/safety.md has a row for each reason to ask, in the order of the table in the code', () => {
  const page = readFileSync('docs/safety.md', 'utf8').split('\n## ');
  const decides = page.find((section) => section.startsWith('Who decides')) ?? '';
  expect([...decides.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason)).toEqual(askReasons);
});
