import { listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';

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
type Checked<T = ElicitValue | undefined> = { readonly value: T } | { readonly problem: string };

interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Empty where anything may be typed. */
  readonly choices: Choices;
  readonly default: ElicitValue | undefined;
  readonly required: boolean;
  /** Reads a typed answer. Empty takes the default, or leaves the field out when it may be. */
  check(text: string): Checked;
}

/**
 * The questions of a requested schema, in its order. What it says of a field in a way we do not know is asked as
 * text.
 */
export function formFields(requestedSchema: JsonObject): FormField[] {
  const required = listOf(requestedSchema['required']);
  return Object.entries(objectOf(requestedSchema['properties'])).map(([name, property]) =>
    fieldOf(name, objectOf(property), required.includes(name)),
  );
}

function fieldOf(name: string, schema: JsonObject, required: boolean): FormField {
  const choices = [...choicesOf(schema), ...choicesOf(objectOf(schema['items']))];
  const preset = valueOf(schema['default']);
  return {
    name,
    title: textOf(schema['title']) || name,
    description: textOf(schema['description']) ?? '',
    choices,
    default: preset,
    required,
    check(text) {
      const typed = text.trim();
      if (typed !== '') return read(typed, schema, choices);
      return preset === undefined && required ? { problem: 'An answer is needed.' } : { value: preset };
    },
  };
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

function read(typed: string, schema: JsonObject, choices: Choices): Checked {
  const { type, format, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  if (choices.length > 0) {
    if (type !== 'array') return chosen(typed, choices);
    const parts = typed.split(',').filter((part) => part.trim() !== '');
    const found = parts.map((part) => chosen(part.trim(), choices));
    const values = new Set(found.flatMap((one) => ('value' in one ? [one.value] : [])));
    const wrong = found.find((one) => 'problem' in one);
    return wrong ?? outside(values.size, minItems, maxItems, ' of them') ?? { value: [...values] };
  }
  if (type === 'boolean') {
    if (/^(y|yes|true|1|on)$/i.test(typed)) return { value: true };
    return /^(n|no|false|0|off)$/i.test(typed) ? { value: false } : { problem: 'Answer yes or no.' };
  }
  if (type === 'number' || type === 'integer') {
    const value = Number(typed);
    if (!Number.isFinite(value)) return { problem: `"${typed}" is no number.` };
    if (type === 'integer' && !Number.isInteger(value)) return { problem: 'It has to be a whole number.' };
    return outside(value, minimum, maximum) ?? { value };
  }
  if (formats.get(format)?.(typed) === false) return { problem: `"${typed}" is no ${String(format)}.` };
  return outside(typed.length, minLength, maxLength, ' characters') ?? { value: typed };
}

/** The problem of what is too little or too much. */
function outside(size: number, least: unknown, most: unknown, unit = ''): { problem: string } | undefined {
  if (typeof least === 'number' && size < least) return { problem: `At least ${least}${unit}.` };
  return typeof most === 'number' && size > most ? { problem: `At most ${most}${unit}.` } : undefined;
}

/** What is typed for yes and no wherever else somebody is asked. */
const short = new Map([
  ['y', 'yes'],
  ['n', 'no'],
]);

/** By its value or its title, or by its place in the list. */
function chosen(typed: string, choices: Choices): Checked<string> {
  const lower = typed.toLowerCase();
  const meant = short.get(lower);
  const found =
    choices.find(({ value }) => value === typed) ??
    choices.find(({ value, title }) => value.toLowerCase() === lower || title.toLowerCase() === lower) ??
    choices.find(({ value }) => value === meant) ??
    (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined);
  return found
    ? { value: found.value }
    : { problem: `Answer one of ${choices.map(({ title }) => title).join(', ')}.` };
}

/** The formats of the specification; a server's own `pattern` is its own to check. */
const formats = new Map<unknown, (text: string) => boolean>([
  ['email', (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ['uri', (text) => URL.canParse(text)],
  ['date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))],
  ['date-time', (text) => /^\d{4}-\d{2}-\d{2}T/i.test(text) && !Number.isNaN(Date.parse(text))],
]);

function valueOf(value: unknown): ElicitValue | undefined {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
}
