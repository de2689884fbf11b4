import { headAndTail, sanitize } from '../../../machine/sanitize.ts';
import { formatNumber } from '../wording.ts';

/** Characters shown of the output of one cell. */
const outputCharacters = 4_000;

type Json = Readonly<Record<string, unknown>>;

/**
 * Formats a Jupyter notebook as text: each cell under a line with its number, kind and language, and its
 * output below. Images are only named. Undefined when the text is not a notebook (nbformat 4:
 * nbformat.readthedocs.io).
 */
export function notebookText(json: string): string | undefined {
  const { cells, metadata } = parsed(json);
  if (!Array.isArray(cells)) return undefined;
  if (cells.length === 0) return '[no cells]\n';
  const { language_info: info, kernelspec: kernel } = asObject(metadata);
  const language = oneLine(asObject(info)['name'] ?? asObject(kernel)['language']);
  return cells.map((cell: unknown, index) => cellText(asObject(cell), index + 1, language)).join('\n');
}

function parsed(json: string): Json {
  try {
    return asObject(JSON.parse(json));
  } catch {
    // A file that is being written, has merge conflicts, or is not a notebook is shown as plain text.
    return {};
  }
}

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function cellText(cell: Json, number: number, language: string): string {
  const kind = oneLine(cell['cell_type']) || 'cell';
  const header = `[${number}] ${kind}${kind === 'code' && language !== '' ? ` (${language})` : ''}\n`;
  const outputs = asList(cell['outputs']).map((output) => outputText(asObject(output), number));
  return header + ended(multiline(cell['source'])) + outputs.join('');
}

function outputText(output: Json, number: number): string {
  const isError = output['output_type'] === 'error';
  const data = asObject(output['data']);
  const traceback = asList(output['traceback']).filter((line) => typeof line === 'string');
  const error = traceback.join('\n') || `${multiline(output['ename'])}: ${multiline(output['evalue'])}`;
  const plain = multiline(data['text/plain']);
  const body = isError ? error : multiline(output['text']) || plain;
  // Images are always named, other forms only when there is no text.
  const others = Object.keys(data).filter((type) => !type.startsWith('text/plain'));
  const named = others.filter((type) => plain === '' || type.startsWith('image/'));
  const notes = named.map((type) => `[${oneLine(type)}, ${sizeOf(type, multiline(data[type]))}]\n`);
  const text = ended(headAndTail(sanitize(body), outputCharacters)) + notes.join('');
  return text && `[${number}] ${isError ? 'error' : 'output'}\n${text}`;
}

function sizeOf(type: string, value: string): string {
  if (!/^image\/(?!svg)/.test(type)) return `${formatNumber(value.length)} characters`;
  return `${formatNumber(Math.floor((value.replaceAll(/[\s=]/g, '').length * 3) / 4))} bytes`;
}

/** Text of the notebook format: a string, or a list of lines. */
const multiline = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : asList(value)
        .filter((line) => typeof line === 'string')
        .join('');

const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

const oneLine = (value: unknown): string =>
  typeof value === 'string' ? sanitize(value).replaceAll(/\s+/g, ' ').slice(0, 60) : '';
