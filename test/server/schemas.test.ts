import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { connect } from '../support/server.ts';

// What hosts and the interfaces of models do with schemas and annotations; see docs/development.md.
const client = await connect('2026-07-28', { roots: [process.cwd()] });
const { tools } = await client.listTools();
const instructions = client.getInstructions() ?? '';
await client.close();

type Schema = Readonly<Record<string, unknown>> & {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
};
const inside = (schema: Schema): Schema[] => [
  schema,
  ...Object.values(schema.properties ?? {}).flatMap(inside),
  ...(schema.items ? inside(schema.items) : []),
];

it.each(tools)(
  '$name has a schema that every host passes on whole',
  ({ name, inputSchema, outputSchema }) => {
    expect(name.length).toBeLessThanOrEqual(40);
    expect(outputSchema).toBeUndefined();
    expect(JSON.stringify(inputSchema).length).toBeLessThanOrEqual(8000);
    for (const schema of inside(inputSchema as Schema)) {
      for (const key of ['oneOf', 'anyOf', 'allOf', 'additionalProperties', 'pattern', 'minimum', 'maximum'])
        expect(schema, `${name}: ${JSON.stringify(schema)}`).not.toHaveProperty(key);
      expect(typeof schema['type'], `${name}: ${JSON.stringify(schema)}`).toBe('string');
    }
    for (const [parameter, { description }] of Object.entries((inputSchema as Schema).properties ?? {}))
      expect(String(description ?? '').split(/\s+/).length, `${name} ${parameter}`).toBeLessThanOrEqual(12);
  },
);

it.each(tools)(
  '$name says what it can do, and by which words it is found',
  ({ title, description, annotations, _meta }) => {
    expect(title).toBeDefined();
    expect(String(description).length).toBeLessThanOrEqual(240);
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
      expect(typeof annotations?.[hint]).toBe('boolean');
    expect(String(_meta?.['anthropic/searchHint']).split(' ').length).toBeLessThanOrEqual(8);
  },
);

it('is small enough for every host', () => {
  expect(tools.length).toBeLessThanOrEqual(28);
  const visible = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(encode(JSON.stringify(visible)).length).toBeLessThanOrEqual(4000);
  expect(encode(JSON.stringify({ tools })).length).toBeLessThanOrEqual(6000);
  expect(encode(instructions).length).toBeLessThanOrEqual(250);
  expect(new Set(tools.map(({ title }) => title)).size).toBe(tools.length);
  expect(tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad']).length).toBeLessThanOrEqual(14);
});
