import { isObject, listOf, objectOf, type JsonObject } from './json.ts';

/**
 * A tool's input schema in the form that every model takes: an object at its root, with `properties`, and no alternatives there
 * (Anthropic refuses the whole request for one). Alternatives are merged: looser than what the server meant, and the server
 * checks again. Undefined when it describes no object at all.
 */
export function acceptableSchema(schema: unknown): JsonObject | undefined {
  if (schema === undefined) return { type: 'object', properties: {} };
  if (!isObject(schema)) return undefined;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  let merged: JsonObject = own;
  const target = typeof $ref === 'string' ? referenced(schema, $ref) : undefined;
  for (const part of [target, ...listOf(allOf)]) if (isObject(part)) merged = merge(merged, part, 'all');
  const [first, ...others] = [...listOf(anyOf), ...listOf(oneOf)].filter(isObject).filter(mayBeObject);
  if (first)
    merged = merge(
      merged,
      others.reduce((one, other) => merge(one, other, 'common'), first),
      'all',
    );
  const { properties = {} } = merged;
  if (!mayBeObject(merged) || !isObject(properties)) return undefined;
  return { ...merged, type: 'object', properties };
}

const mayBeObject = ({ type = 'object' }: JsonObject): boolean => [type].flat().includes('object');

/** `all`: both hold, so what either requires is required; `common`: one of them holds. */
function merge(one: JsonObject, other: JsonObject, required: 'all' | 'common'): JsonObject {
  const [mine, theirs] = [listOf(one['required']), listOf(other['required'])];
  const names =
    required === 'all' ? [...new Set([...mine, ...theirs])] : mine.filter((name) => theirs.includes(name));
  const merged: Record<string, unknown> = {
    ...other,
    ...one,
    properties: mergedProperties(objectOf(one['properties']), objectOf(other['properties']), required),
  };
  // Each forbade what the other one names.
  delete merged['additionalProperties'];
  delete merged['required'];
  return names.length > 0 ? { ...merged, required: names } : merged;
}

/** A property that the alternatives describe differently (`kind: "a"`, `kind: "b"`) may be either. */
function mergedProperties(one: JsonObject, other: JsonObject, required: 'all' | 'common'): JsonObject {
  const merged = { ...other, ...one };
  if (required === 'all') return merged;
  for (const name of Object.keys(one)) {
    if (!Object.hasOwn(other, name) || JSON.stringify(one[name]) === JSON.stringify(other[name])) continue;
    merged[name] = { anyOf: [one[name], other[name]] };
  }
  return merged;
}

/** What a reference within the schema points to (`#/definitions/Args`). */
function referenced(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/');
  return steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), root);
}
