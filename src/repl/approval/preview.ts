import { isObject } from '../text/json.ts';
import type { CheckedCall } from './approval.ts';

const mostMs = 10_000;
/** More than anybody reads before answering. */
const mostChars = 100_000;
/** Lines that stay the same, shown on each side of a change. */
const contextLines = 3;

/** What editors call the text that goes and the text that comes. */
const edited = [
  ['old_string', 'new_string'],
  ['oldText', 'newText'],
  ['old_text', 'new_text'],
  ['old_str', 'new_str'],
  ['old', 'new'],
] as const;
const written = ['content', 'contents', 'file_text'];
const named = ['path', 'file_path', 'filePath', 'file', 'filename', 'uri'];

/**
 * What a call would change, as a diff when it can be had: a trusted server is asked for a dry run where its tool has one,
 * otherwise it is read off the arguments. No file is looked at. Undefined when the arguments already say it all.
 */
export async function previewOf(call: CheckedCall, signal: AbortSignal): Promise<string | undefined> {
  const text = (await dryRun(call, signal)) ?? changesIn(call.args);
  return text !== undefined && text.length > mostChars ? `${text.slice(0, mostChars)}\n…` : text;
}

async function dryRun({ tool, args }: CheckedCall, signal: AbortSignal): Promise<string | undefined> {
  const properties = tool.inputSchema['properties'];
  const parameter = isObject(properties) ? properties['dry_run'] : undefined;
  // What a server says that nobody trusts may be untrue, and the "dry run" the deed.
  const canTry = tool.trusted && isObject(parameter) && parameter['type'] === 'boolean';
  if (!canTry || args['dry_run'] === true) return undefined;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
  const reply = await tool.call({ ...args, dry_run: true }, { signal: limit }).catch(() => undefined);
  if (!reply || limit.aborted || reply.text === '') return undefined;
  return reply.isError ? `The dry run failed: ${reply.text}` : reply.text;
}

function changesIn(args: Readonly<Record<string, unknown>>): string | undefined {
  const single = changeIn(args);
  if (single !== undefined) return single;
  const { edits } = args;
  if (Array.isArray(edits)) {
    const changes = edits.map((edit) => (isObject(edit) ? changeIn(edit) : undefined));
    // A part of the edits would look like the whole of them.
    return changes.length === 0 || changes.includes(undefined) ? undefined : changes.join('\n@@\n');
  }
  const content = written.map((name) => args[name]).find((value) => typeof value === 'string');
  return typeof content === 'string' && named.some((name) => typeof args[name] === 'string')
    ? marked('+', linesOf(content)).join('\n')
    : undefined;
}

function changeIn(args: Readonly<Record<string, unknown>>): string | undefined {
  for (const [oldName, newName] of edited) {
    const [before, after] = [args[oldName], args[newName]];
    if (typeof before === 'string' && typeof after === 'string') return change(before, after);
  }
  return undefined;
}

/** The lines that differ, between those that both texts begin and end with. */
function change(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  return [
    ...marked(' ', old.slice(Math.max(0, head - contextLines), head)),
    ...marked('-', old.slice(head, old.length - tail)),
    ...marked('+', now.slice(head, now.length - tail)),
    ...marked(' ', old.slice(old.length - tail, old.length - tail + Math.min(tail, contextLines))),
  ].join('\n');
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

const marked = (mark: string, lines: readonly string[]): string[] => lines.map((line) => `${mark}${line}`);
