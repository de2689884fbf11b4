import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { unlisted } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Content, Result } from '../core/tool.ts';
import { mediaOf } from './files/reading/media.ts';
import { variable, type Host } from '../machine/host.ts';
import { sanitize } from '../machine/sanitize.ts';
import { defineTool, type ToolCallContext } from './define-tool.ts';
import { mostCharacters, page } from './output/page.ts';
import { bodyText, pageText } from './fetch/page-text.ts';
import {
  namesLoopback,
  readBody,
  respond,
  subjectOf,
  webAddress,
  type FetchRequest,
} from './fetch/request.ts';

const mostSeconds = 30;
const [startSeconds, againMs] = [15, 200];
const mostImageBytes = 1024 * 1024;

const params = z.strictObject({
  url: z.string().min(1).max(8000).describe('https://example.com/docs, http://localhost:3000'),
  find: z.string().min(1).max(500).optional().describe('Only the paragraphs that contain this text'),
  method: z.enum(['GET', 'HEAD']).default('GET').describe('HEAD: only status and headers. Default GET'),
  // The tools of hosts take these: what they ask of a page is for who reads it.
  format: unlisted(z.string().optional()),
  query: unlisted(z.string().optional()),
});

interface Fetching extends FetchRequest {
  readonly find: string | undefined;
}

/** Pages and what APIs answer, of the web and of servers on this machine. */
export default defineTool({
  name: 'fetch_url',
  title: 'Fetch URL',
  description:
    'Fetch a web page, API or local dev server by its URL: pages as Markdown, JSON and text as they are. ' +
    'Reads documentation; finds a text in it.',
  hint: 'fetch a web page or URL',
  aliases: 'WebFetch web_fetch fetch fetch_webpage',
  listed: 'yes',
  effects: ['read', 'network'],
  params,
  async plan({ url: given, find, method }, { workspace, session }) {
    const url = addressOf(given);
    const loopback = session.isLocal && namesLoopback(writtenHost(given));
    return {
      effects: ['read', 'network'] as const,
      subject: subjectOf(url),
      host: url.hostname,
      folder: workspace.roots[0] ?? '',
      paths: [],
      isUndoable: false,
      fingerprint: JSON.stringify([given, find, method]),
      work: { url, method, find, loopback },
    };
  },
  run: ({ work }, context) => fetched(work, context),
});

function addressOf(given: string): URL {
  const wrong = (why: string, wayOut: string) => new ToolcribError('ARG_INVALID', `url: ${why}.`, wayOut);
  if (/\p{Cc}/u.test(given)) throw wrong('has a control character or a line break', 'Give one address.');
  const url = webAddress(given);
  if (!url) throw wrong('expected an address that begins with http:// or https://', 'read_file reads files.');
  // They would stand in the audit, and in the question of a rule.
  if (url.username !== '' || url.password !== '')
    throw wrong(
      'has a user name or password in it',
      'Leave it out; where it is needed, run a program such as curl.',
    );
  return url;
}

/** The host as it was typed: a number, or what stands behind a user name, is not called this machine. */
const writtenHost = (given: string): string =>
  /^https?:\/\/(\[[^\]]*\]|[^/?#\\@:]*)(?::\d+)?(?:[/?#]|$)/i.exec(given.trim())?.[1] ?? '';

/** Asks, and says what came. Throws what respond() and readBody() throw, CANCELLED, and UNREACHABLE. */
async function fetched(work: Fetching, context: ToolCallContext): Promise<Result> {
  const seconds = Math.min(mostSeconds, context.budgets.callSeconds);
  const late = AbortSignal.timeout(seconds * 1000);
  const signal = AbortSignal.any([context.signal, late]);
  const { environment } = context.session;
  const resolve = (name: string) => environment.resolveHost(name);
  try {
    const ask = () => respond(work, { rules: context.rules, signal, resolve });
    const { url, response } = await patiently(ask, () => work.loopback && isStarting(context), signal);
    const from = url.href === work.url.href ? '' : `from ${url.href}`;
    const { statusCode = 0, statusMessage = '', headers } = response;
    const type = headers['content-type'] ?? '';
    const status = `${statusCode} ${statusCode < 300 ? '' : statusMessage.slice(0, 60)}`.trim();
    if (work.method === 'HEAD') {
      response.destroy();
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
      return answer([status, from], sanitize(lines.join('\n')));
    }
    const { body, isCut, broken } = await readBody(response);
    if (context.signal.aborted || (body.length === 0 && broken !== undefined)) throw broken;
    const why = late.aborted
      ? `: no more came within ${seconds} seconds`
      : broken
        ? ': then it broke off'
        : '';
    const note = isCut ? `only the first ${sizeOf(body.length)}${why}` : sizeOf(body.length);
    const facts = [`${status} ${type.split(';')[0]}`.trim(), note, from];
    const media = isCut || body.length > mostImageBytes ? undefined : mediaOf(body);
    if (media?.what === 'an image')
      return answer(facts, '', { type: 'image', data: body.toString('base64'), mimeType: media.mimeType });
    const text = bodyText(body, type);
    if (text === undefined)
      return answer(facts, `[not text; to keep it, run a program: curl -fLO ${sanitize(url.href)}]`);
    const laidOut = /html/i.test(type) ? await pageText(text) : undefined;
    if (laidOut && laidOut.title !== '') facts.push(`“${laidOut.title}”`);
    return answer(facts, await fitted(laidOut?.text ?? text, work, { ...context, signal }));
  } catch (error) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    if (error instanceof ToolcribError) throw error;
    throw failureOf(error, work, late.aborted ? seconds : undefined, environment.host);
  }
}

