import { listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';
import { checkArguments } from '../toolbox/check-arguments.ts';

/** What a server wants to know of the person in the middle of a call. */
export interface ElicitRequest {
  /** The server's name in mcp.json. */
  readonly server: string;
  readonly message: string;
  /** JSON Schema of a flat object. */
  readonly requestedSchema: JsonObject;
  /** Aborted when the server no longer waits. */
  readonly signal: AbortSignal;
}

export type ElicitValue = string | number | boolean | string[];

export type ElicitAnswer =
  | { readonly action: 'accept'; readonly content: Record<string, ElicitValue> }
  | { readonly action: 'decline' | 'cancel' };

type Choices = readonly { readonly value: string; readonly title: string }[];
type Read = { readonly value: ElicitValue | undefined } | { readonly problem: string };

interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Empty where anything may be typed. */
  readonly choices: Choices;
  readonly default: ElicitValue | undefined;
  readonly required: boolean;
  /** Reads a typed answer. Empty takes the default, or leaves the field out when it may be. */
  read(text: string): Promise<Read>;
}

/** The questions of a requested schema, in its order. */
export function formFields(requestedSchema: JsonObject): FormField[] {
  const needed = listOf(requestedSchema['required']);
  return Object.entries(objectOf(requestedSchema['properties'])).map(([name, property]) => {
    const schema = objectOf(property);
    const required = needed.includes(name);
    const choices = [...choicesOf(schema), ...choicesOf(objectOf(schema['items']))];
    const preset = valueOf(schema['default']);
    return {
      name,
      title: textOf(schema['title']) || name,
      description: textOf(schema['description']) ?? '',
      choices,
      default: preset,
      required,
      async read(text) {
        if (text.trim() !== '') return checked(name, schema, meant(text.trim(), schema, choices));
        return preset === undefined && required ? { problem: 'An answer is needed.' } : { value: preset };
      },
    };
  });
}

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(schema: JsonObject): Choices {
  const names = listOf(schema['enumNames']);
  const plain = listOf(schema['enum']).map((value, at) => ({ value, title: names[at] ?? value }));
  const titled = [...listOf(schema['oneOf']), ...listOf(schema['anyOf'])].map((one) => {
    const { const: value, title = value } = objectOf(one);
    return { value, title };
  });
  return [...plain, ...titled]
    .filter(({ value }) => value !== undefined)
    .map(({ value, title }) => ({ value: String(value), title: String(title) }));
}

function meant(typed: string, { type, format }: JsonObject, choices: Choices): Read {
  if (choices.length > 0) {
    const parts = type === 'array' ? typed.split(',').filter((part) => part.trim() !== '') : [typed];
    const values = parts.map((part) => chosen(part.trim(), choices));
    if (values.includes(undefined))
      return { problem: `Answer one of ${choices.map(({ title }) => title).join(', ')}.` };
    return { value: type === 'array' ? [...new Set(values as string[])] : values[0] };
  }
  if (type === 'boolean') {
    if (/^(y|yes|true|1|on)$/i.test(typed)) return { value: true };
    return /^(n|no|false|0|off)$/i.test(typed) ? { value: false } : { problem: 'Answer yes or no.' };
  }
  if (formats.get(format)?.(typed) === false) return { problem: `"${typed}" is no ${String(format)}.` };
  if (type !== 'number' && type !== 'integer') return { value: typed };
  return Number.isFinite(Number(typed)) ? { value: Number(typed) } : { problem: `"${typed}" is no number.` };
}

/** The formats of the specification; a server's own `pattern` is its own to check. */
const formats = new Map<unknown, (text: string) => boolean>([
  ['email', (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ['uri', (text) => URL.canParse(text)],
  ['date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))],
  ['date-time', (text) => /^\d{4}-\d{2}-\d{2}T/i.test(text) && !Number.isNaN(Date.parse(text))],
]);

/** What its schema says besides: ranges, lengths, whole numbers. */
async function checked(name: string, schema: JsonObject, read: Read): Promise<Read> {
  if ('problem' in read) return read;
  const inputSchema = { type: 'object', properties: { [name]: schema } };
  const form = { name, description: '', inputSchema };
  const found = await checkArguments(form, JSON.stringify({ [name]: read.value }));
  return 'problem' in found ? { problem: found.problem.replace('The arguments do', 'That does') } : read;
}

/** By its value or its title, or by its place in the list; y and n as wherever else somebody is asked. */
function chosen(typed: string, choices: Choices): string | undefined {
  const lower = typed.toLowerCase();
  const word = { y: 'yes', n: 'no' }[lower];
  const found =
    choices.find(({ value }) => value === typed) ??
    choices.find(({ value, title }) => [value.toLowerCase(), title.toLowerCase()].includes(lower)) ??
    choices.find(({ value }) => value === word) ??
    (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined);
  return found?.value;
}

function valueOf(value: unknown): ElicitValue | undefined {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
}
