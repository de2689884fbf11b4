import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { namesOf, stepTool } from './change-tool.ts';
import { encodeText } from './text/file-text.ts';
import { editing } from './editing/editing.ts';
import type { Edit } from './editing/edited-text.ts';
import { refuseMask } from './editing/refusals.ts';
import type { Step } from './editing/take-steps.ts';

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
export default stepTool({
  name: 'apply_patch',
  title: 'Apply patch',
  description:
    'Adds, updates, moves and deletes files as a patch says, all or none: *** Begin Patch, *** Update File: PATH, ' +
    'lines with blank, + and -.',
  hint: 'apply a patch to several files',
  listed: 'no',
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

const header = /^\*\*\* (Add|Delete|Update) File: (.*)$/;

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
  const end = lines.findIndex((line, at) => at > begin && line.trim() === '*** End Patch');
  if (end === -1) throw wrong(lines.length - 1, 'the patch ends without "*** End Patch"');
  const files: FilePatch[] = [];
  for (let at = begin + 1; at < end;) {
    const next = lines.findIndex((line, index) => index > at && (index === end || header.test(line)));
    const [, verb, name = ''] = header.exec(lines[at] ?? '') ?? [];
    const [path, body] = [name.trim(), lines.slice(at + 1, next)];
    if (verb === 'Add') files.push({ path, content: addedIn(body, at + 1) });
    else if (verb === 'Delete') files.push({ path });
    else if (verb === 'Update') files.push(updateIn(path, body, at + 1));
    else if (lines[at]?.trim() !== '')
      throw wrong(at, 'expected *** Add File, *** Update File, *** Delete File or *** End Patch');
    at = verb === 'Add' || verb === 'Update' ? next : at + 1;
  }
  if (files.length === 0) throw wrong(end, 'the patch changes nothing');
  return files;
}

function addedIn(lines: readonly string[], first: number): string {
  const odd = lines.findIndex((line) => !line.startsWith('+'));
  if (odd !== -1) throw wrong(first + odd, 'each line of a new file begins with +');
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}

function updateIn(path: string, lines: readonly string[], first: number): FilePatch {
  const edits: Edit[] = [];
  let to: string | undefined;
  let [below, rows]: [string[], string[]] = [[], []];
  const endChunk = (at: number) => {
    if (rows.length === 0) return;
    edits.push(editOf(rows, below, first + at - rows.length));
    [below, rows] = [[], []];
  };
  for (const [at, line] of lines.entries()) {
    const [, target] = /^\*\*\* Move to: (.*)$/.exec(line) ?? [];
    if (/^(?:[ +-]|$)/.test(line)) rows.push(line);
    else if (line.startsWith('@@')) {
      endChunk(at);
      const above = line.replace(/^@@(?: -\d[^@]*@@)?/, '').trim();
      if (above !== '') below.push(above);
    } else if (target !== undefined && at === 0) to = target.trim();
    else if (!line.startsWith('*** End of File'))
      throw wrong(first + at, 'expected a blank, + or - at its beginning');
  }
  endChunk(lines.length);
  if (edits.length === 0 && to === undefined)
    throw wrong(first + lines.length - 1, `nothing is said to change in ${path}`);
  return { path, edits, to };
}

/** Lines that are replaced, with those around them. */
function editOf(rows: readonly string[], below: readonly string[], at: number): Edit {
  const textsBut = (sign: string) => rows.filter((row) => !row.startsWith(sign)).map((row) => row.slice(1));
  const [old, fresh] = [textsBut('+'), textsBut('-')];
  const anchor = below.at(-1);
  // Lines that go take their ends with them.
  const end = fresh.length === 0 ? '\n' : '';
  if (old.length > 0) return { old: old.join('\n') + end, new: fresh.join('\n'), isLines: true, below };
  if (anchor === undefined) throw wrong(at, 'lines are added, and none beside them tells where');
  return { old: anchor, new: [anchor, ...fresh].join('\n'), isLines: true, below: below.slice(0, -1) };
}
