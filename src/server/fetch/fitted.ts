import type { CallContext } from '../../core/tool.ts';
import { eachLine } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';

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
  const kept = [...eachLine(outputs.find(context.client, sink.handle), 1)];
  const lines = kept.flatMap((line) => (line.kind === 'line' ? [line.text] : []));
  const whole = `read_output output=${sink.handle}`;
  const wanted = find?.toLowerCase();
  const isHit = (line: string) => wanted !== undefined && line.toLowerCase().includes(wanted);
  const hits = lines.flatMap((line, at) => (isHit(line) ? [at] : []));
  const all = `all ${lines.length} lines: ${whole}`;
  if (find !== undefined && hits.length === 0)
    return `[nothing matches ${JSON.stringify(presentable(find))}; ${all}]`;
  const isShown = (at: number) => find === undefined || hits.some((hit) => Math.abs(hit - at) <= nearby);
  const shown: string[] = [];
  let [room, last] = [mostCharacters, -1];
  for (const [at, line] of lines.entries()) {
    if (!isShown(at)) continue;
    const piece = last === at - 1 ? line : `[line ${at + 1}]\n${line}`;
    room -= piece.length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(piece);
    last = at;
  }
  const left = hits.filter((hit) => hit > last).length;
  const matches = `${hits.length} ${hits.length === 1 ? 'line matches' : 'lines match'}`;
  const goesOn = `; ${whole} from_line=${last + 2} goes on, find shows a part`;
  const note =
    find === undefined
      ? `lines 1-${last + 1} of ${lines.length}${last + 1 < lines.length ? goesOn : ''}`
      : `${matches}${left > 0 ? `; ${left} more are left out` : ''}; ${all}`;
  return `${shown.join('\n')}\n[${note}]`;
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
