import type { CheckedCall } from '../approval/approval.ts';
import { ChatError } from '../errors.ts';
import { runProgram, type ProgramResult } from '../files/program.ts';
import { globMatches } from '../text/glob.ts';
import { toolName } from '../toolbox/names.ts';
import type { ToolReply } from '../toolbox/tool.ts';

export type HookEvent = 'before' | 'after' | 'end';

/** A program of the person's that is told of calls and may refuse or annotate them. */
export interface Hook {
  /** `tool` or `server:tool` with `*`, several separated by commas; without it, every tool. Not looked at for `end`. */
  readonly tools?: string;
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** 30 s without it. */
  readonly timeoutMs?: number;
}
export type Hooks = Readonly<Partial<Record<HookEvent, readonly Hook[]>>>;

/** What a hook is told on its standard input, as JSON, together with the event. */
interface Payload {
  readonly tool?: string;
  readonly server?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly result?: { readonly text: string; readonly isError: boolean };
}

interface Outcome {
  /** Why a call is not to be made; only from `before`. */
  readonly refused?: string;
  /** For the model. */
  readonly notes: readonly string[];
}

const defaultTimeoutMs = 30_000;
/** The exit code with which a hook says no; as in other agents, so that their hooks can be used. */
const refusal = 2;
/** Characters of a hook's words that the model is given. */
const mostChars = 10_000;

/** Whose hooks they are. */
interface Hooked {
  readonly hooks: Hooks;
  readonly session: { readonly header: { readonly cwd: string; readonly id: string } };
  /** Told to the person. */
  warn(text: string): void;
}

/** What the person's hooks say before a call: a refusal, or notes for the model. */
export async function beforeCall(
  agent: Hooked,
  { tool, args }: CheckedCall,
  signal: AbortSignal,
): Promise<Outcome> {
  // Our own tools change nothing that a hook could guard.
  if (tool.own) return { notes: [] };
  return runHooks(agent, 'before', { tool: tool.tool, server: tool.server, args }, signal);
}

/** The reply of a call with what hooks had to say before and after it. */
export async function afterCall(
  agent: Hooked,
  { tool, args }: CheckedCall,
  { reply, notes }: { readonly reply: ToolReply; readonly notes: readonly string[] },
  signal: AbortSignal,
): Promise<ToolReply> {
  if (tool.own || signal.aborted) return reply;
  const result = { text: reply.text, isError: reply.isError };
  const after = await runHooks(
    agent,
    'after',
    { tool: tool.tool, server: tool.server, args, result },
    signal,
  );
  const all = [...notes, ...after.notes].map((note) => `[hook] ${note}`);
  return all.length === 0 ? reply : { ...reply, text: [reply.text, ...all].join('\n') };
}

/** Tells the hooks that a turn is over; who interrupted it knows. */
export async function afterTurn(agent: Hooked, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await runHooks(agent, 'end', {}, signal);
}

/**
 * Runs the hooks of an event one after the other. What they print goes to the model; exit code 2 refuses the call,
 * for the reason given on standard error. A hook before a call that does not work refuses it as well: it may have
 * been a guard.
 */
async function runHooks(
  agent: Hooked,
  event: HookEvent,
  payload: Payload,
  signal: AbortSignal,
): Promise<Outcome> {
  const notes: string[] = [];
  const { cwd, id } = agent.session.header;
  const input = JSON.stringify({ event, ...payload, cwd, session: id });
  for (const hook of agent.hooks[event] ?? []) {
    if (event !== 'end' && !isFor(hook, payload)) continue;
    const { timeoutMs = defaultTimeoutMs } = hook;
    const run = runProgram(hook.command, { input, cwd, timeoutMs, signal });
    const result: ProgramResult = await run.catch((error: unknown) => {
      if (!(error instanceof ChatError)) throw error;
      return { exitCode: null, stdout: '', stderr: error.message, ended: 'exited' };
    });
    const said = (text: string) => text.trim().slice(0, mostChars);
    const name = hook.command.join(' ');
    if (result.exitCode === refusal && result.ended === 'exited') {
      const reason = said(result.stderr) || `The hook ${name} refused it without a reason.`;
      if (event === 'before') return { refused: reason, notes };
      notes.push(reason);
    } else if (result.exitCode !== 0) {
      const warning = `The hook ${name} ${failureOf(result)}`;
      agent.warn(warning);
      if (event === 'before') return { refused: warning, notes };
    } else if (said(result.stdout) !== '') notes.push(said(result.stdout));
  }
  return { notes };
}

function isFor({ tools }: Hook, { tool = '', server = '' }: Payload): boolean {
  // As the model knows it, and as a person writes it.
  const names = [tool, `${server}:${tool}`, toolName(server, tool)];
  const patterns = tools?.split(',').map((pattern) => pattern.trim());
  return patterns?.some((pattern) => names.some((name) => globMatches(pattern, name))) ?? true;
}

function failureOf({ ended, exitCode, stderr }: ProgramResult): string {
  if (ended === 'timed_out') return 'took too long.';
  if (ended === 'aborted') return 'was interrupted.';
  const detail = stderr.trim().slice(0, 500);
  return `failed${exitCode === null ? '' : ` with exit code ${exitCode}`}${detail === '' ? '.' : `: ${detail}`}`;
}
