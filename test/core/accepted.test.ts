import { expect, it } from 'vitest';
import * as z from 'zod';
import { also, orSeveral, unlisted } from '../../src/core/accepted.ts';
import { checkParams } from '../../src/core/check-params.ts';

const edit = z.strictObject({
  old_string: also(z.string(), 'old_str oldText'),
  replace_all: z.boolean().optional(),
});
const schema = z.strictObject({
  path: orSeveral(z.string(), 3, 'file_path').optional(),
  start_line: also(z.int().optional(), 'offset'),
  output: also(z.enum(['lines', 'files']).default('lines'), 'output_mode', {
    values: { content: 'lines' },
  }),
  edits: z.array(edit).optional(),
  more: z.record(z.string(), z.unknown()).optional(),
  limit: unlisted(z.int().optional(), 'head_limit'),
});
const values = (given: object) => checkParams(schema, given);

it('takes the names that models bring, in any case', () => {
  expect(values({ filePath: 'a', offset: 3, headLimit: 2 })).toMatchObject({
    path: ['a'],
    start_line: 3,
    limit: 2,
  });
  expect(values({ edits: [{ oldString: 'x' }, { old_str: 'y' }, { oldText: 'z' }] }).edits).toEqual([
    { old_string: 'x' },
    { old_string: 'y' },
    { old_string: 'z' },
  ]);
  expect(values({ output_mode: 'content' }).output).toBe('lines');
});

it('takes values that come as text for what they say', () => {
  expect(values({ start_line: '5', path: '["a","b"]' })).toMatchObject({ start_line: 5, path: ['a', 'b'] });
  expect(values({ edits: '{"old_string":"x","replace_all":"true"}' }).edits).toEqual([
    { old_string: 'x', replace_all: true },
  ]);
  expect(values({ more: '{"a":1}', limit: null })).toMatchObject({ more: { a: 1 } });
  expect(values({ path: '[id] a.ts' }).path).toEqual(['[id] a.ts']);
});

it('refuses what it cannot tell: two values of one parameter, unknown names, other values', () => {
  expect(() => values({ path: 'a', file_path: 'b' })).toThrow('another name of path');
  expect(values({ path: 'a', file_path: 'a' }).path).toEqual(['a']);
  expect(() => values({ pth: 'a' })).toThrow('did you mean path? The parameters are path, start_line');
  expect(() => values({ start_line: 'five' })).toThrow('start_line: expected');
  expect(() => values({ ['__proto__x']: 1, constructor: 2 })).toThrow(
    'constructor: there is no such parameter',
  );
});

it('knows what models call usual parameters, and leaves out what they say beside a call', () => {
  const git = z.strictObject({
    action: z.enum(['cherry_pick']).optional(),
    paths: z.array(z.string()).optional(),
    url: z.string().optional(),
    cwd: z.string().optional(),
  });
  expect(
    checkParams(git, { action: 'cherry-pick', path: 'src', urls: ['u'], repo_path: '/a', goal: 'x' }),
  ).toEqual({ action: 'cherry_pick', paths: ['src'], url: 'u', cwd: '/a' });
  const diff = z.strictObject({ from: z.string().optional(), staged: z.boolean().optional() });
  expect(checkParams(diff, { target: 'HEAD~1', cached: 'true', oneline: true })).toEqual({
    from: 'HEAD~1',
    staged: true,
  });
  const issue = z.strictObject({ body: z.string().optional() });
  expect(() => checkParams(issue, { description: 'It fails' })).toThrow('description: there is no such');
});
