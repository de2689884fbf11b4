import { headAndTail, presentable } from '../../machine/presentable.ts';
import { withCommas } from '../shown.ts';

/** Characters shown of what one cell has printed. */
const outputCharacters = 4_000;

type Json = Readonly<Record<string, unknown>>;

/**
 * A Jupyter notebook as text: each cell under a line with its number, kind and language, then what it printed. Images
 * are named. Undefined when the text is no notebook (nbformat 4: nbformat.readthedocs.io).
 */
export function notebookText(json: string): string | undefined {
  const notebook = parsed(json);
  const cells = notebook['cells'];
  if (!Array.isArray(cells)) return undefined;
  if (cells.length === 0) return '[no cells]\n';
  const { language_info: info, kernelspec: kernel } = asObject(notebook['metadata']);
  const language = oneLine(asObject(info)['name'] ?? asObject(kernel)['language']);
  return cells.map((cell: unknown, index) => cellText(asObject(cell), index + 1, language)).join('\n');
}

function parsed(json: string): Json {
  try {
    return asObject(JSON.parse(json));
  } catch {
    // Being written, in conflict, or no notebook at all: it is shown as the text that it is.
    return {};
  }
}

/** Without a prototype, so that a notebook has only the names that it has. */
const asObject = (value: unknown): Json =>
  Object.assign(
    Object.create(null) as Json,
    typeof value === 'object' && !Array.isArray(value) ? value : undefined,
  );

function cellText(cell: Json, number: number, language: string): string {
  const kind = oneLine(cell['cell_type']) || 'cell';
  const outputs = Array.isArray(cell['outputs']) ? cell['outputs'] : [];
  return [
    `[${number}] ${kind}${kind === 'code' && language !== '' ? ` (${language})` : ''}\n`,
    endedLine(multiline(cell['source'])),
    ...outputs.map((output) => outputText(asObject(output), number)),
  ].join('');
}

function outputText(output: Json, number: number): string {
  const isError = output['output_type'] === 'error';
  const data = asObject(output['data']);
  const traceback = Array.isArray(output['traceback']) ? output['traceback'] : [];
  const error =
    traceback.filter((line) => typeof line === 'string').join('\n') ||
    `${multiline(output['ename'])}: ${multiline(output['evalue'])}`;
  const plain = multiline(data['text/plain']);
  const body = isError ? error : multiline(output['text']) || plain;
  const others = Object.entries(data).flatMap(([type, value]) => notShown(type, multiline(value), plain));
  const text = endedLine(headAndTail(presentable(body), outputCharacters)) + others.join('');
  return text && `[${number}] ${isError ? 'error' : 'output'}\n${text}`;
}

/** What there is beside the plain text: pictures always, other forms only where there is no text. */
function notShown(type: string, value: string, plain: string): string[] {
  if (type === 'text/plain' || (plain !== '' && !type.startsWith('image/'))) return [];
  const isPicture = /^image\/(?!svg)/.test(type);
  const size = isPicture ? Math.floor((value.replaceAll(/[\s=]/g, '').length * 3) / 4) : value.length;
  return [`[${oneLine(type)}, ${withCommas(size)} ${isPicture ? 'bytes' : 'characters'}]\n`];
}

/** Text of the notebook format: a string, or a list of lines. */
function multiline(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : '';
}

const endedLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

const oneLine = (value: unknown): string =>
  typeof value === 'string' ? presentable(value).replaceAll(/\s+/g, ' ').slice(0, 60) : '';
