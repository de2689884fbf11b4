import { expect, it } from 'vitest';
import { hasReadlineInternals } from '../../../src/repl/terminal/readline-internals.ts';

it('finds in the readline of this Node what the line editor is built on', () => {
  expect(hasReadlineInternals()).toBe(true);
});
