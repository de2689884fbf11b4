import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { namesOf, stepTool } from '../change-tool.ts';
import { encodeText } from '../text/file-text.ts';
import { editing } from './edit-file.ts';
import type { Edit } from './edited-text.ts';
import { refuseMask } from './refusals.ts';
import type { Step } from './take-steps.ts';

const params = z.strictObject({
  input: also(
    z.string().min(1).max(5_000_000).describe('*** Begin Patch … *** Update File: src/a.ts … *** End Patch'),
    'patch diff patch_text patchText',
  ),
  dry_run: unlisted(flag('Only show what would change')),
});

const pathsIn = ({ input }: z.output<typeof params>): string[] =>
  parsePatch(input).flatMap(({ path, to = path }) => [path, to]);

/** The form of edits that some models know best, by the same engine: all of a patch, or none. */
export const applyPatch = stepTool({
  name: 'apply_patch',
  title: 'Apply patch',
  description:
    'Adds, updates, moves and deletes files as a patch says, all or none: *** Begin Patch, *** Update File: PATH, ' +
    'lines with blank, + and -.',
  params,
  kind: 'patch',
  done: 'Patched',
  subject: (given) => `patch ${namesOf([...new Set(pathsIn(given))])}`,
  paths: pathsIn,
  steps: ({ input }, context) => parsePatch(input).flatMap((file) => stepsOf(file, context)),
});

function stepsOf({ path, to, content, edits }: FilePatch, context: PlanContext): Step[] {
  if (content === undefined && !edits) return [{ path, isRemoved: true }];
  if (content === undefined)
    return [
      ...(edits && edits.length > 0 ? [editing(path, edits, context)] : []),
      ...(to === undefined ? [] : [{ path, movesTo: to }]),
    ];
  const propose = async (before: Buffer | undefined, known: string | undefined) => {
    refuseMask('input', content, before);
    return encodeText(content, before, known);
  };
  return [{ path, replacesAll: true, propose }];
}

/** What a patch says about a file: what a new one has, or what changes in one; neither when it goes. */
interface FilePatch {
  readonly path: string;
  readonly to?: string | undefined;
  readonly content?: string;
  readonly edits?: readonly Edit[];
}

const wrong = (at: number, problem: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `input: line ${at + 1}: ${problem}.`, 'Nothing was written.');

/** The lines of a patch, and where the next is. */
interface Reader {
  readonly lines: readonly string[];
  at: number;
}

/** The lines from the next one on that are not yet what ends them. */
function linesUntil(reader: Reader, end: RegExp): string[] {
  const { lines, at } = reader;
  const next = lines.findIndex((line, index) => index >= at && end.test(line));
  reader.at = next === -1 ? lines.length : next;
  return lines.slice(at, reader.at);
}

/** Reads what models call apply_patch. Throws ARG_INVALID with the line that cannot be read. */
function parsePatch(input: string): FilePatch[] {
  const lines = input.split(/\r?\n/);
  const begin = lines.findIndex((line) => line.trim() === '*** Begin Patch');
  if (begin === -1)
    throw new ToolcribError(
      'ARG_INVALID',
      'input: has no line "*** Begin Patch".',
      'A patch begins with it.',
    );
  const reader = { lines, at: begin + 1 };
  const files: FilePatch[] = [];
  for (;;) {
    const next = lines[reader.at];
    if (next === undefined) throw wrong(reader.at - 1, 'the patch ends without "*** End Patch"');
    if (next.trim() === '*** End Patch') break;
    reader.at++;
    if (next.trim() === '') continue;
    const [, verb, name = ''] = /^\*\*\* (Add|Delete|Update) File: (.*)$/.exec(next) ?? [];
    const path = name.trim();
    if (verb === 'Add') files.push({ path, content: addedIn(reader) });
    else if (verb === 'Delete') files.push({ path });
    else if (verb === 'Update') files.push(updateIn(path, reader));
    else
      throw wrong(reader.at - 1, 'expected *** Add File, *** Update File, *** Delete File or *** End Patch');
  }
  if (files.length === 0) throw wrong(reader.at - 1, 'the patch changes nothing');
  return files;
}

function addedIn(reader: Reader): string {
  const { at } = reader;
  const added = linesUntil(reader, /^\*\*\*/);
  const odd = added.findIndex((line) => !line.startsWith('+'));
  if (odd !== -1) throw wrong(at + odd, 'each line of a new file begins with +');
  return added.map((line) => `${line.slice(1)}\n`).join('');
}

function updateIn(path: string, reader: Reader): FilePatch {
  const [, to] = /^\*\*\* Move to: (.*)$/.exec(reader.lines[reader.at] ?? '') ?? [];
  if (to !== undefined) reader.at++;
  const edits: Edit[] = [];
  for (;;) {
    const next = reader.lines[reader.at];
    if (next === undefined || /^\*\*\* (?!End of File)/.test(next)) break;
    const edit = chunkIn(reader);
    if (edit) edits.push(edit);
  }
  if (edits.length === 0 && to === undefined)
    throw wrong(reader.at - 1, `nothing is said to change in ${path}`);
  return { path, edits, to: to?.trim() };
}

/** Lines that are replaced, with those around them, up to the next @@ or file. */
function chunkIn(reader: Reader): Edit | undefined {
  const below = linesUntil(reader, /^(?!@@)/)
    .map((line) => line.replace(/^@@(?: -\d[^@]*@@)?/, '').trim())
    .filter((line) => line !== '');
  const { at } = reader;
  const rows = linesUntil(reader, /^(?:@@|\*\*\* )/);
  if (reader.lines[reader.at]?.startsWith('*** End of File')) reader.at++;
  const odd = rows.findIndex((row) => !/^(?:[ +-]|$)/.test(row));
  if (odd !== -1) throw wrong(at + odd, 'expected a blank, + or - at its beginning');
  if (rows.length === 0) return undefined;
  const textsBut = (sign: string) => rows.filter((row) => !row.startsWith(sign)).map((row) => row.slice(1));
  const [old, fresh] = [textsBut('+'), textsBut('-')];
  const anchor = below.at(-1);
  if (old.length === 0 && anchor === undefined)
    throw wrong(at, 'lines are added, and none beside them tells where');
  if (old.length === 0 && anchor !== undefined)
    return { old: anchor, new: [anchor, ...fresh].join('\n'), isLines: true, below: below.slice(0, -1) };
  // Lines that go take their ends with them.
  const end = fresh.length === 0 ? '\n' : '';
  return { old: old.join('\n') + end, new: fresh.join('\n'), isLines: true, below };
}
