import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { eachLine, type OutputLine, type StoredOutput } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';

const mostLines = 2000;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
const mostCharacters = inlineLimit - 800;

const params = z.strictObject({
  output: z.string().min(1).max(100).describe('The handle, or a job'),
  from_line: z.int().min(1).optional().describe('First line, from 1'),
  lines: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines'),
  tail: z.int().min(1).max(mostLines).optional().describe('Only the last lines'),
  grep: z.string().min(1).max(1000).optional().describe('Only lines that match this JavaScript regex'),
  context: z.int().min(0).max(20).default(0).describe('With grep: lines around each match'),
});

type Given = z.output<typeof params>;

/** What programs printed and results left out, by pages, from the end, or searched. */
export const readOutput = ({ outputs }: { readonly outputs: Pick<OutputStore, 'find'> }): Tool =>
  defineSimpleTool({
    name: 'read_output',
    program: 'toolcrib',
    title: 'Read output',
    description:
      'Read what a program printed, by the handle a result names: a page, its end, or what matches.',
    effects: ['read'],
    params,
    async call(given, { client, signal }) {
      refuseTwoWays(given);
      const output = outputs.find(client, given.output);
      const page = new Page(output);
      if (given.grep !== undefined) await search(page, output, given, given.grep, signal);
      else if (given.tail !== undefined) fillFromEnd(page, output, given.tail);
      else fillFromLine(page, output, given);
      return { content: [{ type: 'text', text: page.text }] };
    },
  });

function refuseTwoWays({ tail, grep, from_line, context }: Given): void {
  const wrong = (parameter: string, why: string) => new ToolcribError('ARG_INVALID', `${parameter}: ${why}.`);
  if (tail !== undefined && (grep ?? from_line) !== undefined)
    throw wrong('tail', 'cannot be given with from_line or grep');
  if (context > 0 && grep === undefined) throw wrong('context', 'is given with grep');
}

/** An answer that is filled until nothing more fits. */
class Page {
  readonly notes: string[] = [];
  readonly #output: StoredOutput;
  readonly #pieces: string[] = [];
  #size = 0;

  constructor(output: StoredOutput) {
    this.#output = output;
  }

  get count(): number {
    return this.#pieces.length;
  }

  /** False when there is no room for it. */
  add(line: OutputLine, most: number, mark = ''): boolean {
    const piece = this.#pieceOf(line, mark);
    if (this.count >= most || (this.count > 0 && this.#size + piece.length > mostCharacters)) return false;
    this.#pieces.push(piece);
    this.#size += piece.length;
    return true;
  }

  /** Adds a line, and gives up the first ones where there is no room. */
  addLast(line: OutputLine): void {
    const piece = this.#pieceOf(line);
    this.#pieces.push(piece);
    this.#size += piece.length;
    while (this.count > 1 && this.#size > mostCharacters) this.#size -= this.#pieces.shift()?.length ?? 0;
  }

  #pieceOf(line: OutputLine, mark = ''): string {
    if (line.kind === 'missing') return `[lines ${line.number}-${line.last} were not kept]\n`;
    return `${line.number}${mark}\t${line.text}\n`;
  }

  get text(): string {
    const { lineCount, endedAt, about } = this.#output;
    const said = [
      ...this.notes,
      `${lineCount.toLocaleString('en')} ${lineCount === 1 ? 'line' : 'lines'} in all`,
      ...(endedAt === undefined ? ['it goes on'] : []),
      `of: ${presentable(about).replaceAll(/\s+/g, ' ').slice(0, 200)}`,
    ];
    return `${this.#pieces.join('')}[${said.join('; ')}]`;
  }
}

function fillFromLine(page: Page, output: StoredOutput, { from_line: from = 1, lines }: Given): void {
  const { lineCount, endedAt } = output;
  if (from > lineCount + 1 || (from > lineCount && endedAt !== undefined && lineCount > 0))
    throw new ToolcribError('ARG_INVALID', `from_line: there are ${lineCount} lines.`);
  if (lineCount === 0) page.notes.push(`nothing was printed${endedAt === undefined ? ' yet' : ''}`);
  for (const line of eachLine(output, from)) {
    if (page.add(line, lines)) continue;
    page.notes.push(`next: from_line=${line.number}`);
    return;
  }
}

function fillFromEnd(page: Page, output: StoredOutput, tail: number): void {
  const from = Math.max(1, output.lineCount - tail + 1);
  for (const line of eachLine(output, from)) page.addLast(line);
}

async function search(
  page: Page,
  output: StoredOutput,
  { from_line: from = 1, lines: most, context }: Given,
  pattern: string,
  signal: AbortSignal,
): Promise<void> {
  const before: OutputLine[] = [];
  let after = 0;
  const add = (line: OutputLine, mark?: string) => {
    const isAdded = page.add(line, most, mark);
    if (!isAdded) page.notes.push(`more match; next: from_line=${line.number}`);
    return isAdded;
  };
  for await (const step of searchLines(output, { from, pattern, parameter: 'grep', signal }))
    for (const [index, line] of step.lines.entries()) {
      if (line.kind === 'missing' || step.matches[index]) {
        for (const earlier of before.splice(0)) if (!add(earlier, '-')) return;
        if (!add(line)) return;
        if (line.kind === 'line') after = context;
      } else if (after > 0) {
        after--;
        if (!add(line, '-')) return;
      } else if (context > 0) {
        before.push(line);
        if (before.length > context) before.shift();
      }
    }
  if (page.count === 0) page.notes.push('no line matches');
}
