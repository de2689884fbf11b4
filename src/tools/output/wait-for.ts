import { once } from 'node:events';
import { ToolcribError } from '../../core/errors.ts';
import { Job } from '../../machine/jobs/job.ts';
import { waitForJob } from '../../machine/jobs/jobs.ts';
import type { StoredOutput } from '../../machine/output-store/kept-output.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import type { ToolCallContext } from '../define-tool.ts';

/**
 * Waits until a job has ended (`end`), listens (`port 5173`), or has printed a line with that text or one
 * that matches it. Returns the event as the beginning of a sentence. Throws ARG_INVALID and CANCELLED.
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
    const findLine = lineFinder(() => job, awaited, signal);
    const line = await findLine();
    return line === undefined ? 'it has ended, and no line matches; ' : `line ${line} matches; `;
  }
  const mostMs = Math.min(timeout, budgets.callSeconds) * 1000;
  const isLine = awaited !== 'end' && port === undefined;
  const findOutput = () => (job.program ? session.outputs.find(client, job.id) : undefined);
  const findLine = lineFinder(findOutput, awaited, signal);
  let event = '';
  await waitForJob(job, { signal, progress }, mostMs, async () => {
    const line = isLine ? await findLine() : undefined;
    if (line !== undefined) event = `line ${line} matches; `;
    else if (port !== undefined && job.state === 'running' && (await acceptsConnections(port)))
      event = `port ${port} accepts connections${doubtAbout(job, port)}; `;
    return event !== '';
  });
  if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
  if (event !== '' || awaited === 'end') return event;
  const missing = isLine ? 'no line matches' : `port ${port} is not listened to`;
  return `${missing}${job.state === 'running' ? ' until now' : ''}; `;
}

/** The port in `port 5173`; undefined for anything else. Throws ARG_INVALID for a number that is no port. */
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

/** A remark that another program may be the one that listens, as it did before the job began. */
const doubtAbout = ({ portsBefore }: Job, port: number): string =>
  portsBefore?.has(port)
    ? ', but something listened to it before this job began: its output tells whether it has another one'
    : '';

/**
 * Makes a function that finds the first line that matches, each time from where the last search ended; a last
 * line without a line end is searched again, as it may still grow.
 */
function lineFinder(
  findOutput: () => StoredOutput | undefined,
  text: string,
  signal: AbortSignal,
): () => Promise<number | undefined> {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const pattern = isPattern(text) ? `(?:${text})|${literal}` : literal;
  let from = 1;
  return async () => {
    const output = findOutput();
    if (!output) return undefined;
    const { finalLines } = output;
    const search = { from, pattern, parameter: 'wait_for', signal };
    for await (const { lines, matches } of searchLines(output, search)) {
      const match = lines[matches.indexOf(true)];
      if (match) return match.number;
    }
    from = finalLines + 1;
    return undefined;
  };
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    // A text with a bracket that is meant literally.
    return false;
  }
}

/** Milliseconds for a connection; a local one is made at once or not at all. */
const connectMs = 1000;

/** Says whether something on this computer accepts connections at a port, over IPv4 or IPv6. */
async function acceptsConnections(port: number): Promise<boolean> {
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
