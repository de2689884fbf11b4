import type { CallContext } from '../../core/tool.ts';
import { eachLine } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Room for the first line and the notes is kept free. */
const mostCharacters = inlineLimit - 1000;
/** Lines around one that matches: in Markdown the paragraphs before and after it. */
const nearby = 3;

/** What fits into an answer: a text from its beginning, or around what is looked for. The rest is kept. */
export function fitted(
  text: string,
  find: string | undefined,
  about: string,
  outputs: Pick<OutputStore, 'find'>,
  context: Pick<CallContext, 'client' | 'keepOutput'>,
): string {
  if (find === undefined && text.length <= mostCharacters) return presentable(text);
  const sink = context.keepOutput(about);
  sink.add('stdout', Buffer.from(inLines(text)));
  sink.end();
  const kept = eachLine(outputs.find(context.client, sink.handle), 1);
  const lines = [...kept].filter((line) => line.kind === 'line');
  const whole = `read_output output=${sink.handle}`;
  return find === undefined ? beginning(lines, whole) : around(lines, find, whole);
}

/** JSON for programs is one long line: then each member has its own, and nothing else changes. */
function inLines(text: string): string {
  if (text.includes('\n') || !/^\s*[[{]/.test(text)) return text;
  try {
    JSON.parse(text);
  } catch {
    // It is no JSON, and its quotes mean nothing.
    return text;
  }
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[,[{]/g, (part) => (part.startsWith('"') ? part : `${part}\n`));
}

function beginning(lines: readonly Line[], whole: string): string {
  let room = mostCharacters;
  const end = lines.findIndex(({ text }) => (room -= text.length + 1) < 0);
  const text = lines.slice(0, end < 0 ? undefined : Math.max(1, end)).map((line) => line.text);
  const next = lines[text.length]?.number;
  const note = next === undefined ? '' : `; ${whole} from_line=${next} goes on, find shows a part`;
  return `${text.join('\n')}\n[lines 1-${text.length} of ${lines.length}${note}]`;
}

function around(lines: readonly Line[], find: string, whole: string): string {
  const wanted = find.toLowerCase();
  const hits = lines.flatMap(({ text }, at) => (text.toLowerCase().includes(wanted) ? [at] : []));
  const all = `all ${lines.length} lines: ${whole}`;
  if (hits.length === 0) return `[nothing matches ${JSON.stringify(presentable(find))}; ${all}]`;
  const shown: string[] = [];
  let room = mostCharacters;
  let last = -1;
  let left = hits.length;
  for (const hit of hits) {
    const from = Math.max(hit - nearby, last + 1, 0);
    const part = lines.slice(from, hit + nearby + 1);
    // An earlier match has brought the lines up to here.
    const fresh = part.filter((_line, at) => from + at > last).map(({ text }) => text);
    const piece = from > last + 1 ? [`[line ${part[0]?.number}]`, ...fresh] : fresh;
    room -= piece.join('\n').length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(...piece);
    last = Math.max(last, hit + nearby);
    left--;
  }
  const more = left > 0 ? `; ${left} more are left out` : '';
  return `${shown.join('\n')}\n[${hits.length} ${hits.length === 1 ? 'line matches' : 'lines match'}${more}; ${all}]`;
}
