import { looksLikeDiff } from '../terminal/show.ts';
import { isObject } from '../text/json.ts';
import type { ToolReply } from '../toolbox/tool.ts';
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

export interface Preview {
  readonly text: string;
  /** The arguments of which it shows all that there is to see. */
  readonly of: readonly string[];
}

/**
 * What a call would change, as a diff when it can be had: a trusted server is asked for a dry run where its tool has one,
 * otherwise it is read off the arguments. No file is looked at. Undefined when the arguments already say it all; the failure
 * of a dry run is the call's own.
 */
export async function previewOf(
  call: CheckedCall,
  signal: AbortSignal,
): Promise<Preview | { readonly failure: string } | undefined> {
  const tried = await dryRun(call, signal);
  if (tried?.isError) return { failure: tried.text };
  const preview = tried ? { text: tried.text, of: shownIn(tried.text, call) } : changesIn(call.args);
  return preview && preview.text.length > mostChars
    ? { ...preview, text: `${preview.text.slice(0, mostChars)}\n…` }
    : preview;
}

const shownIn = (text: string, { args }: CheckedCall): string[] =>
  looksLikeDiff(text)
    ? ['edits', ...written, ...edited.flat()].filter((name) => Object.hasOwn(args, name))
    : [];

async function dryRun({ tool, args }: CheckedCall, signal: AbortSignal): Promise<ToolReply | undefined> {
  const properties = tool.inputSchema['properties'];
  const parameter = isObject(properties) ? properties['dry_run'] : undefined;
  // What a server says that nobody trusts may be untrue, and the "dry run" the deed.
  const canTry = tool.trusted && isObject(parameter) && parameter['type'] === 'boolean';
  if (!canTry || args['dry_run'] === true) return undefined;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
  const reply = await tool.call({ ...args, dry_run: true }, { signal: limit }).catch(() => undefined);
  return !reply || limit.aborted || reply.text === '' ? undefined : reply;
}

function changesIn(args: Readonly<Record<string, unknown>>): Preview | undefined {
  const single = changeIn(args);
  if (single !== undefined) return single;
  const { edits } = args;
  if (Array.isArray(edits)) {
    const changes = edits.map((edit) => (isObject(edit) ? changeIn(edit)?.text : undefined));
    // A part of the edits would look like the whole of them.
    if (changes.length === 0 || changes.includes(undefined)) return undefined;
    const whole = edits.every((edit: object) => Object.keys(edit).length === 2);
    return { text: changes.join('\n@@\n'), of: whole ? ['edits'] : [] };
  }
  const name = written.find((one) => typeof args[one] === 'string');
  return name !== undefined && named.some((one) => typeof args[one] === 'string')
    ? { text: marked('+', linesOf(String(args[name]))).join('\n'), of: [name] }
    : undefined;
}

function changeIn(args: Readonly<Record<string, unknown>>): Preview | undefined {
  for (const [oldName, newName] of edited) {
    const [before, after] = [args[oldName], args[newName]];
    if (typeof before === 'string' && typeof after === 'string')
      return { text: change(before, after), of: [oldName, newName] };
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
