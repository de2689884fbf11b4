import type { Effect } from '../../core/discoverer.ts';
import type { ToolResult } from '../../core/tool.ts';
import type { AuditDecision, AuditedCall } from './audit.ts';

/** What is written about a call, before secrets are hidden and texts shortened. What is not known is left out. */
export interface AuditEntry {
  readonly client: {
    readonly id: string;
    readonly name?: string | undefined;
    readonly version?: string | undefined;
  };
  readonly tool: string;
  readonly effects: readonly Effect[];
  /** The folder it worked in. */
  readonly folder?: string | undefined;
  readonly roots: readonly string[];
  readonly decision: AuditDecision;
  readonly setting?: string | undefined;
  /** `ok`, the code of an error, or `failed` for another failure. */
  readonly outcome: string;
  /** Where the program did not end well. */
  readonly exitCode?: number | undefined;
  readonly ms: number;
  /** Characters of the answer, without images. */
  readonly characters: number;
  readonly job?: string | undefined;
  readonly output?: string | undefined;
  readonly arguments?: unknown;
}

/** What there is to write about a call. */
export function entryOf({
  client,
  clientInfo,
  tool,
  params,
  roots,
  decided,
  result,
  durationMs,
}: AuditedCall): AuditEntry {
  const said = textOf(result);
  const outcome = result.isError ? (/^[A-Z][A-Z_]+(?=:)/.exec(said)?.[0] ?? 'failed') : 'ok';
  return {
    client: { id: client, name: clientInfo?.name, version: clientInfo?.version },
    tool: tool.name,
    effects: tool.effects,
    decision: decided.decision ?? decisionIn(outcome),
    setting: decided.setting ?? settingIn(outcome, said),
    outcome,
    exitCode: exitCodeIn(outcome, said),
    ms: Math.round(durationMs * 10) / 10,
    characters: said.length,
    job: handleIn(result, 'toolcrib/job'),
    output: handleIn(result, 'toolcrib/output'),
    folder: decided.folder,
    roots,
    arguments: params,
  };
}

function textOf({ content, data }: ToolResult): string {
  const texts = content?.map((part) => (part.type === 'text' ? part.text : '')) ?? [];
  return texts.length > 0 || data === undefined ? texts.join('\n') : JSON.stringify(data);
}

function decisionIn(outcome: string): AuditDecision {
  if (outcome === 'NOT_CONFIRMED') return 'asked:no';
  return outcome === 'EFFECT_DENIED' || outcome === 'NEEDS_CONFIRM' ? 'denied' : 'allow';
}

/** Refusals name the setting they come from. */
const settingIn = (outcome: string, said: string): string | undefined =>
  (outcome === 'EFFECT_DENIED' && /is not allowed: ([^\n]{1,200}?)\.(?:\s|$)/.exec(said)?.[1]) ||
  (outcome === 'NEEDS_CONFIRM' && /whenUnasked\.[a-z]+/.exec(said)?.[0]) ||
  undefined;

function exitCodeIn(outcome: string, said: string): number | undefined {
  const code = outcome === 'PROGRAM_FAILED' ? /\bcode (\d{1,10})\b/.exec(said.slice(0, 500))?.[1] : undefined;
  return code === undefined ? undefined : Number(code);
}

function handleIn({ meta }: ToolResult, name: string): string | undefined {
  const handle = meta?.[name];
  return typeof handle === 'string' ? handle : undefined;
}
