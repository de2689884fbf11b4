import { matches } from '../../core/rule.ts';
import type { CheckedCall } from '../approval/rules.ts';
import type { Chat } from '../chat.ts';
import { ChatError } from '../errors.ts';
import { runProgram, type ProgramResult } from '../files/program.ts';

const usualTimeoutMs = 30_000;
/** The exit code with which a hook says no; as in other agents, so that their hooks can be used. */
const refusal = 2;
/** Characters of a hook's words that the model is given. */
const mostChars = 10_000;

interface HookContext {
  readonly call?: CheckedCall;
  readonly result?: { readonly text: string; readonly isError: boolean };
  readonly signal: AbortSignal;
}

/**
 * Runs the hooks of an event one after the other: notes for the model, or why a call is not to be made.
 * Before a call, one that does not work refuses it as well: it may have been a guard.
 */
export async function runHooks(
  chat: Chat,
  event: keyof Chat['environment']['config']['hooks'],
  { call, result, signal }: HookContext,
): Promise<{ readonly refused?: string; readonly notes: readonly string[] }> {
  const { cwd, id: session } = chat.session.header;
  const { tool, args } = call ?? {};
  // Our own tools change nothing that a hook could guard; who interrupted a turn knows that it is over.
  if (tool?.builtIn || (signal.aborted && event !== 'before')) return { notes: [] };
  const about = { event, tool: tool?.tool, server: tool?.server, args, result, cwd, session };
  const names = tool && [tool.tool, `${tool.server}:${tool.tool}`, tool.name];
  const notes: string[] = [];
  for (const { tools, command, timeoutMs = usualTimeoutMs } of chat.environment.config.hooks[event] ?? []) {
    const patterns = tools?.split(',').map((pattern) => pattern.trim());
    if (names && patterns?.some((pattern) => names.some((name) => matches(pattern, name))) === false)
      continue;
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
    if (!isWell) chat.environment.warn(broken);
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
