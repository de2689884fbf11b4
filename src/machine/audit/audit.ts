import type { Effect } from '../../core/discoverer.ts';
import type { ToolResult } from '../../core/tool.ts';
import { entryOf } from './audit-entry.ts';
import { lineOf } from './audit-line.ts';
import { createLog, type Log } from './log.ts';
import type { Redactor } from '../redact/redactor.ts';

/** What was decided about a call, by the settings or by the person who was asked. */
export type AuditDecision = 'allow' | 'asked:yes' | 'asked:always' | 'asked:trust' | 'asked:no' | 'denied';

/** What is found out in the course of a call, filled in by who decides. What is left out is read from the result. */
export interface Decided {
  decision?: AuditDecision;
  /** What decided, when a setting did. */
  setting?: string;
  /** The absolute folder it works in. */
  folder?: string;
}

/** A call that has been answered. */
export interface AuditedCall {
  /** Whose call it was. */
  readonly client: string;
  /** How that client calls itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly tool: { readonly name: string; readonly effects: readonly Effect[] };
  /** As they came; hidden and shortened before they are written. */
  readonly params: unknown;
  readonly roots: readonly string[];
  readonly decided: Readonly<Decided>;
  readonly result: ToolResult;
  /** From the call to its answer. */
  readonly durationMs: number;
}

export interface Audit {
  /** Writes one line. Never throws, and never fails a call: what cannot be written is said once. */
  record(call: AuditedCall): void;
  /** `on`, `off` (there is no state folder), or why nothing is written. */
  readonly state: 'on' | 'off' | { readonly broken: string };
  close(): void;
}

interface Options {
  /** toolcrib's state folder; undefined: nothing is recorded. */
  readonly folder: string | undefined;
  readonly redactor: Pick<Redactor, 'redact'>;
  /** Told once for each row of failures. On standard error by default. */
  readonly warn?: (message: string) => void;
  /** Bytes after which a new file is begun. */
  readonly rotateAt?: number;
}

/** The folder of the audit below the state folder. */
export const auditFolder = (state: string): string => `${state}/audit`;

/** 10 MB: some ten thousand calls, and quick to search. */
const usualSize = 10 * 1024 * 1024;

/**
 * Records calls in `audit/audit.jsonl` of the state folder, which several servers may share. It is there for the person
 * whose machine it is, and no border: who could damage it could stop the server as well. So a full disk or a folder
 * that is not ours alone stops the recording and not the calls, and is said on standard error.
 */
export function createAudit({
  folder,
  redactor,
  warn = toStandardError,
  rotateAt = usualSize,
}: Options): Audit {
  let log: Log | undefined;
  let broken: string | undefined;
  let lost = 0;
  const write = (line: string) => {
    log ??= createLog(auditFolder(folder ?? ''), rotateAt);
    log.append(lost === 0 ? line : `${lostLine(lost)}${line}`);
    lost = 0;
    broken = undefined;
  };
  return {
    record(call) {
      if (folder === undefined) return;
      try {
        write(lineOf(entryOf(call), redactor));
      } catch (error) {
        lost++;
        const why = error instanceof Error ? error.message : String(error);
        if (broken === undefined)
          warn(`toolcrib: calls are not recorded: ${redactor.redact(why)}. They go on without it.\n`);
        broken = why;
      }
    },
    get state() {
      if (folder === undefined) return 'off';
      return broken === undefined ? 'on' : { broken };
    },
    close: () => log?.close(),
  };
}

const lostLine = (lost: number): string =>
  `${JSON.stringify({ time: new Date().toISOString(), pid: process.pid, lost })}\n`;

const toStandardError = (message: string): void => void process.stderr.write(message);
