import { it } from 'vitest';
import { renderAtRandom } from './random-command-lines.ts';

it('renders fifty thousand command lines in which no value is an option or more than one argument', () => {
  renderAtRandom(50_000);
});
