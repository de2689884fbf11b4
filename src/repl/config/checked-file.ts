import { stat } from 'node:fs/promises';
import { ChatError } from '../errors.ts';
import { readRegularFile } from '../prompt/read-files.ts';
import { Misfit, type Check } from './check.ts';

/** Far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;
const mostDepth = 200;

/**
 * The text of a configuration file; undefined when there is none. Throws CONFIG_INVALID for what is no file, is too
 * large, or can be written by everybody: it names programs to start.
 */
export async function readConfigText(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o002) !== 0)
      throw invalid(file, `can be written by everybody. Run: chmod o-w '${file}'`);
    return (await readRegularFile(file, mostBytes)).toString();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'CONFIG_INVALID') throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw invalid(file, `cannot be read (${error instanceof ChatError ? message : String(code)}).`, error);
  }
}

/**
 * What a YAML or JSON file holds, checked; undefined when there is no file, the check of {} when it is empty. Throws
 * CONFIG_INVALID with file and line.
 */
export async function readCheckedFile<T>(file: string, check: Check<T>): Promise<T | undefined> {
  const text = await readConfigText(file);
  if (text === undefined) return undefined;
  // Loaded only by those who have such a file: start-up time. JSON is YAML.
  const { default: yaml } = await import('yaml');
  const { Lexer, LineCounter, Parser, parseDocument, isMap, isNode } = yaml;
  const lines = new LineCounter();
  // Where the stack ends, Node may not even throw: a regular expression that has to be compiled there aborts it.
  const parser = new Parser();
  for (const token of new Lexer().lex(text)) {
    for (const _ of parser.next(token)) continue;
    if (parser.stack.length > mostDepth) throw invalid(file, 'is nested too deeply.');
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors[0];
  if (broken)
    throw invalid(`${file}:${lines.linePos(broken.pos[0]).line}:`, `it cannot be read: ${broken.message}`);
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let length = path.length; length > 0; length--) {
      const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
      const pair = isMap(parent) && parent.items.find(({ key }) => String(key) === String(path[length - 1]));
      const node = pair ? pair.key : document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  try {
    return check(document.toJS() ?? {}, []);
  } catch (error) {
    // Too many aliases of one anchor: the parser's guard against files that grow without end.
    if (error instanceof ReferenceError) throw invalid(file, `cannot be read: ${error.message}`, error);
    if (!(error instanceof Misfit)) throw error;
    throw invalid(`${file}:${lineOf(error.path)}:`, `${whereOf(error.path)}${error.message}`);
  }
}

/** CONFIG_INVALID for a place in a file. */
export const invalid = (place: string, why: string, cause?: unknown): ChatError =>
  new ChatError('CONFIG_INVALID', `${place} ${why}`, cause === undefined ? undefined : { cause });

const whereOf = (path: readonly (string | number)[]): string =>
  path.length === 0 ? 'it ' : `${path.join('.')} `;
