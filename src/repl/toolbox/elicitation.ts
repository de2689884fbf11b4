import { listOf, objectOf, textOf, type JsonObject } from './json.ts';

/** What a server wants to know of the person in the middle of a call. */
export interface ElicitRequest {
  /** The server's name in mcp.json. */
  readonly server: string;
  readonly trusted: boolean;
  readonly message: string;
  /** JSON JsonObject, flat: see `formQuestions`. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
  /** Aborted when the server no longer waits. */
  readonly signal: AbortSignal;
}

export type ElicitValue = string | number | boolean | string[];

export type ElicitAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, ElicitValue>> }
  | { readonly action: 'decline' | 'cancel' };

/** One question of a form. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  readonly default?: ElicitValue;
  readonly required: boolean;
  /** Reads a typed answer. Empty takes the default, or leaves the field out when it may be. */
  check(text: string): { readonly value: ElicitValue | undefined } | { readonly problem: string };
}

type Choices = NonNullable<FormField['choices']>;
type Checked = ReturnType<FormField['check']>;

/** The questions of a requested schema, in its order. What it says of a field in a way we do not know is asked as text. */
export function formQuestions(requestedSchema: JsonObject): FormField[] {
  const required = listOf(requestedSchema['required']);
  return Object.entries(objectOf(requestedSchema['properties'])).map(([name, property]) =>
    fieldOf(name, objectOf(property), required.includes(name)),
  );
}

function fieldOf(name: string, schema: JsonObject, required: boolean): FormField {
  const choices = choicesOf(schema) ?? choicesOf(objectOf(schema['items']));
  const kind = kindOf(schema, choices !== undefined);
  const preset = valueOf(schema['default']);
  return {
    name,
    title: textOf(schema['title']) || name,
    description: textOf(schema['description']) ?? '',
    kind,
    ...(choices ? { choices } : {}),
    ...(preset === undefined ? {} : { default: preset }),
    required,
    check(text) {
      const typed = text.trim();
      if (typed !== '') return read(typed, kind, schema, choices ?? []);
      return preset === undefined && required ? { problem: 'An answer is needed.' } : { value: preset };
    },
  };
}

function kindOf({ type }: JsonObject, hasChoices: boolean): FormField['kind'] {
  if (hasChoices) return type === 'array' ? 'choices' : 'choice';
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text';
}

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(schema: JsonObject): Choices | undefined {
  const names = listOf(schema['enumNames']);
  const plain = listOf(schema['enum']).map((value, index) => ({ value, title: names[index] ?? value }));
  const titled = [...listOf(schema['oneOf']), ...listOf(schema['anyOf'])].map((one) => {
    const { const: value, title = value } = objectOf(one);
    return { value, title };
  });
  const all = [...plain, ...titled].filter(({ value }) => value !== undefined);
  return all.length === 0
    ? undefined
    : all.map(({ value, title }) => ({ value: String(value), title: String(title) }));
}

function read(typed: string, kind: FormField['kind'], schema: JsonObject, choices: Choices): Checked {
  switch (kind) {
    case 'boolean':
      if (/^(y|yes|true|1|on)$/i.test(typed)) return { value: true };
      return /^(n|no|false|0|off)$/i.test(typed) ? { value: false } : { problem: 'Answer yes or no.' };
    case 'number':
    case 'integer':
      return readNumber(typed, kind, schema);
    case 'choice':
      return chosen(typed, choices);
    case 'choices':
      return readChoices(typed, schema, choices);
    case 'text':
      return readText(typed, schema);
  }
}

function readNumber(typed: string, kind: 'number' | 'integer', { minimum, maximum }: JsonObject): Checked {
  const value = Number(typed);
  if (!Number.isFinite(value)) return { problem: `"${typed}" is no number.` };
  if (kind === 'integer' && !Number.isInteger(value)) return { problem: 'It has to be a whole number.' };
  return outside(value, minimum, maximum) ?? { value };
}

/** The problem of what is too little or too much. */
function outside(size: number, least: unknown, most: unknown, unit = ''): { problem: string } | undefined {
  if (typeof least === 'number' && size < least) return { problem: `At least ${least}${unit}.` };
  return typeof most === 'number' && size > most ? { problem: `At most ${most}${unit}.` } : undefined;
}

/** By its value or its title, or by its place in the list. */
function chosen(typed: string, choices: Choices): { readonly value: string } | { readonly problem: string } {
  const lower = typed.toLowerCase();
  const found =
    choices.find(({ value }) => value === typed) ??
    choices.find(({ value, title }) => value.toLowerCase() === lower || title.toLowerCase() === lower) ??
    (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined);
  return found
    ? { value: found.value }
    : { problem: `Answer one of ${choices.map(({ title }) => title).join(', ')}.` };
}

function readChoices(typed: string, { minItems, maxItems }: JsonObject, choices: Choices): Checked {
  const values = new Set<string>();
  for (const one of typed.split(',').map((part) => part.trim())) {
    if (one === '') continue;
    const answer = chosen(one, choices);
    if ('problem' in answer) return answer;
    values.add(answer.value);
  }
  return outside(values.size, minItems, maxItems, ' of them') ?? { value: [...values] };
}

/** The formats of the specification; a server's own `pattern` is its own to check. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}T/i.test(text) && !Number.isNaN(Date.parse(text)),
};

function readText(typed: string, { format, minLength, maxLength }: JsonObject): Checked {
  const fits = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (fits && !fits(typed)) return { problem: `"${typed}" is no ${String(format)}.` };
  return outside(typed.length, minLength, maxLength, ' characters') ?? { value: typed };
}

function valueOf(value: unknown): ElicitValue | undefined {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
}
