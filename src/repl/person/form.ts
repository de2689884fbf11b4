import { inLine } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';
import { checkArguments } from '../toolbox/check-arguments.ts';

/** A form that a server puts to the person in the middle of a call. */
export interface ElicitRequest {
  /** The server's name in mcp.json. */
  readonly server: string;
  readonly message: string;
  /** JSON Schema of a flat object. */
  readonly requestedSchema: JsonObject;
  /** Aborted when the server no longer waits. */
  readonly signal: AbortSignal;
}

type ElicitValue = string | number | boolean | string[];

export type ElicitAnswer =
  | { readonly action: 'accept'; readonly content: Record<string, ElicitValue> }
  | { readonly action: 'decline' | 'cancel' };

/** Characters of what the line says in which the answer is typed: whoever asks stays in sight. */
const longest = 60;

/** Puts a server's form to the person, one question after the other. */
export async function askForm(terminal: Terminal, request: ElicitRequest): Promise<ElicitAnswer> {
  const { signal, message, requestedSchema } = request;
  const { paint } = terminal;
  // Also where the answer is typed: whatever it asks for, it can only look like its question.
  const asks = `${inLine(request.server)} asks:`;
  const [first = '', ...more] = shortened(message.split('\n'), 10);
  const lines = more.length === 0 ? [` ${first}`] : [first, ...more].map((line) => `\n  │ ${line}`);
  const head = `${paint.warning('?')} ${paint.tool(asks)}${lines.join('')}`;
  const fields = Object.entries(objectOf(requestedSchema['properties']));
  if (fields.length === 0) {
    const said = await terminal.confirm(asks, { above: [head], signal });
    if (said === undefined) return { action: 'cancel' };
    return said ? { action: 'accept', content: {} } : { action: 'decline' };
  }
  const content: Record<string, ElicitValue> = {};
  const needed = listOf(requestedSchema['required']);
  for (const [at, [name, property]] of fields.entries()) {
    const schema = objectOf(property);
    const required = needed.includes(name);
    const preset = valueOf(schema['default']);
    const choices = [...choicesOf(schema), ...choicesOf(objectOf(schema['items']))];
    const notes = [
      ...(preset === undefined ? [] : [`Enter: ${inLine(String(preset), longest)}`]),
      ...(required || preset !== undefined ? [] : ['may be left out']),
      'Esc: none of it',
    ];
    const description = (textOf(schema['description']) ?? '').split('\n');
    const titles = choices.map(({ title }, place) => `${place + 1} ${title}`);
    const answer = await terminal.ask<{ readonly given?: ElicitValue }>({
      above: [
        ...(at === 0 ? [head] : []),
        ...shortened(description, 5).map((line) => `  │ ${line}`),
        ...shortened(titles, 50).map((line) => `  ${line}`),
      ],
      line: `${asks} ${inLine(textOf(schema['title']) || name, longest)} (${notes.join(', ')})`,
      async words(said) {
        if (said !== '') return readField(said, name, schema, choices);
        if (preset !== undefined) return { value: { given: preset } };
        return required ? { problem: 'An answer is needed.' } : { value: {} };
      },
      signal,
    });
    if (answer === undefined) return { action: 'cancel' };
    if (answer.given !== undefined) content[name] = answer.given;
  }
  return { action: 'accept', content };
}

/** Reads the value of a field, or says why it does not fit its schema. */
async function readField(said: string, name: string, schema: JsonObject, choices: readonly FormChoice[]) {
  const format = textOf(schema['format']);
  if (formats.get(format)?.test(said) === false) return { problem: inLine(`"${said}" is no ${format}.`) };
  const given = meant(said, schema, choices);
  const found = await checkArguments({ properties: { [name]: schema } }, JSON.stringify({ [name]: given }));
  if (!('problem' in found)) return { value: { given } };
  const titles = choices.map(({ title }) => title).join(', ');
  const problem = found.problem.replace('The arguments do', 'That does');
  return { problem: inLine(titles ? `Answer one of ${titles}.` : problem) };
}

/** The formats of the specification; a server's own `pattern` is its own to check. */
const formats = new Map<unknown, RegExp>([
  ['email', /^[^\s@]+@[^\s@]+$/],
  ['uri', /^[a-z][a-z\d+.-]*:\S+$/i],
  ['date', /^\d{4}-\d{2}-\d{2}$/],
  ['date-time', /^\d{4}-\d{2}-\d{2}T/i],
]);

/** A server's lines without empty ones, and so few that they push nothing out of sight. */
function shortened(given: readonly string[], most: number): string[] {
  const lines = given.map((line) => inLine(line)).filter((line) => line !== '');
  const left = `… ${lines.length - most + 1} more lines`;
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), left];
}

interface FormChoice {
  readonly value: string;
  readonly title: string;
}

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(schema: JsonObject): FormChoice[] {
  const names = listOf(schema['enumNames']);
  const plain = listOf(schema['enum']).map((value, at) => ({ const: value, title: names[at] ?? value }));
  return [...plain, ...listOf(schema['oneOf']), ...listOf(schema['anyOf'])].flatMap((one) => {
    const { const: value, title = value } = objectOf(one);
    return value === undefined ? [] : [{ value: String(value), title: String(title) }];
  });
}

/**
 * Converts what was typed to the type that the schema wants, where it can be one; the schema decides whether
 * it fits.
 */
function meant(typed: string, { type }: JsonObject, choices: readonly FormChoice[]): ElicitValue {
  if (type === 'array') {
    const parts = typed.split(',').map((part) => part.trim());
    return [...new Set(parts.filter((part) => part !== '').map((part) => chosen(part, choices)))];
  }
  if (choices.length > 0) return chosen(typed, choices);
  if (type === 'boolean' && /^(?:y|yes|true|n|no|false)$/i.test(typed)) return /^[yt]/i.test(typed);
  return (type === 'number' || type === 'integer') && Number.isFinite(Number(typed)) ? Number(typed) : typed;
}

/** Finds a choice by its value, its title or its number; else returns it as it was typed. */
function chosen(typed: string, choices: readonly FormChoice[]): string {
  const lower = typed.toLowerCase();
  const found = choices.find((one) => [one.value, one.title].some((name) => name.toLowerCase() === lower));
  return (found ?? (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined))?.value ?? typed;
}

function valueOf(value: unknown): ElicitValue | undefined {
  if (Array.isArray(value)) return value.map(String);
  return ['string', 'number', 'boolean'].includes(typeof value) ? (value as ElicitValue) : undefined;
}
