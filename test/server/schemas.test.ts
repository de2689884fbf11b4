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
  'describes what $name can do, and by which words it is found',
  ({ title, description, annotations, _meta }) => {
    expect(title).toBeDefined();
    expect(String(description).length).toBeLessThanOrEqual(240);
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
      expect(typeof annotations?.[hint]).toBe('boolean');
    expect(String(_meta?.['anthropic/searchHint']).split(' ').length).toBeLessThanOrEqual(8);
  },
);

it('lists tools that are small enough for every host', () => {
  expect(tools.length).toBeLessThanOrEqual(28);
  const visible = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(encode(JSON.stringify(visible)).length).toBeLessThanOrEqual(4000);
  expect(encode(JSON.stringify({ tools })).length).toBeLessThanOrEqual(6000);
  expect(encode(instructions).length).toBeLessThanOrEqual(250);
  expect(new Set(tools.map(({ title }) => title)).size).toBe(tools.length);
  expect(tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad']).length).toBeLessThanOrEqual(14);
});

it.each([
  ['run tests', 'check'],
  ['git history', 'git_log'],
  ['search text in files', 'grep'],
  ['commit changes', 'git_commit'],
  ['undo', 'undo'],
  ['start dev server', 'run_task'],
])('lets a host that searches find the right tool: %s', (query, name) => {
  const texts = tools.map((tool) => wordsIn(JSON.stringify([tool.name, tool.description, tool.inputSchema])));
  const length = texts.reduce((sum, words) => sum + words.length, 0) / texts.length;
  const scores = tools.map((tool, at) => {
    const words = texts[at] ?? [];
    const parts = wordsIn(query).map((word) => {
      const inMany = texts.filter((other) => other.includes(word)).length;
      const often = words.filter((one) => one === word).length;
      const rare = Math.log(1 + (texts.length - inMany + 0.5) / (inMany + 0.5));
      return (rare * often * 2.2) / (often + 1.2 * (0.25 + (0.75 * words.length) / length));
    });
    return { name: tool.name, score: parts.reduce((sum, part) => sum + part, 0) };
  });
  const best = scores.toSorted((one, other) => other.score - one.score).slice(0, 5);
  expect(best.map((one) => one.name)).toContain(name);
});

/** The words of a text as the searches of hosts see them: small letters, and nothing known of meaning. */
function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}
