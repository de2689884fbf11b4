import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { abbreviatePaths, stepTool } from './change-tool.ts';
import { encodeText } from './text/file-text.ts';
import { changeByEdits } from './editing/editing.ts';
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

/** Applies a patch in the form that some models know best: all of it, or nothing. */
export default stepTool({
  name: 'apply_patch',
  title: 'Apply patch',
  description:
    'Adds, updates, moves and deletes files as a patch says, all or none: *** Begin Patch, ' +
    '*** Update File: PATH, lines with blank, + and -.',
  hint: 'apply a patch to several files',
  listed: 'no',
  params,
  kind: 'patch',
  done: 'Patched',
  subject: (values) => `patch ${abbreviatePaths([...new Set(pathsInPatch(values))])}`,
  paths: pathsInPatch,
  steps: ({ input }, context) => parsePatch(input).flatMap((file) => stepsOf(file, context)),
});

function pathsInPatch({ input }: z.output<typeof params>): string[] {
  return parsePatch(input).flatMap(({ path, to = path }) => [path, to]);
}

function stepsOf({ path, to, content, edits }: FilePatch, context: PlanContext): Step[] {
  if (content === undefined && !edits) return [{ path, isRemoved: true }];
  if (content === undefined)
    return [
      ...(edits && edits.length > 0 ? [changeByEdits(path, edits, context)] : []),
      ...(to === undefined ? [] : [{ path, movesTo: to }]),
    ];
  const propose = async (before: Buffer | undefined, knownEncoding: string | undefined) => {
    refuseMask('input', content, before);
    return encodeText(content, before, knownEncoding);
  };
  return [{ path, replacesAll: true, propose }];
}

/**
 * The part of a patch about one file: `content` of a new file, or `edits` of one; neither when it is deleted.
 */
interface FilePatch {
  readonly path: string;
  readonly to?: string | undefined;
  readonly content?: string;
  readonly edits?: readonly Edit[];
}

const invalidLine = (at: number, problem: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `input: line ${at + 1}: ${problem}.`, 'Nothing was written.');

const header = /^\*\*\* (Add|Delete|Update) File: (.*)$/;

/** Parses a patch. Throws ARG_INVALID with the line that cannot be read. */
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
  if (end === -1) throw invalidLine(lines.length - 1, 'the patch ends without "*** End Patch"');
  const files: FilePatch[] = [];
  for (let at = begin + 1; at < end;) {
    const next = lines.findIndex((line, index) => index > at && (index === end || header.test(line)));
    const [, verb, name = ''] = header.exec(lines[at] ?? '') ?? [];
    const [path, body] = [name.trim(), lines.slice(at + 1, next)];
    if (verb === 'Add') files.push({ path, content: parseContent(body, at + 1) });
    else if (verb === 'Delete') files.push({ path });
    else if (verb === 'Update') files.push(parseUpdate(path, body, at + 1));
    else if (lines[at]?.trim() !== '')
      throw invalidLine(at, 'expected *** Add File, *** Update File, *** Delete File or *** End Patch');
    at = verb === 'Add' || verb === 'Update' ? next : at + 1;
  }
  if (files.length === 0) throw invalidLine(end, 'the patch changes nothing');
  return files;
}

function parseContent(lines: readonly string[], first: number): string {
  const wrong = lines.findIndex((line) => !line.startsWith('+'));
  if (wrong !== -1) throw invalidLine(first + wrong, 'each line of a new file begins with +');
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}

function parseUpdate(path: string, lines: readonly string[], first: number): FilePatch {
  const edits: Edit[] = [];
  let to: string | undefined;
  let below: string[] = [];
  let rows: string[] = [];
  const endChunk = (at: number) => {
    if (rows.length === 0) return;
    edits.push(parseEdit(rows, below, first + at - rows.length));
    below = [];
    rows = [];
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
      throw invalidLine(first + at, 'expected a blank, + or - at its beginning');
  }
  endChunk(lines.length);
  if (edits.length === 0 && to === undefined)
    throw invalidLine(first + lines.length - 1, `nothing is said to change in ${path}`);
  return { path, edits, to };
}

/**
 * The edit for a chunk: its lines with - are replaced by those with +, together with the lines around them.
 */
function parseEdit(rows: readonly string[], below: readonly string[], at: number): Edit {
  const linesWithout = (sign: string) =>
    rows.filter((row) => !row.startsWith(sign)).map((row) => row.slice(1));
  const oldLines = linesWithout('+');
  const newLines = linesWithout('-');
  const anchor = below.at(-1);
  // Lines that are removed take their line ends with them.
  const end = newLines.length === 0 ? '\n' : '';
  if (oldLines.length > 0)
    return { old: oldLines.join('\n') + end, new: newLines.join('\n'), isLines: true, below };
  if (anchor === undefined) throw invalidLine(at, 'lines are added, and none beside them tells where');
  return { old: anchor, new: [anchor, ...newLines].join('\n'), isLines: true, below: below.slice(0, -1) };
}
