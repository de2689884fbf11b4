import { runInNewContext } from 'node:vm';
import { tooDeep } from '../text/json.ts';
import type { ToolDefinition } from '../providers/provider.ts';
import { isObject, objectOf, type JsonObject } from '../text/json.ts';

export type CheckedArguments = { readonly args: JsonObject } | { readonly problem: string };

interface Problem {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: JsonObject;
  readonly message?: string;
}

type Validate = (args: unknown) => readonly Problem[];

/** As many as a model corrects at once. */
const mostProblems = 3;

/** A schema can be made to take for ever, and meanwhile nothing else goes on, not even Ctrl-C: it is given up then. */
const mostMs = 500;

/** Compiled once for each definition, for as long as the definition lives. */
const compiled = new WeakMap<object, Validate>();

/**
 * Reads the arguments of a call as the model wrote them. What is no JSON object, or does not fit the tool's schema,
 * comes back as one sentence for the model that names the parameter. A schema that cannot be understood, or takes
 * too long, checks nothing: its server does.
 */
export async function checkArguments(tool: ToolDefinition, json: string): Promise<CheckedArguments> {
  let args: unknown;
  try {
    args = json.trim() === '' ? {} : JSON.parse(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `The arguments are not valid JSON (${why}). Send them again as one JSON object.` };
  }
  if (!isObject(args)) return { problem: `The arguments have to be one JSON object, not ${kindOf(args)}.` };
  if (tooDeep(args)) return { problem: 'The arguments are nested too deeply.' };
  const { inputSchema } = tool;
  const validate = compiled.get(inputSchema) ?? (await compile(inputSchema, false).catch(() => unchecked));
  const found = attempt(() => validate(args));
  compiled.set(inputSchema, found ? validate : unchecked);
  const problems = sentences(found, inputSchema, 'parameter');
  return problems === '' ? { args } : { problem: `The arguments do not fit: ${problems}.` };
}

/**
 * Reads an answer that is to be one JSON value of any kind, and fits a schema. Throws what is wrong with the
 * schema.
 */
export async function answerReader(
  schema: JsonObject,
): Promise<(answer: string) => { readonly value: unknown } | { readonly problem: string }> {
  const validate = await compile(schema, true);
  return (answer) => {
    if (answer.trim() === '') return { problem: 'The answer is empty.' };
    let value: unknown;
    try {
      value = JSON.parse(answer);
    } catch (error) {
      return {
        problem: `The answer is not valid JSON (${error instanceof Error ? error.message : String(error)}).`,
      };
    }
    if (tooDeep(value)) return { problem: 'The answer is nested too deeply.' };
    const found = attempt(() => validate(value));
    if (!found) return { problem: 'The answer takes too long to check.' };
    const problems = sentences(found, schema, 'property');
    return problems === '' ? { value } : { problem: `The answer does not fit: ${problems}.` };
  };
}

const unchecked: Validate = () => [];

/** Throws for a schema that cannot be understood. */
async function compile(schema: JsonObject, patterns: boolean): Promise<Validate> {
  // The one would be checked by a promise that rejects, the other means something else in the engine's dialect
  // (draft 7).
  if ('$async' in schema || JSON.stringify(schema).includes('"prefixItems":'))
    throw new Error(
      '"$async" and "prefixItems" are not understood; in draft 7, "items" takes a list of schemas',
    );
  const { Ajv } = await import('@modelcontextprotocol/client/validators/ajv');
  // One for each schema: two servers may use the same $id.
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: true,
    logger: false,
  });
  // Those of servers may be of other languages, or backtrack for ever.
  if (!patterns) ajv.removeKeyword('pattern');
  const check = soon(() => ajv.compile(schema));
  return (args) => (check(args) ? [] : (check.errors ?? []));
}

/** Throws what it throws, and when it takes too long. */
const soon = <T>(work: () => T): T => runInNewContext('work()', { work }, { timeout: mostMs }) as T;

function attempt<T>(work: () => T): T | undefined {
  try {
    return soon(work);
  } catch {
    return undefined;
  }
}

const sentences = (found: readonly Problem[] | undefined, schema: JsonObject, what: string): string =>
  [...new Set(found?.slice(0, 100).map((problem) => sentence(problem, schema, what)))]
    .slice(0, mostProblems)
    .join('; ');

function sentence(
  { instancePath, keyword, params, message }: Problem,
  schema: JsonObject,
  what: string,
): string {
  const at = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const where = at !== '' ? `"${at}"` : what === 'parameter' ? 'the object' : 'it';
  const within = (name: unknown) => `"${at === '' ? '' : `${at}.`}${String(name)}"`;
  switch (keyword) {
    case 'required':
      return `the ${what} ${within(params['missingProperty'])} is missing`;
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const known = at === '' ? Object.keys(objectOf(schema['properties'])) : [];
      const name = within(params['additionalProperty'] ?? params['unevaluatedProperty']);
      return `there is no ${what} ${name}${known.length > 0 ? `, only ${known.join(', ')}` : ''}`;
    }
    case 'enum':
      return `${where} has to be one of ${JSON.stringify(params['allowedValues']).slice(1, -1)}`;
    case 'const':
      return `${where} has to be ${JSON.stringify(params['allowedValue'])}`;
    case 'type':
      return `${where} has to be of type ${[params['type']].flat().join(' or ')}`;
    default:
      return `${where} ${message ?? `breaks the rule "${keyword}"`}`;
  }
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
