import { headAndTail, presentable } from '../../machine/presentable.ts';

/** Characters shown of what one cell has printed. */
const outputCharacters = 4_000;

/**
 * A Jupyter notebook as text: each cell under a line with its number, kind and language, then what it printed. Images
 * are named. Undefined when the text is no notebook (nbformat 4: nbformat.readthedocs.io).
 */
export function notebookText(json: string): string | undefined {
  const notebook = parsed(json);
  if (!isObject(notebook) || !Array.isArray(notebook['cells'])) return undefined;
  if (notebook['cells'].length === 0) return '[no cells]\n';
  const language = languageOf(notebook['metadata']);
  return notebook['cells'].map((cell: unknown, index) => cellText(cell, index + 1, language)).join('\n');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Being written, in conflict, or no notebook at all: it is shown as the text that it is.
    return undefined;
  }
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of a path of names; undefined where there is none. */
const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

function languageOf(metadata: unknown): string {
  const found = at(metadata, 'language_info', 'name') ?? at(metadata, 'kernelspec', 'language');
  return typeof found === 'string' && found !== '' ? ` (${oneLine(found)})` : '';
}

function cellText(cell: unknown, number: number, language: string): string {
  const kind = at(cell, 'cell_type');
  const name = typeof kind === 'string' ? oneLine(kind) : 'cell';
  const outputs = at(cell, 'outputs');
  return [
    `[${number}] ${name}${name === 'code' ? language : ''}\n`,
    endedLine(multiline(at(cell, 'source'))),
    ...(Array.isArray(outputs) ? outputs.map((output) => outputText(output, number)) : []),
  ].join('');
}

function outputText(output: unknown, number: number): string {
  const kind = at(output, 'output_type');
  const body = kind === 'error' ? errorText(output) : multiline(at(output, 'text'));
  const data = at(output, 'data');
  const plain = multiline(at(data, 'text/plain'));
  const shown = headAndTail(presentable(body || plain), outputCharacters);
  const others = isObject(data)
    ? Object.entries(data).flatMap(([type, value]) => notShown(type, value, plain))
    : [];
  const text = endedLine(shown) + others.join('');
  return text && `[${number}] ${kind === 'error' ? 'error' : 'output'}\n${text}`;
}

function errorText(output: unknown): string {
  const traceback = at(output, 'traceback');
  const lines = Array.isArray(traceback) ? traceback.filter((line) => typeof line === 'string') : [];
  return lines.length > 0
    ? lines.join('\n')
    : `${multiline(at(output, 'ename'))}: ${multiline(at(output, 'evalue'))}`;
}

/** What there is beside the plain text: pictures always, other forms only where there is no text. */
function notShown(type: string, value: unknown, plain: string): string[] {
  if (type === 'text/plain') return [];
  const name = oneLine(type);
  if (/^image\/(?!svg)/.test(type)) return [`[${name}, ${count(base64Bytes(multiline(value)))} bytes]\n`];
  if (plain !== '' && !type.startsWith('image/')) return [];
  const { length } = multiline(value);
  return [length > 0 ? `[${name}, ${count(length)} characters]\n` : `[${name}]\n`];
}

const count = (value: number): string => value.toLocaleString('en');

const base64Bytes = (text: string): number => Math.floor((text.replaceAll(/[\s=]/g, '').length * 3) / 4);

/** Text of the notebook format: a string, or a list of lines. */
function multiline(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : '';
}

const endedLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

const oneLine = (text: string): string => presentable(text).replaceAll(/\s+/g, ' ').slice(0, 60);
