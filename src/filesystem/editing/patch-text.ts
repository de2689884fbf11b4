import { ToolcribError } from '../../core/errors.ts';
import type { Edit } from './find-text.ts';

/** What a patch says about a file. */
export type FilePatch =
  | { readonly does: 'add'; readonly path: string; readonly content: string }
  | { readonly does: 'delete'; readonly path: string }
  | { readonly does: 'update'; readonly path: string; readonly to?: string; readonly edits: readonly Edit[] };

const wrong = (number: number, problem: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `input: line ${number}: ${problem}.`, 'Nothing was written.');

/** The lines of a patch, one after the other. */
class PatchLines {
  readonly #lines: readonly string[];
  /** Where the next line is, from 0. */
  at: number;

  constructor(input: string) {
    this.#lines = input.split(/\r?\n/);
    const begin = this.#lines.findIndex((line) => line.trim() === '*** Begin Patch');
    if (begin === -1)
      throw new ToolcribError(
        'ARG_INVALID',
        'input: has no line "*** Begin Patch".',
        'A patch begins with it.',
      );
    this.at = begin + 1;
  }

  get next(): string | undefined {
    return this.#lines[this.at];
  }

  /** What follows a header such as `*** Add File: `; undefined, and nothing taken, where the next line is another. */
  header(name: string): string | undefined {
    const { next = '' } = this;
    if (!next.startsWith(`*** ${name}: `)) return undefined;
    this.at++;
    return next.slice(name.length + 6).trim();
  }
}

/** Reads what models call apply_patch. Throws ARG_INVALID with the line that cannot be read. */
export function parsePatch(input: string): FilePatch[] {
  const lines = new PatchLines(input);
  const files: FilePatch[] = [];
  for (;;) {
    const { next } = lines;
    if (next === undefined) throw wrong(lines.at, 'the patch ends without "*** End Patch"');
    if (next.trim() === '*** End Patch') break;
    const added = lines.header('Add File');
    const deleted = added ?? lines.header('Delete File');
    const updated = deleted ?? lines.header('Update File');
    if (added !== undefined) files.push({ does: 'add', path: added, content: addedIn(lines) });
    else if (deleted !== undefined) files.push({ does: 'delete', path: deleted });
    else if (updated !== undefined) files.push(updateIn(updated, lines));
    else if (next.trim() === '') lines.at++;
    else
      throw wrong(lines.at + 1, 'expected *** Add File, *** Update File, *** Delete File or *** End Patch');
  }
  if (files.length === 0) throw wrong(lines.at, 'the patch changes nothing');
  return files;
}

function addedIn(lines: PatchLines): string {
  const content: string[] = [];
  for (; lines.next !== undefined && !lines.next.startsWith('***'); lines.at++) {
    if (!lines.next.startsWith('+')) throw wrong(lines.at + 1, 'each line of a new file begins with +');
    content.push(`${lines.next.slice(1)}\n`);
  }
  return content.join('');
}

function updateIn(path: string, lines: PatchLines): FilePatch {
  const to = lines.header('Move to');
  const edits: Edit[] = [];
  while (lines.next !== undefined && !/^\*\*\* (?!End of File)/.test(lines.next)) {
    const edit = chunkIn(lines);
    if (edit) edits.push(edit);
  }
  if (edits.length === 0 && to === undefined) throw wrong(lines.at, `nothing is said to change in ${path}`);
  return { does: 'update', path, edits, ...(to !== undefined && { to }) };
}

/** Lines that are replaced, with those around them, up to the next @@ or file. */
function chunkIn(lines: PatchLines): Edit | undefined {
  const below: string[] = [];
  for (; lines.next?.startsWith('@@'); lines.at++) {
    const [, named = ''] = /^@@(?: -\d[^@]*@@)?(.*)$/.exec(lines.next) ?? [];
    if (named.trim() !== '') below.push(named.trim());
  }
  const first = lines.at + 1;
  const [old, fresh]: [string[], string[]] = [[], []];
  for (; lines.next !== undefined && !/^(?:@@|\*\*\* )/.test(lines.next); lines.at++) {
    const [sign = ' ', text] = [lines.next[0], lines.next.slice(1)];
    if (!/[ +-]/.test(sign)) throw wrong(lines.at + 1, 'expected a blank, + or - at its beginning');
    if (sign !== '+') old.push(text);
    if (sign !== '-') fresh.push(text);
  }
  if (lines.next?.startsWith('*** End of File')) lines.at++;
  if (old.length === 0 && fresh.length === 0) return undefined;
  const anchor = below.pop();
  if (old.length === 0 && anchor === undefined)
    throw wrong(first, 'lines are added, and none beside them tells where');
  const isAfterAnchor = old.length === 0 && anchor !== undefined;
  const [was, is] = isAfterAnchor ? [[anchor], [anchor, ...fresh]] : [old, fresh];
  const above = isAfterAnchor || anchor === undefined ? below : [...below, anchor];
  // Lines that go take their ends with them.
  const end = is.length === 0 ? '\n' : '';
  return { old: was.join('\n') + end, new: is.join('\n'), isLines: true, below: above };
}
