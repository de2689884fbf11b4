import { expect, it } from 'vitest';
import { pseudoMountsBelow } from '../../src/machine/paths/pseudo-filesystem.ts';

it.skipIf(process.platform !== 'linux')('ATTACK 58: a search knows what to leave out', async () => {
  expect(await pseudoMountsBelow('/')).toEqual(expect.arrayContaining(['proc', 'sys', 'dev']));
  expect(await pseudoMountsBelow('/usr/share')).toEqual([]);
});
