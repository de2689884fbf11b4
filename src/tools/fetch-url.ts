import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { unlisted } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Content, Result } from '../core/tool.ts';
import { detectMedia } from './files/reading/media.ts';
import { variable, type Host } from '../machine/host.ts';
import { sanitize } from '../machine/sanitize.ts';
import { defineTool, type ToolCallContext } from './define-tool.ts';
import { mostCharacters, readPage } from './output/page.ts';
import { decodeBody, pageToMarkdown } from './fetch/page-text.ts';
import {
  isLoopbackName,
  parseWebAddress,
  readBody,
  requestPage,
  subjectOf,
  type FetchRequest,
  type FetchResponse,
  type ResponseBody,
} from './fetch/request.ts';

const mostSeconds = 30;
const mostImageBytes = 1024 * 1024;

const params = z.strictObject({
  url: z.string().min(1).max(8000).describe('https://example.com/docs, http://localhost:3000'),
  find: z.string().min(1).max(500).optional().describe('Only the paragraphs that contain this text'),
  method: z.enum(['GET', 'HEAD']).default('GET').describe('HEAD: only status and headers. Default GET'),
  // The fetch tools of hosts have these; a model asks its questions about the page itself.
  format: unlisted(z.string().optional()),
  query: unlisted(z.string().optional()),
});

/** A planned fetch, with the text to find in the page. */
interface FetchWork extends FetchRequest {
  readonly find: string | undefined;
}

/** Fetches pages and answers of APIs, from the web and from servers on this machine. */
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
  async plan({ url: address, find, method }, { workspace, session }) {
    const url = parseUrl(address);
    const loopback = session.isLocal && isLoopbackName(typedHost(address));
    return {
      effects: ['read', 'network'] as const,
      subject: subjectOf(url),
      host: url.hostname,
      folder: workspace.roots[0] ?? '',
      paths: [],
      isUndoable: false,
      fingerprint: JSON.stringify([address, find, method]),
      work: { url, method, find, loopback },
    };
  },
  run: ({ work }, context) => fetchUrl(work, context),
});

/** Parses the address of a call. Throws ARG_INVALID for anything but a plain http or https URL. */
function parseUrl(text: string): URL {
  const invalid = (problem: string, wayOut: string) =>
    new ToolcribError('ARG_INVALID', `url: ${problem}.`, wayOut);
  if (/\p{Cc}/u.test(text)) throw invalid('has a control character or a line break', 'Give one address.');
  const url = parseWebAddress(text);
  if (!url)
    throw invalid('expected an address that begins with http:// or https://', 'read_file reads files.');
  // They would appear in the audit log and in questions to the person.
  if (url.username !== '' || url.password !== '')
    throw invalid(
      'has a user name or password in it',
      'Leave it out; where it is needed, run a program such as curl.',
    );
  return url;
}

/**
 * The host as it was typed; empty behind a user name. A number that resolves to this machine is not one of
 * its names.
 */
const typedHost = (text: string): string =>
  /^https?:\/\/(\[[^\]]*\]|[^/?#\\@:]*)(?::\d+)?(?:[/?#]|$)/i.exec(text.trim())?.[1] ?? '';

/**
 * Sends the request and formats the response. Throws what requestPage() and readBody() throw, CANCELLED, and
 * UNREACHABLE.
 */
async function fetchUrl(work: FetchWork, context: ToolCallContext): Promise<Result> {
  const { rules, budgets, session } = context;
  const { environment } = session;
  const seconds = Math.min(mostSeconds, budgets.callSeconds);
  const timeout = AbortSignal.timeout(seconds * 1000);
  const signal = AbortSignal.any([context.signal, timeout]);
  const resolve = (name: string) => environment.resolveHost(name);
  const request = () => requestPage(work, { rules, signal, resolve });
  const mayRetry = () => work.loopback && isJobStarting(context);
  try {
    const response = await retryWhile(mayRetry, request, signal);
    if (work.method === 'HEAD') return formatHeaders(work, response);
    const body = await readBody(response.response);
    if (context.signal.aborted || (body.bytes.length === 0 && body.error !== undefined)) throw body.error;
    const cutOff = timeout.aborted ? `: no more came within ${seconds} seconds` : ': then it broke off';
    const cutNote = timeout.aborted || body.error ? cutOff : '';
    return await formatBody(work, { ...response, ...body, cutNote }, { ...context, signal });
  } catch (error) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    if (error instanceof ToolcribError) throw error;
    throw failureOf(error, work, timeout.aborted ? seconds : undefined, environment.host);
  }
}

/** Milliseconds between two attempts to reach a server that is starting. */
const retryMs = 200;

/**
 * Sends a request again while a server refuses connections and may still be starting. Throws what the request
 * throws.
 */
async function retryWhile<T>(
  mayRetry: () => boolean,
  request: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (;;)
    try {
      return await request();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || !mayRetry()) throw error;
      await setTimeout(retryMs, undefined, { signal });
    }
}

/** Seconds in which a dev server is expected to listen. */
const startSeconds = 15;

