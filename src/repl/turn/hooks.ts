import type { CheckedCall } from '../approval/approval.ts';
import { ChatError } from '../errors.ts';
import { runProgram, type ProgramResult } from '../files/program.ts';
import { globMatches } from '../text/glob.ts';
import type { Tool, ToolReply } from '../toolbox/tool.ts';

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
export const beforeCall = (agent: Hooked, call: CheckedCall, signal: AbortSignal): Promise<Outcome> =>
  runHooks(agent, { event: 'before', call }, signal);

/** The reply of a call with what hooks had to say before and after it. */
export async function afterCall(
  agent: Hooked,
  call: CheckedCall,
  { reply, notes }: { readonly reply: ToolReply; readonly notes: readonly string[] },
  signal: AbortSignal,
): Promise<ToolReply> {
  const result = { text: reply.text, isError: reply.isError };
  const after = await runHooks(agent, { event: 'after', call, result }, signal);
  const all = [...notes, ...after.notes].map((note) => `[hook] ${note}`);
  return all.length === 0 ? reply : { ...reply, text: [reply.text, ...all].join('\n') };
}

/** Tells the hooks that a turn is over; who interrupted it knows. */
export async function afterTurn(agent: Hooked, signal: AbortSignal): Promise<void> {
  await runHooks(agent, { event: 'end' }, signal);
}

interface Occasion {
  readonly event: HookEvent;
  readonly call?: CheckedCall;
  readonly result?: { readonly text: string; readonly isError: boolean };
}

/**
 * Runs the hooks of an event one after the other. What they print goes to the model; exit code 2 refuses the call,
 * for the reason given on standard error. A hook before a call that does not work refuses it as well: it may have
 * been a guard.
 */
async function runHooks(
  agent: Hooked,
  { event, call, result }: Occasion,
  signal: AbortSignal,
): Promise<Outcome> {
  const { cwd, id } = agent.session.header;
  const { tool, args } = call ?? {};
  // Our own tools change nothing that a hook could guard.
  if (tool?.own || (signal.aborted && event !== 'before')) return { notes: [] };
  const input = JSON.stringify({
    event,
    tool: tool?.tool,
    server: tool?.server,
    args,
    result,
    cwd,
    session: id,
  });
  const notes: string[] = [];
  for (const hook of agent.hooks[event] ?? []) {
    if (tool && !isFor(hook, tool)) continue;
    const { refused, broken, note } = outcomeOf(hook, await run(hook, input, cwd, signal));
    if (broken !== undefined) agent.warn(broken);
    const no = refused ?? broken;
    if (no !== undefined && event === 'before') return { refused: no, notes };
    const words = refused ?? note;
    if (words) notes.push(words);
  }
  return { notes };
}

/** What a hook says by its end: no, that it does not work, or a note. */
function outcomeOf(hook: Hook, result: ProgramResult): { refused?: string; broken?: string; note?: string } {
  const { exitCode, ended, stdout, stderr } = result;
  const name = hook.command.join(' ');
  if (exitCode === refusal && ended === 'exited')
    return { refused: said(stderr) || `The hook ${name} refused it without a reason.` };
  return exitCode === 0 ? { note: said(stdout) } : { broken: `The hook ${name} ${failureOf(result)}` };
}

const said = (text: string): string => text.trim().slice(0, mostChars);

async function run(hook: Hook, input: string, cwd: string, signal: AbortSignal): Promise<ProgramResult> {
  const { command, timeoutMs = defaultTimeoutMs } = hook;
  return runProgram(command, { input, cwd, timeoutMs, signal }).catch((error: unknown) => {
    if (!(error instanceof ChatError)) throw error;
    return { exitCode: null, stdout: '', stderr: error.message, ended: 'exited' };
  });
}

/** As the model knows it, and as a person writes it. */
const isFor = ({ tools }: Hook, { tool, server, name }: Tool): boolean =>
  tools
    ?.split(',')
    .some((pattern) => [tool, `${server}:${tool}`, name].some((one) => globMatches(pattern.trim(), one))) ??
  true;

function failureOf({ ended, exitCode, stderr }: ProgramResult): string {
  if (ended === 'timed_out') return 'took too long.';
  if (ended === 'aborted') return 'was interrupted.';
  const detail = stderr.trim().slice(0, 500);
  return `failed${exitCode === null ? '' : ` with exit code ${exitCode}`}${detail === '' ? '.' : `: ${detail}`}`;
}
