import type { ToolDefinition } from '../providers/provider.ts';
import { isObject, objectOf, type JsonObject } from './json.ts';

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

/** Compiled once for each definition, for as long as the definition lives. */
const compiled = new WeakMap<object, Validate>();

/**
 * Reads the arguments of a call as the model wrote them. What is no JSON object, or does not fit the tool's schema, comes back as
 * one sentence for the model that names the parameter. A schema that cannot be understood checks nothing: its server does.
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
  const validate = compiled.get(tool.inputSchema) ?? (await compile(tool.inputSchema));
  compiled.set(tool.inputSchema, validate);
  const problems = [...new Set(validate(args).map((problem) => sentence(problem, tool)))];
  if (problems.length === 0) return { args };
  return { problem: `The arguments do not fit: ${problems.slice(0, mostProblems).join('; ')}.` };
}

async function compile(schema: JsonObject): Promise<Validate> {
  const unchecked: Validate = () => [];
  // The one would be checked by a promise that rejects, the other means something else in the engine's dialect (draft 7).
  if ('$async' in schema || JSON.stringify(schema).includes('"prefixItems":')) return unchecked;
  const { Ajv } = await import('@modelcontextprotocol/client/validators/ajv');
  // One for each schema: two servers may use the same $id.
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: true,
    logger: false,
  });
  // Patterns of other languages do not compile here, and one that backtracks would stop the whole program.
  ajv.removeKeyword('pattern');
  try {
    const check = ajv.compile(schema);
    return (args) => (check(args) ? [] : (check.errors ?? []));
  } catch {
    // A dialect or a reference we do not know.
    return unchecked;
  }
}

function sentence({ instancePath, keyword, params, message }: Problem, tool: ToolDefinition): string {
  const at = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const where = at === '' ? 'the object' : `"${at}"`;
  const within = (name: unknown) => `"${at === '' ? '' : `${at}.`}${String(name)}"`;
  switch (keyword) {
    case 'required':
      return `the parameter ${within(params['missingProperty'])} is missing`;
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const known = at === '' ? Object.keys(objectOf(tool.inputSchema['properties'])) : [];
      const name = within(params['additionalProperty'] ?? params['unevaluatedProperty']);
      return `there is no parameter ${name}${known.length > 0 ? `, only ${known.join(', ')}` : ''}`;
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