/** Says whether a job of this client is so young that it may be about to listen. */
const isJobStarting = ({ client, session }: ToolCallContext): boolean =>
  session.jobs.list(client).some(({ state, seconds }) => state === 'running' && seconds < startSeconds);

/** The line of status and address, and the headers, of a response to HEAD. */
function formatHeaders(work: FetchWork, { url, response }: FetchResponse): Result {
  response.destroy();
  const lines = Object.entries(response.headers).map(
    ([name, value]) => `${name}: ${[value].flat().join(', ')}`,
  );
  return formatAnswer([statusOf(response), redirectNote(url, work)], sanitize(lines.join('\n')));
}

/** A response whose body was read; `cutNote` says why the rest of it is missing. */
interface ReadResponse extends FetchResponse, ResponseBody {
  readonly cutNote: string;
}

/** Formats a body: an image as it is, a page as Markdown, any other text as text. */
async function formatBody(
  work: FetchWork,
  { url, response, bytes, isCut, cutNote }: ReadResponse,
  context: ToolCallContext,
): Promise<Result> {
  const type = response.headers['content-type'] ?? '';
  const size = isCut ? `only the first ${formatSize(bytes.length)}${cutNote}` : formatSize(bytes.length);
  const status = `${statusOf(response)} ${type.split(';')[0]}`.trim();
  const facts = [status, size, redirectNote(url, work)];
  const media = isCut || bytes.length > mostImageBytes ? undefined : detectMedia(bytes);
  if (media?.description === 'an image') {
    const image = { type: 'image', data: bytes.toString('base64'), mimeType: media.mimeType } as const;
    return formatAnswer(facts, '', image);
  }
  const text = decodeBody(bytes, type);
  if (text === undefined)
    return formatAnswer(facts, `[not text; to keep it, run a program: curl -fLO ${sanitize(url.href)}]`);
  const page = /html/i.test(type) ? await pageToMarkdown(text) : undefined;
  if (page && page.title !== '') facts.push(`“${page.title}”`);
  return formatAnswer(facts, await selectText(page?.text ?? text, work, context));
}

function statusOf({ statusCode = 0, statusMessage = '' }: FetchResponse['response']): string {
  return `${statusCode} ${statusCode < 300 ? '' : statusMessage.slice(0, 60)}`.trim();
}

const redirectNote = ({ href }: URL, { url }: FetchWork): string => (href === url.href ? '' : `from ${href}`);

/** Lines shown around a match: in Markdown, these are the paragraphs before and after it. */
const contextLines = 3;

/**
 * The part of a text that fits into an answer: its beginning, or the lines around matches. All of it is kept.
 */
async function selectText(
  text: string,
  { url, find }: FetchWork,
  { client, signal, keepOutput, session }: ToolCallContext,
): Promise<string> {
  if (find === undefined && text.length <= mostCharacters) return sanitize(text);
  const sink = keepOutput(subjectOf(url));
  sink.add('stdout', Buffer.from(splitJson(text)));
  sink.end();
  const literal = find?.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const selection = literal === undefined ? {} : { pattern: `(?i)${literal}` };
  const output = session.outputs.find(client, sink.handle);
  const shown = await readPage(output, { ...selection, context: contextLines }, signal);
  return `${shown}\n[read_output id=${sink.handle} has all of it]`;
}

/** Gives each member of JSON in one long line a line of its own; any other text stays as it is. */
function splitJson(text: string): string {
  if (text.includes('\n') || !/^\s*[[{]/.test(text)) return text;
  try {
    JSON.parse(text);
  } catch {
    // Without JSON, quotes mean nothing.
    return text;
  }
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[,[{]/g, (part) => (part.startsWith('"') ? part : `${part}\n`));
}

/** Puts an answer together: one line of facts, a text, and other content. */
function formatAnswer(facts: readonly string[], text: string, ...more: Content[]): Result {
  const first = facts.filter((fact) => fact !== '').map((fact) => sanitize(fact).replaceAll(/\s+/g, ' '));
  return { content: [{ type: 'text', text: [first.join(', '), text].join('\n\n').trimEnd() }, ...more] };
}

function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** Messages for the error codes of Node, each as the rest of a sentence that begins with the host. */
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

/** The error for a connection that failed; `seconds` is given when it took too long. */
function failureOf(
  error: unknown,
  { url, loopback }: FetchWork,
  seconds: number | undefined,
  host: Host,
): ToolcribError {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  const [, problem = `could not be asked: ${message}`, wayOut = ''] =
    failures.find(([pattern]) => pattern.test(code)) ?? [];
  const late = seconds === undefined ? undefined : `did not answer within ${seconds} seconds`;
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) =>
    variable(host, name),
  );
  const proxyNote =
    proxy === undefined || loopback ? '' : ` ${proxy} is set; fetch_url goes around it: run curl.`;
  return new ToolcribError(
    'UNREACHABLE',
    `url: ${url.host} ${late ?? problem}${code === '' ? '' : ` (${code})`}.`,
    `${wayOut}${proxyNote}`.trim(),
  );
}