/**
 * A server that was just started may not listen yet: it is asked again until it does. Throws what `ask`
 * throws.
 */
async function patiently<T>(
  ask: () => Promise<T>,
  isWorthIt: () => boolean,
  signal: AbortSignal,
): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || !isWorthIt()) throw error;
      await setTimeout(againMs, undefined, { signal });
    }
}

/** Whether a job of this client may be about to listen. */
const isStarting = ({ client, session }: ToolCallContext): boolean =>
  session.jobs.list(client).some(({ state, seconds }) => state === 'running' && seconds < startSeconds);

/** Lines around one that matches: in Markdown the paragraphs before and after it. */
const nearby = 3;

/** What fits into an answer: a text from its beginning, or around what is looked for. The rest is kept. */
async function fitted(
  text: string,
  { url, find }: Fetching,
  { client, signal, keepOutput, session }: ToolCallContext,
): Promise<string> {
  if (find === undefined && text.length <= mostCharacters) return sanitize(text);
  const sink = keepOutput(subjectOf(url));
  sink.add('stdout', Buffer.from(inLines(text)));
  sink.end();
  const literal = find?.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const wanted = literal === undefined ? {} : { pattern: `(?i)${literal}` };
  const shown = await page(session.outputs.find(client, sink.handle), { ...wanted, context: nearby }, signal);
  return `${shown}\n[read_output id=${sink.handle} has all of it]`;
}

/** JSON for programs is one long line: then each member has its own, and nothing else changes. */
function inLines(text: string): string {
  if (text.includes('\n') || !/^\s*[[{]/.test(text)) return text;
  try {
    JSON.parse(text);
  } catch {
    // It is no JSON, and its quotes mean nothing.
    return text;
  }
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[,[{]/g, (part) => (part.startsWith('"') ? part : `${part}\n`));
}

/** One line of facts, and what there is to show. */
function answer(facts: readonly string[], text: string, ...more: Content[]): Result {
  const first = facts.filter((fact) => fact !== '').map((fact) => sanitize(fact).replaceAll(/\s+/g, ' '));
  return { content: [{ type: 'text', text: [first.join(', '), text].join('\n\n').trimEnd() }, ...more] };
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** What Node says of connections that fail, as the rest of a sentence that begins with the host. */
const failures: readonly (readonly [RegExp, string, string])[] = [
  [/^(?:ENOTFOUND|EAI_)/, 'is not known', 'Check how it is spelled.'],
  [
    /^ECONNREFUSED$/,
    'has nothing that listens there',
    'Start the server first, or give the port that it prints.',
  ],
  [/^(?:CERT_|UNABLE_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS|ERR_SSL|EPROTO)/, 'offers no valid certificate', ''],
  [/^HPE_/, 'does not answer as HTTP wants it', ''],
];

function failureOf(
  error: unknown,
  { url, loopback }: Fetching,
  seconds: number | undefined,
  host: Host,
): ToolcribError {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  const [, says = `could not be asked: ${message}`, wayOut = ''] =
    failures.find(([pattern]) => pattern.test(code)) ?? [];
  const late = seconds === undefined ? undefined : `did not answer within ${seconds} seconds`;
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) =>
    variable(host, name),
  );
  const around =
    proxy === undefined || loopback ? '' : ` ${proxy} is set; fetch_url goes around it: run curl.`;
  return new ToolcribError(
    'UNREACHABLE',
    `url: ${url.host} ${late ?? says}${code === '' ? '' : ` (${code})`}.`,
    `${wayOut}${around}`.trim(),
  );
}
