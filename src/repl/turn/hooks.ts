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
  readonly timeoutMs?: number;
}
export type Hooks = Readonly<Partial<Record<HookEvent, readonly Hook[]>>>;

const usualTimeoutMs = 30_000;
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

/** What hooks say: why a call is not to be made, or notes for the model. */
interface Words {
  readonly refused?: string;
  readonly notes: readonly string[];
}

/** A hook that does not work refuses the call as well: it may have been a guard. */
export const beforeCall = (agent: Hooked, call: CheckedCall, signal: AbortSignal): Promise<Words> =>
  runHooks(agent, 'before', { call, signal });

/** The reply of a call with what hooks had to say before and after it. */
export async function afterCall(
  agent: Hooked,
  call: CheckedCall,
  { reply, notes }: { readonly reply: ToolReply; readonly notes: readonly string[] },
  signal: AbortSignal,
): Promise<ToolReply> {
  const { text, isError } = reply;
  const after = await runHooks(agent, 'after', { call, result: { text, isError }, signal });
  const all = [...notes, ...after.notes].map((note) => `[hook] ${note}`);
  return all.length === 0 ? reply : { ...reply, text: [text, ...all].join('\n') };
}

/** Tells the hooks that a turn is over; who interrupted it knows. */
export const afterTurn = (agent: Hooked, signal: AbortSignal): Promise<unknown> =>
  runHooks(agent, 'end', { signal });

interface Occasion {
  readonly call?: CheckedCall;
  readonly result?: { readonly text: string; readonly isError: boolean };
  readonly signal: AbortSignal;
}

/** Runs the hooks of an event one after the other. */
async function runHooks(agent: Hooked, event: HookEvent, { call, result, signal }: Occasion): Promise<Words> {
  const { cwd, id: session } = agent.session.header;
  const { tool, args } = call ?? {};
  // Our own tools change nothing that a hook could guard.
  if (tool?.own || (signal.aborted && event !== 'before')) return { notes: [] };
  const about = { event, tool: tool?.tool, server: tool?.server, args, result, cwd, session };
  const notes: string[] = [];
  for (const { tools, command, timeoutMs = usualTimeoutMs } of agent.hooks[event] ?? []) {
    if (tool && tools !== undefined && !isNamed(tools, tool)) continue;
    const options = { input: JSON.stringify(about), cwd, timeoutMs, signal };
    const { exitCode, stdout, stderr, ended } = await runProgram(command, options).catch(notStarted);
    const words = (exitCode === 0 ? stdout : stderr).trim().slice(0, mostChars);
    const isWell = ended === 'exited' && (exitCode === 0 || exitCode === refusal);
    const how = {
      exited: `failed with exit code ${exitCode}`,
      timed_out: 'took too long',
      aborted: 'was interrupted',
    };
    const broken = `The hook ${command.join(' ')} ${how[ended]}${words === '' ? '.' : `: ${words}`}`;
    if (!isWell) agent.warn(broken);
    if (event === 'before' && (!isWell || exitCode === refusal))
      return { refused: isWell ? words || 'it gave no reason' : broken, notes };
    if (isWell && words !== '') notes.push(words);
  }
  return { notes };
}

function notStarted(error: unknown): ProgramResult {
  if (!(error instanceof ChatError)) throw error;
  return { exitCode: null, stdout: '', stderr: error.message, ended: 'exited' };
}

/** As the model knows it, and as a person writes it. */
const isNamed = (tools: string, { tool, server, name }: Tool): boolean =>
  tools
    .split(',')
    .some((pattern) => [tool, `${server}:${tool}`, name].some((one) => globMatches(pattern.trim(), one)));
