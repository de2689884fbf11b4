import { lstatSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { headOf } from '../../core/cut-text.ts';
import type { Effect } from '../../core/discoverer.ts';
import { textOf, type Result } from '../../core/tool.ts';
import { unseen } from '../../core/unseen.ts';
import { isPrivate, makePrivate } from '../../store/own-files.ts';
import { maskStrings, type Mask } from '../secrets/mask.ts';

/**
 * The decision about a call: nobody was asked although there was reason to (`unasked`), nobody was there to
 * answer (`unanswered`), a person said yes, always or no (`asked:…`), the call waits for one
 * that was decided about before (`joined`), or its plan could not be made (`unplanned`).
 */
export type AuditDecision =
  | AuditAnswer
  | 'allow'
  | 'denied'
  | 'unasked'
  | 'unanswered'
  | 'joined'
  | 'unplanned';
type AuditAnswer = `asked:${'yes' | 'always' | 'no'}`;

/** A call that has been answered. */
export interface AuditedCall {
  readonly client: string;
  /** The name and version by which the client introduces itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly tool: { readonly name: string; readonly effects: readonly Effect[] };
  readonly params: unknown;
  readonly roots: readonly string[];
  /** Facts that came up during the call; those left out are read from the result. */
  readonly decided: {
    readonly decision?: AuditDecision;
    readonly setting?: string;
    readonly folder?: string;
  };
  readonly result: Result;
  readonly durationMs: number;
}

/** Writes one line for a call. Never throws: a failure is reported once on standard error. */
export type RecordCall = (call: AuditedCall) => void;

/** The folder of the audit below the state folder. */
export const auditFolder = (state: string): string => `${state}/audit`;

/**
 * The limits for older files, applied when a process begins a new one. 50 MB are some hundred thousand calls.
 */
const retention = { files: 500, bytes: 50 * 1024 * 1024, days: 30 };
const mostCharacters = 200;

/**
 * Creates the function that records the calls of this process, in a file of its own that nobody else can
 * open. Without a folder nothing is recorded.
 */
export function createAudit({ folder, mask }: { folder: string | undefined; mask: Mask }): RecordCall {
  let file: number | undefined;
  let isBroken = false;
  return (call) => {
    if (folder === undefined) return;
    try {
      file ??= openOwn(auditFolder(folder));
      writeSync(file, jsonLine(entryOf(call, mask)));
      isBroken = false;
    } catch (error) {
      const why = mask(error instanceof Error ? error.message : String(error));
      if (!isBroken)
        process.stderr.write(`toolcrib: calls are not recorded: ${why}. They go on without it.\n`);
      isBroken = true;
    }
  };
}

function openOwn(folder: string): number {
  if (!makePrivate(folder)) throw new Error(`${folder} is not a folder that belongs to this user alone`);
  prune(folder);
  const time = new Date().toISOString().replaceAll(/[-:.]/g, '');
  return openSync(`${folder}/${time}-${process.pid}.jsonl`, 'ax', 0o600);
}

/** Removes old files. Their names begin with the time of creation, so that their order is that of time. */
function prune(folder: string): void {
  const oldest = Date.now() - retention.days * 24 * 60 * 60 * 1000;
  let bytes = 0;
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  for (const [index, name] of names.sort().toReversed().entries()) {
    const facts = statSync(`${folder}/${name}`, { throwIfNoEntry: false });
    bytes += facts?.size ?? 0;
    if (index >= retention.files || bytes > retention.bytes || (facts?.mtimeMs ?? 0) < oldest)
      rmSync(`${folder}/${name}`, { force: true });
  }
}

function entryOf(call: AuditedCall, mask: Mask) {
  const { client, clientInfo, tool, params, roots, decided, result, durationMs } = call;
  const text = textOf(result);
  const outcome = result.isError ? (/^[A-Z][A-Z_]+(?=:)/.exec(text)?.[0] ?? 'failed') : 'ok';
  const firstParams = Object.entries((params ?? {}) as Record<string, unknown>).slice(0, 30);
  const facts = {
    time: new Date().toISOString(),
    pid: process.pid,
    client: { id: client, name: clientInfo?.name, version: clientInfo?.version },
    tool: tool.name,
    effects: tool.effects,
    decision: 'unplanned' satisfies AuditDecision,
    outcome,
    ms: Math.round(durationMs * 10) / 10,
    job: result.meta?.['toolcrib/job'],
    roots,
    ...decided,
    arguments: Object.fromEntries(firstParams.map((entry) => entry.map((value) => shortened(value, mask)))),
  };
  return maskStrings(facts, mask);
}

/** Shortens a long value to the beginning of its text, which is masked before it is cut. */
function shortened(value: unknown, mask: Mask): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.length <= mostCharacters) return value;
  return `${headOf(mask(headOf(text, 4096)), mostCharacters)}… (${text.length} characters)`;
}

/** A line of the audit as it was read; readers must expect any content. */
export type AuditLine = Readonly<Record<string, unknown>>;

// Characters that JSON does not escape although they hide, reorder or control text; more than eight marks on
// a letter cover other lines.
const hidden = new RegExp(String.raw`${unseen.source}|(?<=\p{M}{8})\p{M}`, 'gu');
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Formats a value as one line of JSON that is safe to print. */
export const jsonLine = (value: object): string =>
  `${JSON.stringify(value).replaceAll(hidden, (found) => found.replaceAll(/[^]/g, escaped))}\n`;

/**
 * Creates a reader of the files in a folder, which need not exist yet. Each call returns the last `most` of
 * the lines that are new and match.
 */
export function createAuditReader(folder: string) {
  const readUpTo = new Map<string, number>();
  const newLines = (name: string): string[] => {
    if (!lstatSync(`${folder}/${name}`, { throwIfNoEntry: false })?.isFile()) return [];
    const text = readFileSync(`${folder}/${name}`, 'latin1');
    const end = text.lastIndexOf('\n') + 1;
    const from = readUpTo.get(name);
    readUpTo.set(name, end);
    return text.slice(from, end).split('\n');
  };
  return (matches: (line: AuditLine) => boolean, most: number): AuditLine[] => {
    const names = isPrivate(folder) ? readdirSync(folder) : [];
    const lines = names.flatMap((name) => newLines(name).flatMap(parsed).filter(matches));
    return most === 0 ? [] : lines.sort(byTime).slice(-most);
  };
}

const byTime = (a: AuditLine, b: AuditLine) => String(a['time']).localeCompare(String(b['time']));

function parsed(line: string): AuditLine[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value as AuditLine] : [];
  } catch {
    // The line was cut off by a full disk, or is the empty end of the last one.
    return [];
  }
}
