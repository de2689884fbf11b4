import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import type { View } from '../../machine/output-store/line-runs.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import type { MissingPart, StoredLine, StoredOutput } from '../../machine/output-store/stored-output.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';

const mostLines = 2000;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
const mostCharacters = inlineLimit - 800;
/** Of one line, when it is not asked for alone. */
const lineCharacters = 2000;
/** Shown of a cut line before what was found in it. */
const leadBytes = 200;

const params = z.strictObject({
  output: z.string().min(1).max(100).describe('The handle'),
  from_line: z.int().min(1).optional().describe('First line, from 1'),
  lines: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines'),
  tail: z.int().min(1).max(mostLines).optional().describe('Only the last lines'),
  grep: z.string().min(1).max(1000).optional().describe('Only lines that match this JavaScript regex'),
  context: z.int().min(0).max(20).default(0).describe('With grep: lines around each match'),
  stream: z.enum(['stdout', 'stderr']).optional().describe('Only this one'),
  from_byte: z.int().min(0).optional().describe('Where to go on in from_line, when it was cut'),
});

type Given = z.output<typeof params>;

/** What programs printed and results left out, by pages, from the end, or searched. */
export const readOutput = ({ outputs }: { readonly outputs: Pick<OutputStore, 'find'> }): Tool =>
  defineSimpleTool({
    name: 'read_output',
    program: 'toolcrib',
    title: 'Read output',
    description:
      'Read what a program printed, also while it runs, by the handle a result names: a page of numbered lines, the end, or what matches.',
    effects: ['read'],
    params,
    async call(given, { client, signal }) {
      refuseTwoWays(given);
      const output = outputs.find(client, given.output);
      const page = createPage(output, given);
      if (given.from_byte !== undefined) await fillFromLine(page, output, given, given.from_byte);
      else if (given.grep !== undefined) await fillFromSearch(page, output, given, signal);
      else await fillFromLines(page, output, given, signal);
      return { content: [{ type: 'text', text: page.text() }] };
    },
  });

function refuseTwoWays({ tail, grep, from_line, from_byte, context }: Given): void {
  const wrong = (parameter: string, why: string) => new ToolcribError('ARG_INVALID', `${parameter}: ${why}.`);
  if (tail !== undefined && (grep ?? from_line ?? from_byte) !== undefined)
    throw wrong('tail', 'cannot be given with from_line, from_byte or grep');
  if (from_byte !== undefined && (from_line === undefined || grep !== undefined))
    throw wrong('from_byte', 'is given with from_line, and without grep');
  if (context > 0 && grep === undefined) throw wrong('context', 'is given with grep');
}

type Page = ReturnType<typeof createPage>;

/** An answer that is filled until nothing more fits. */
function createPage(output: StoredOutput, { stream, lines: most }: Given) {
  const view: View = stream ?? 'both';
  const isMixed = view === 'both' && output.bytes.stdout > 0 && output.bytes.stderr > 0;
  const pieces: string[] = [];
  const notes: string[] = [];
  let size = 0;
  let count = 0;
  return {
    view,
    notes,
    /** False when there is no room for it. */
    addLine(line: StoredLine, at?: number, isAround = false): boolean {
      const piece = this.lineText(line, at, isAround);
      if (count >= most || (count > 0 && size + piece.length > mostCharacters)) return false;
      pieces.push(piece);
      size += piece.length;
      count++;
      return true;
    },
    lineText(line: StoredLine, at?: number, isAround = false): string {
      const mark = `${isMixed && line.stream === 'stderr' ? '!' : ''}${isAround ? '-' : ''}`;
      return `${line.number}${mark}\t${shown(output, line, at)}\n`;
    },
    addText(text: string): void {
      pieces.push(text);
      size += text.length;
    },
    addMissing({ bytes, from, to }: MissingPart): void {
      const which = to > from ? `lines ${from}-${to}: ` : to === from ? `line ${from}: ` : '';
      this.addText(`[${which}${bytes.toLocaleString('en')} bytes were not kept]\n`);
    },
    /** Leaves only what fits, from the end. */
    keepEnd(): void {
      while (pieces.length > 1 && size > mostCharacters) size -= pieces.shift()?.length ?? 0;
    },
    get count() {
      return count;
    },
    text(): string {
      const about = presentable(output.about).replaceAll(/\s+/g, ' ').slice(0, 200);
      const total = output.lineCount(view);
      const said = [
        ...notes,
        `${total.toLocaleString('en')} ${total === 1 ? 'line' : 'lines'} in all${output.ended ? '' : ' so far'}`,
        ...(isMixed ? ['! is stderr'] : []),
        ...(output.ended ? [] : ['it goes on']),
        `of: ${about}`,
      ];
      return `${pieces.join('')}[${said.join('; ')}]`;
    },
  };
}

