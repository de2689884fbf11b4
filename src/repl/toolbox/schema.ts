import { isObject, listOf, objectOf, type JsonObject } from '../text/json.ts';

/**
 * A tool's input schema in the form that every model takes: an object at its root, with `properties`, and no
 * alternatives there (Anthropic refuses the whole request for one). What stands in them is put together: looser
 * than what the server meant, and the server checks again. Undefined when it describes no object at all.
 */
export function acceptableSchema(schema: unknown): JsonObject | undefined {
  if (schema === undefined) return { type: 'object', properties: {} };
  if (!isObject(schema)) return undefined;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const always = [own, referenced(schema, $ref), ...listOf(allOf)].filter(isObject);
  const choices = [...listOf(anyOf), ...listOf(oneOf)].filter(isObject).filter(mayBeObject);
  const parts = [...always, ...choices];
  if (!always.every(mayBeObject) || !parts.every(({ properties = {} }) => isObject(properties)))
    return undefined;
  if (parts.length === 1) return { ...own, type: 'object', properties: own['properties'] ?? {} };

  const described = new Map<string, Map<string, unknown>>();
  for (const [name, property] of parts.flatMap((part) => Object.entries(objectOf(part['properties'])))) {
    const known = described.get(name) ?? new Map<string, unknown>();
    described.set(name, known.set(JSON.stringify(property), property));
  }
  // One that the alternatives describe differently (`kind: "a"`, `kind: "b"`) may be either.
  const properties = [...described].map(([name, known]) => {
    const [property, ...others] = known.values();
    return [name, others.length === 0 ? property : { anyOf: [property, ...others] }];
  });
  const [first = [], ...others] = choices.map(({ required }) => listOf(required));
  const shared = first.filter((name) => others.every((names) => names.includes(name)));
  const required = [...always.flatMap((part) => listOf(part['required'])), ...shared];
  const merged: Record<string, unknown> = Object.assign({}, ...parts.toReversed());
  // Each part forbade what another one names, and may have alternatives of its own.
  for (const name of ['additionalProperties', 'required', 'anyOf', 'oneOf', 'allOf', '$ref'])
    delete merged[name];
  return {
    ...merged,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

const mayBeObject = ({ type = 'object' }: JsonObject): boolean => [type].flat().includes('object');

/** What a reference within the schema points to (`#/definitions/Args`). */
function referenced(root: JsonObject, reference: unknown): unknown {
  const [start, ...steps] = typeof reference === 'string' ? reference.split('/') : [];
  if (start !== '#') return undefined;
  return steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), root);
}
