import { isObject, tooDeep, type JsonObject } from '../text/json.ts';

type ParsedJson<T> = { readonly value: T } | { readonly problem: string };

/**
 * Reads the arguments of a call as the model wrote them. What is no JSON object, or does not fit the tool's
 * schema, comes back as one sentence for the model that names the parameter. A schema that cannot be
 * understood checks nothing: its server does.
 */
export async function checkArguments(
  schema: JsonObject,
  json: string,
): Promise<{ readonly args: JsonObject } | { readonly problem: string }> {
  const found = jsonIn(json.trim() === '' ? '{}' : json);
  if ('problem' in found)
    return { problem: `The arguments are ${found.problem}. Send them again as one JSON object.` };
  if (!isObject(found.value)) return { problem: 'The arguments have to be one JSON object.' };
  const check = await compile(schema, false).catch(() => () => undefined);
  const problem = check(found.value);
  return problem === undefined ? { args: found.value } : { problem: `The arguments do not fit: ${problem}.` };
}

/** Reads an answer that is to be one JSON value and fits a schema. Throws what is wrong with the schema. */
export async function answerReader(schema: JsonObject): Promise<(answer: string) => ParsedJson<unknown>> {
  const check = await compile(schema, true);
  return (answer) => {
    const found = answer.trim() === '' ? { problem: 'empty' } : jsonIn(answer);
    if ('problem' in found) return { problem: `The answer is ${found.problem}.` };
    const problem = check(found.value);
    return problem === undefined ? found : { problem: `The answer does not fit: ${problem}.` };
  };
}

function jsonIn(text: string): ParsedJson<unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return tooDeep(value) ? { problem: 'nested too deeply' } : { value };
  } catch (error) {
    return { problem: `not valid JSON (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** Says what is wrong with a value; undefined when it fits. Throws for a schema that cannot be understood. */
async function compile(
  schema: JsonObject,
  patterns: boolean,
): Promise<(value: unknown) => string | undefined> {
  // The one would be checked by a promise that rejects, the other means something else in the engine's
  // dialect.
  if ('$async' in schema || JSON.stringify(schema).includes('"prefixItems":'))
    throw new Error(
      '"$async" and "prefixItems" are not understood; in draft 7, "items" takes a list of schemas',
    );
  const { Ajv } = await import('@modelcontextprotocol/client/validators/ajv');
  // One for each schema: two servers may use the same $id.
  const quiet = { strict: false, validateSchema: false, validateFormats: false, logger: false } as const;
  const ajv = new Ajv({ ...quiet, allErrors: true });
  // Those of servers may be of other languages, or backtrack for ever.
  if (!patterns) ajv.removeKeyword('pattern');
  const fits = ajv.compile(schema);
  return (value) => (fits(value) ? undefined : ajv.errorsText(fits.errors, { dataVar: 'it' }).slice(0, 1000));
}