/** A line as it is shown: of a long one a part, and how the rest is reached. */
function shown(output: StoredOutput, line: StoredLine, at = 0): string {
  if (line.text.length <= lineCharacters && line.bytes <= 4 * lineCharacters) return line.text;
  const part = output.part(line, at < lineCharacters - leadBytes ? 0 : at - leadBytes, lineCharacters);
  if (!part) return line.text.slice(0, lineCharacters);
  const total = line.bytes.toLocaleString('en');
  const where = part.from > 0 ? `from byte ${part.from}: ` : '';
  const rest =
    part.to < line.bytes ? `… [of ${total} bytes; from_line=${line.number} from_byte=${part.to}]` : '';
  return `${where === '' ? '' : `[${where}] `}${part.text}${rest}`;
}

async function fillFromLines(page: Page, output: StoredOutput, given: Given, signal: AbortSignal) {
  const total = output.lineCount(page.view);
  const { tail } = given;
  const from = tail === undefined ? (given.from_line ?? 1) : Math.max(1, total - tail + 1);
  if (from > total + 1 || (from > total && output.ended && total > 0))
    throw new ToolcribError('ARG_INVALID', `from_line: there are ${total} lines.`);
  if (total === 0) page.notes.push(output.ended ? 'nothing was printed' : 'nothing was printed yet');
  for await (const step of output.lines(page.view, from)) {
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    if (step.kind === 'missing') page.addMissing(step);
    else if (tail !== undefined) page.addText(page.lineText(step));
    else if (!page.addLine(step)) {
      page.notes.push(`next: from_line=${step.number}`);
      return;
    }
  }
  page.keepEnd();
}

async function fillFromSearch(page: Page, output: StoredOutput, given: Given, signal: AbortSignal) {
  const { grep: pattern = '', context, from_line: from = 1 } = given;
  const steps = searchLines(output, { view: page.view, from, pattern, context, signal });
  for await (const step of steps) {
    if (step.kind === 'missing') page.addMissing(step);
    else if (step.kind === 'gave up') {
      page.notes.push(`took too long: searched up to line ${step.at}; next: from_line=${step.at + 1}`);
      return;
    } else if (!page.addLine(step.line, step.at, step.at === undefined)) {
      page.notes.push(`more match; next: from_line=${step.line.number}`);
      return;
    }
  }
  if (page.count === 0) page.notes.push('no line matches');
}

async function fillFromLine(page: Page, output: StoredOutput, given: Given, fromByte: number) {
  const from = given.from_line ?? 1;
  const found = await lineAt(output, page, from);
  const part = found && output.part(found, fromByte, mostCharacters);
  if (!part)
    throw new ToolcribError(
      'ARG_INVALID',
      found
        ? `from_byte: line ${from} has ${found.bytes.toLocaleString('en')} bytes.`
        : `from_line: line ${from} is not there, or was not kept.`,
    );
  if (part.from > fromByte) page.notes.push(`bytes ${fromByte}-${part.from - 1} were not kept`);
  page.addText(`${part.text}\n`);
  page.notes.push(
    `bytes ${part.from}-${part.to - 1} of ${found.bytes.toLocaleString('en')} of line ${from}`,
    ...(part.to < found.bytes ? [`next: from_byte=${part.to}`] : []),
  );
}

async function lineAt(output: StoredOutput, { view }: Page, number: number): Promise<StoredLine | undefined> {
  for await (const step of output.lines(view, number))
    if (step.kind === 'line') return step.number === number ? step : undefined;
  return undefined;
}
