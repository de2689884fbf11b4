import { globMatches } from '../text/glob.ts';
import { ChatError } from '../errors.ts';
import { runProgram, type ProgramResult } from '../files/program.ts';
import { toolName } from '../toolbox/names.ts';

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
export interface HookPayload {
  readonly tool?: string;
  readonly server?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly result?: { readonly text: string; readonly isError: boolean };
  readonly cwd: string;
  readonly session: string;
}

export interface HookOutcome {
  /** Why a call is not to be made; only from `before`. */
  readonly refused?: string;
  /** For the model. */
  readonly notes: string[];
  /** For the person: hooks that did not work. */
  readonly warnings: string[];
}

const defaultTimeoutMs = 30_000;
/** The exit code with which a hook says no; as in other agents, so that their hooks can be used. */
const refusal = 2;
/** Characters of a hook's words that the model is given. */
const mostChars = 10_000;

/**
 * Runs the hooks of an event one after the other. What they print goes to the model; exit code 2 refuses the call,
 * for the reason given on standard error. A hook before a call that does not work refuses it as well: it may have
 * been a guard.
 */
export async function runHooks(
  hooks: Hooks,
  event: HookEvent,
  payload: HookPayload,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<HookOutcome> {
  const notes: string[] = [];
  const warnings: string[] = [];
  for (const hook of hooks[event] ?? []) {
    if (event !== 'end' && !isFor(hook, payload)) continue;
    const result = await run(hook, JSON.stringify({ event, ...payload }), payload.cwd, signal);
    const said = (text: string) => text.trim().slice(0, mostChars);
    if (result.exitCode === refusal && result.ended === 'exited') {
      const reason = said(result.stderr) || `The hook ${nameOf(hook)} refused it without a reason.`;
      if (event === 'before') return { refused: reason, notes, warnings };
      notes.push(reason);
    } else if (result.exitCode !== 0) {
      const warning = `The hook ${nameOf(hook)} ${failureOf(result)}`;
      warnings.push(warning);
      if (event === 'before') return { refused: warning, notes, warnings };
    } else if (said(result.stdout) !== '') {
      notes.push(said(result.stdout));
    }
  }
  return { notes, warnings };
}

function isFor({ tools }: Hook, { tool = '', server = '' }: HookPayload): boolean {
  if (tools === undefined) return true;
  // As the model knows it, and as a person writes it.
  const names = [tool, `${server}:${tool}`, toolName(server, tool)];
  return tools
    .split(',')
    .map((pattern) => pattern.trim())
    .some((pattern) => names.some((name) => globMatches(pattern, name)));
}

async function run(
  { command, timeoutMs = defaultTimeoutMs }: Hook,
  input: string,
  cwd: string,
  signal?: AbortSignal,
): Promise<ProgramResult> {
  try {
    return await runProgram(command, { input, cwd, timeoutMs, ...(signal && { signal }) });
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    return { exitCode: null, stdout: '', stderr: error.message, ended: 'exited' };
  }
}

function failureOf({ ended, exitCode, stderr }: ProgramResult): string {
  if (ended === 'timed_out') return 'took too long.';
  if (ended === 'aborted') return 'was interrupted.';
  const detail = stderr.trim().slice(0, 500);
  return `failed${exitCode === null ? '' : ` with exit code ${exitCode}`}${detail === '' ? '.' : `: ${detail}`}`;
}

const nameOf = ({ command }: Hook): string => command.join(' ');
