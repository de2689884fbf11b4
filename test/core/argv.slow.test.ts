import { it } from 'vitest';
import { renderAtRandom } from './random-command-lines.ts';

it('renders a million command lines in which no value is an option or more than one argument', () => {
  renderAtRandom(1_000_000);
});
