import { once } from 'node:events';
import { ToolcribError } from '../../core/errors.ts';
import { Job } from '../../machine/jobs/job.ts';
import { waitForJob } from '../../machine/jobs/jobs.ts';
import type { StoredOutput } from '../../machine/output-store/kept-output.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import type { ToolCallContext } from '../define-tool.ts';

/**
 * Waits until a job has ended (`end`), listens (`port 5173`), or has printed a line with that text, or one
 * that matches it; returns what happened, as the beginning of a sentence. Throws ARG_INVALID and CANCELLED.
 */
export async function waitFor(
  awaited: string,
  job: Job | StoredOutput | undefined,
  { timeout = Infinity }: { readonly timeout?: number | undefined },
  { client, signal, progress, budgets, session }: ToolCallContext,
): Promise<string> {
  const port = portIn(awaited);
  if (!(job instanceof Job)) {
    if (awaited === 'end') return '';
    if (port !== undefined) return 'it has ended, and listens to nothing; ';
    const line = job && (await lineSearch(() => job, awaited, signal)());
    return line === undefined ? 'it has ended, and no line matches; ' : `line ${line} matches; `;
  }
  const mostMs = Math.min(timeout, budgets.callSeconds) * 1000;
  const isLine = awaited !== 'end' && port === undefined;
  const search = lineSearch(
    () => (job.program ? session.outputs.find(client, job.id) : undefined),
    awaited,
    signal,
  );
  let happened = '';
  await waitForJob(job, { signal, progress }, mostMs, async () => {
    const line = isLine ? await search() : undefined;
    if (line !== undefined) happened = `line ${line} matches; `;
    else if (port !== undefined && job.state === 'running' && (await accepts(port)))
      happened = `port ${port} accepts connections${doubtOf(job, port)}; `;
    return happened !== '';
  });
  if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
  if (happened !== '' || awaited === 'end') return happened;
  const missing = isLine ? 'no line matches' : `port ${port} is not listened to`;
  return `${missing}${job.state === 'running' ? ' until now' : ''}; `;
}

function portIn(awaited: string): number | undefined {
  const [, digits] = /^port[ :=]*(\d+)$/i.exec(awaited) ?? [];
  if (digits === undefined) return undefined;
  const port = Number(digits);
  if (port >= 1 && port <= 65_535) return port;
  throw new ToolcribError(
    'ARG_INVALID',
    `wait_for: there is no port ${digits}.`,
    'Give one from 1 to 65535.',
  );
}

/** Whether somebody else may be listening there. */
const doubtOf = ({ portsBefore }: Job, port: number): string =>
  portsBefore?.has(port)
    ? ', but something listened to it before this job began: its output tells whether it has another one'
    : '';

/**
 * Looks for the first line that matches, from where it looked last; a line that may still grow is looked at
 * again.
 */
function lineSearch(
  output: () => StoredOutput | undefined,
  text: string,
  signal: AbortSignal,
): () => Promise<number | undefined> {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const pattern = isPattern(text) ? `(?:${text})|${literal}` : literal;
  let from = 1;
  return async () => {
    const stored = output();
    if (!stored) return undefined;
    const { finalLines } = stored;
    const search = { from, pattern, parameter: 'wait_for', signal };
    for await (const { lines, matches } of searchLines(stored, search)) {
      const found = lines[matches.indexOf(true)];
      if (found) return found.number;
    }
    from = finalLines + 1;
    return undefined;
  };
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    // A bracket that is meant as one.
    return false;
  }
}

/** Local connections are made at once or not at all. */
const connectMs = 1000;

/** Whether something on this computer accepts connections at a port, by either kind of address. */
async function accepts(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  const socket = connect({ host: 'localhost', port, autoSelectFamily: true });
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(connectMs) });
  return connected
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
