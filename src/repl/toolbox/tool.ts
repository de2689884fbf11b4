import { createHash } from 'node:crypto';
import type {
  CallToolResult,
  ContentBlock,
  ReadResourceResult,
  ToolAnnotations,
} from '@modelcontextprotocol/client';
import { type ImagePart, type ToolDeclaration, textOf, type ContentPart, type TextPart } from '../message.ts';
import { imageType } from '../prompt/read-files.ts';
import { isObject } from '../text/json.ts';

export interface ToolReply {
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly isError: boolean;
  /** The person wants the turn to end. */
  readonly stops?: boolean;
  /** The words that the person sees instead of the text, which is for the model; empty: nothing. */
  readonly shown?: string;
  /** The plan, in the place of a result. */
  readonly plan?: CallPlan;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  progress?(message: string): void;
  /** A message to our own server: only its plan is wanted, or the answer to that. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The plan of our own server for a call, and whether somebody has to be asked. */
export interface CallPlan {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The setting that decided. */
  readonly setting?: string;
  /** The reasons to ask about it, each as the rest of a sentence that begins with "it". */
  readonly reasons: readonly { readonly says: string }[];
  /** The act in one line. */
  readonly subject: string;
  readonly folder: string;
  readonly effects: readonly string[];
  readonly preview?: string;
  /** The question, when it has to be asked about: three lines, and the preview. */
  readonly question?: string;
  /** The answers that last, and what each covers. */
  readonly offers: { readonly trust?: string; readonly always?: string };
  /** Handed back with the call, it says that this plan was agreed to. */
  readonly ticket?: string;
}

/** A tool as the model sees it, whichever server it comes from. */
export interface ClientTool extends ToolDeclaration {
  /** `mcp__server__tool` of at most 64 characters; a plain name for the REPL's own. */
  readonly name: string;
  /** The server's name in mcp.json; `chat` for the REPL's own. */
  readonly server: string;
  /** One of the REPL's own. */
  readonly builtIn?: true;
  /** A call shows its content itself: no line of its arguments is shown. */
  readonly quiet?: true;
  /** The name by which the server calls it. */
  readonly tool: string;
  /** The annotations by the server; of a server that is not trusted, nothing of it is believed. */
  readonly annotations: Readonly<ToolAnnotations>;
  /** Our own server, or one with `"trust": true`: its annotations are believed. */
  readonly trusted: boolean;
  /**
   * True when it is no longer what it was when its server was started, and its annotations are not believed
   * any more.
   */
  readonly changed?: boolean;
  /** Hash of how the server is reached: a rule holds only for the server it was made for. */
  readonly identity: string;
  /** Hash of name, description, schema and annotations: a rule is void when they change. */
  readonly definition: string;
  /**
   * True for our own server's tools: `toolcrib/plan` as meta of a call gets what it would do, and runs
   * nothing.
   */
  readonly plans?: boolean;
  /** Never throws for what the tool does; an interrupted call ends with isError. */
  call(args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<ToolReply>;
}

/**
 * Names a tool as a person knows it: its own name, after its server's unless that is ours. No other server
 * has these names.
 */
export const shownName = ({ server, tool }: ClientTool): string =>
  server === 'chat' || server === 'toolcrib' ? tool : `${server}: ${tool}`;

/** A failed reply that says why. */
export const failed = (text: string): ToolReply => ({ text, images: [], isError: true });
export const replied = (text: string): ToolReply => ({ text, images: [], isError: false });

/** The shortest limit of the model wires (OpenAI: `^[a-zA-Z0-9_-]{1,64}$`). */
const mostCharacters = 64;

/**
 * `mcp__server__tool`, as a model sees it. It depends on nothing but the two names, so it is the same in
 * every run: what had to be changed or cut, and a server name that could be read two ways (`a__b`, `a_`),
 * gets a hash of both.
 */
export function toolName(server: string, tool: string): string {
  const wanted = `mcp__${server}__${tool}`;
  const clean = wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (clean === wanted && wanted.length <= mostCharacters && !/__|_$/.test(server)) return wanted;
  const suffix = fingerprint([server, tool]).slice(0, 8);
  return `${clean.slice(0, mostCharacters - suffix.length - 1)}_${suffix}`;
}

/** 16 digits of any JSON, whatever the order of its keys: servers list the same keys in any. */
export const fingerprint = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, sortedKeys) ?? '')
    .digest('hex')
    .slice(0, 16);

const sortedKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** The most characters of a reply: far more than any model reads, and little enough to keep. */
const mostReplyText = 1024 * 1024;
const mostResourceText = 200 * 1024;
/** Base64 characters. Anthropic takes 5 MB an image, the others more. */
const mostImage = 5 * 1024 * 1024;

/** A tool's result for the model; `structuredContent` counts only when there is no text. */
export function replyOf({ content = [], structuredContent, isError }: CallToolResult): ToolReply {
  const parts = content.map(partOf);
  const hasText = content.some(({ type }) => type === 'text' || type === 'resource');
  if (structuredContent !== undefined && !hasText) parts.push(textPart(JSON.stringify(structuredContent)));
  return { text: joined(parts, mostReplyText), images: imagesIn(parts), isError: isError === true };
}

/** A resource as parts of a message. */
export const resourceParts = ({ contents }: ReadResourceResult): ContentPart[] =>
  partsOf(contents.map((resource) => partOf({ type: 'resource', resource })));

/** A prompt's messages as parts of one; who says what is written down only when both speak. */
export function promptParts(
  messages: readonly { readonly role: string; readonly content: ContentBlock }[],
): ContentPart[] {
  const dialogue = messages.some(({ role }) => role !== 'user');
  const named = (role: string) => (dialogue ? [textPart(role === 'user' ? 'User:' : 'Assistant:')] : []);
  return partsOf(messages.flatMap(({ role, content }) => [...named(role), partOf(content)]));
}

const partsOf = (all: readonly ContentPart[]): ContentPart[] => [
  textPart(joined(all, mostResourceText)),
  ...imagesIn(all),
];

const imagesIn = (parts: readonly ContentPart[]): ImagePart[] =>
  parts.filter((part) => part.type === 'image');

function joined(parts: readonly ContentPart[], most: number): string {
  const text = textOf(parts);
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[cut here: ${text.length - most} more characters]`;
}

/** Converts a block to a part; what is neither text nor an image is described. */
function partOf(block: ContentBlock): ContentPart {
  switch (block.type) {
    case 'text':
      return textPart(block.text);
    case 'resource_link':
      return textPart(`[${[block.title ?? block.name, block.uri].join(' - ')}]`);
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource;
      if ('text' in block.resource) return textPart(`[${uri}]\n${block.resource.text}`);
      return bytesPart(mimeType, block.resource.blob, `[${uri}] `);
    }
    default:
      return bytesPart(block.mimeType, block.data);
  }
}

const textPart = (text: string): TextPart => ({ type: 'text', text: text.toWellFormed() });

/**
 * Reads bytes as an image, by the first of them: an image that is none would make providers refuse the
 * conversation from then on.
 */
function bytesPart(said: string, data: string, from = ''): ImagePart | TextPart {
  const isBase64 = /^[\w+/\s]+=*\s*$/.test(data) && data.length <= mostImage;
  const mimeType = isBase64 ? imageType(Buffer.from(data.slice(0, 64), 'base64')) : undefined;
  if (mimeType !== undefined) return { type: 'image', mimeType, data };
  return textPart(`${from}[${said.slice(0, 100)}, ${Math.floor((data.length * 3) / 4)} bytes, left out]`);
}
