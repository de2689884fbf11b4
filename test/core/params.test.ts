import { expect, it } from 'vitest';
import * as z from 'zod';
import { checkParams } from '../../src/core/check-params.ts';
import { path, pathFacts } from '../../src/core/params.ts';

const schema = z.strictObject({ path: path('File', 'file').optional() });

it('a path is as long as systems take it, and no longer', () => {
  expect(checkParams(schema, { path: 'x'.repeat(4096) }).path).toHaveLength(4096);
  expect(() => checkParams(schema, { path: 'x'.repeat(4097) })).toThrow(
    'path: is too long for a path: expected at most 4,096 characters.',
  );
});

it('a schema tells that its values are paths, also when they may be left out', () => {
  expect(pathFacts(schema.shape.path)?.kind).toBe('file');
  expect(pathFacts(z.string())).toBeUndefined();
});
