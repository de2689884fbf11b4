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

interface Choice {
  readonly value: string;
  readonly title: string;
}
type Read = { readonly value: ElicitValue | undefined } | { readonly problem: string };

interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Empty where anything may be typed. */
  readonly choices: readonly Choice[];
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
        if (text === '')
          return preset === undefined && required ? { problem: 'An answer is needed.' } : { value: preset };
        const format = textOf(schema['format']);
        if (formats.get(format)?.(text) === false) return { problem: `"${text}" is no ${format}.` };
        const value = meant(text, schema, choices);
        const inputSchema = { type: 'object', properties: { [name]: schema } };
        const form = { name, description: '', inputSchema };
        const found = await checkArguments(form, JSON.stringify({ [name]: value }));
        if (!('problem' in found)) return { value };
        const titles = choices.map(({ title }) => title).join(', ');
        return {
          problem: titles
            ? `Answer one of ${titles}.`
            : found.problem.replace('The arguments do', 'That does'),
        };
      },
    };
  });
}

/** Those of the specification; a server's own `pattern` is its own to check. */
const formats = new Map<unknown, (text: string) => boolean>([
  ['email', (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ['uri', (text) => URL.canParse(text)],
  ['date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text)],
  ['date-time', (text) => /^\d{4}-\d{2}-\d{2}T/i.test(text)],
]);

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(schema: JsonObject): Choice[] {
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

/** What was typed, as the type that the schema wants where it can be one; the schema decides whether it fits. */
function meant(typed: string, { type }: JsonObject, choices: readonly Choice[]): ElicitValue {
  if (type === 'array') {
    const parts = typed.split(',').map((part) => part.trim());
    return [...new Set(parts.filter((part) => part !== '').map((part) => chosen(part, choices)))];
  }
  if (choices.length > 0) return chosen(typed, choices);
  if (type === 'boolean' && /^(?:y|yes|true|n|no|false)$/i.test(typed)) return /^[yt]/i.test(typed);
  return (type === 'number' || type === 'integer') && Number.isFinite(Number(typed)) ? Number(typed) : typed;
}

/** By its value or its title, or by its place in the list; else as it was typed. */
function chosen(typed: string, choices: readonly Choice[]): string {
  const lower = typed.toLowerCase();
  const found = choices.find(
    ({ value, title }) => value.toLowerCase() === lower || title.toLowerCase() === lower,
  );
  return (found ?? (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined))?.value ?? typed;
}

function valueOf(value: unknown): ElicitValue | undefined {
  if (Array.isArray(value)) return value.map(String);
  return ['string', 'number', 'boolean'].includes(typeof value) ? (value as ElicitValue) : undefined;
}
