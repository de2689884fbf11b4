import { assert, asyncProperty, json, oneof, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkArguments } from '../../../src/repl/toolbox/check-arguments.ts';
import { acceptableSchema } from '../../../src/repl/toolbox/schema.ts';

const tool = (inputSchema: Record<string, unknown>) => ({ name: 'a', description: '', inputSchema });
const read = tool({
  type: 'object',
  properties: {
    path: { type: 'string', pattern: '(?i)not a pattern of ours' },
    lines: { type: 'integer', minimum: 1 },
    how: { enum: ['head', 'tail'] },
    options: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
  },
  required: ['path'],
  additionalProperties: false,
});

describe('arguments', () => {
  it('that fit are handed on as they are', async () => {
    expect(await checkArguments(read, '{"path":"a","lines":3}')).toEqual({ args: { path: 'a', lines: 3 } });
    expect(await checkArguments(tool({ type: 'object', properties: {} }), '')).toEqual({ args: {} });
    expect(await checkArguments(tool({ type: 'object', properties: {} }), ' \n')).toEqual({ args: {} });
  });

  it.each([
    ['{"path":', 'The arguments are not valid JSON ('],
    ['[1]', 'The arguments have to be one JSON object, not a list.'],
    ['null', 'The arguments have to be one JSON object, not null.'],
    ['"x"', 'The arguments have to be one JSON object, not a string.'],
    ['{}', 'The arguments do not fit: the parameter "path" is missing.'],
    ['', 'The arguments do not fit: the parameter "path" is missing.'],
    ['{"path":1}', 'The arguments do not fit: "path" has to be of type string.'],
    ['{"path":"a","lines":"3"}', 'The arguments do not fit: "lines" has to be of type integer.'],
    ['{"path":"a","lines":0}', 'The arguments do not fit: "lines" must be >= 1.'],
    ['{"path":"a","how":"middle"}', 'The arguments do not fit: "how" has to be one of "head","tail".'],
    ['{"path":"a","options":{}}', 'The arguments do not fit: the parameter "options.deep" is missing.'],
    [
      '{"path":"a","file":"b"}',
      'The arguments do not fit: there is no parameter "file", only path, lines, how, options.',
    ],
  ])('%s are explained', async (json, problem) => {
    expect(await checkArguments(read, json)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it('are checked for what is wrong with them at once, as far as one can take in', async () => {
    const found = await checkArguments(read, '{"a":1,"b":2,"lines":0,"how":1}');
    expect('problem' in found && found.problem.split(';')).toHaveLength(3);
  });

  it.each([
    [
      'tuples of the newer dialect',
      { type: 'object', properties: { a: { prefixItems: [{ type: 'string' }], items: false } } },
    ],
    ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
    ['a check by promises', { type: 'object', $async: true, required: ['b'] }],
    ['nonsense', { type: 'object', properties: { a: { type: 'wish' } } }],
  ])('are left to the server with %s', async (_what, schema) => {
    expect(await checkArguments(tool(schema), '{"a":1}')).toEqual({ args: { a: 1 } });
  });

  it('are checked against schemas of two servers with the same $id', async () => {
    const [one, two] = [['a'], ['b']].map((required) =>
      tool({ $id: 'https://example.org/x', type: 'object', required }),
    );
    expect(await checkArguments(one!, '{"b":1}')).toMatchObject({ problem: expect.stringContaining('"a"') });
    expect(await checkArguments(two!, '{"b":1}')).toEqual({ args: { b: 1 } });
  });

  it('never throw, whatever they are', async () => {
    await assert(
      asyncProperty(oneof(string(), json()), async (json) => {
        const found = await checkArguments(read, json);
        expect('args' in found || found.problem.length > 0).toBe(true);
      }),
    );
  });
});

describe('a schema', () => {
  const text = { type: 'string' };
  it.each([
    ['nothing', undefined, { type: 'object', properties: {} }],
    ['no type', { properties: { a: text } }, { type: 'object', properties: { a: text } }],
    ['no properties', { type: 'object' }, { type: 'object', properties: {} }],
    ['several types', { type: ['object', 'null'] }, { type: 'object', properties: {} }],
    [
      'parts that all hold',
      {
        type: 'object',
        properties: { a: text },
        required: ['a'],
        allOf: [{ properties: { b: text }, required: ['b'] }],
      },
      { type: 'object', properties: { a: text, b: text }, required: ['a', 'b'] },
    ],
    [
      'parts of which one holds',
      {
        oneOf: [
          {
            type: 'object',
            properties: { kind: { const: 1 }, a: text },
            required: ['kind', 'a'],
            additionalProperties: false,
          },
          { type: 'object', properties: { kind: { const: 2 }, b: text }, required: ['kind'] },
        ],
      },
      {
        type: 'object',
        properties: { kind: { anyOf: [{ const: 1 }, { const: 2 }] }, a: text, b: text },
        required: ['kind'],
      },
    ],
    [
      'parts of which one is no object',
      { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: text } }] },
      { type: 'object', properties: { a: text } },
    ],
    [
      'a reference',
      { $ref: '#/$defs/A', $defs: { A: { type: 'object', properties: { a: text } } } },
      { type: 'object', properties: { a: text }, $defs: { A: { type: 'object', properties: { a: text } } } },
    ],
  ])('with %s becomes one that every model takes', (_what, schema, acceptable) => {
    expect(acceptableSchema(schema)).toEqual(acceptable);
  });

  it.each([7, 'object', null, [], { type: 'string' }, { type: 'object', properties: [] }])(
    '%j describes no object',
    (schema) => expect(acceptableSchema(schema)).toBeUndefined(),
  );

  it('that fits is left as it is', () => {
    expect(acceptableSchema(read.inputSchema)).toEqual(read.inputSchema);
  });
});
