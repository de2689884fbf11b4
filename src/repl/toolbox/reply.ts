import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import { textOf, type ImagePart, type Part, type TextPart } from '../message.ts';
import { imageType } from '../prompt/read-files.ts';
import type { ToolReply } from './tool.ts';

/** Far more than any model reads, and little enough to keep. */
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
export const resourceParts = ({ contents }: ReadResourceResult): Part[] =>
  partsOf(contents.map((resource) => partOf({ type: 'resource', resource })));

/** A prompt's messages as parts of one; who says what is written down only when both speak. */
export function promptParts(
  messages: readonly { readonly role: string; readonly content: ContentBlock }[],
): Part[] {
  const dialogue = messages.some(({ role }) => role !== 'user');
  const named = (role: string) => (dialogue ? [textPart(role === 'user' ? 'User:' : 'Assistant:')] : []);
  return partsOf(messages.flatMap(({ role, content }) => [...named(role), partOf(content)]));
}

const partsOf = (all: readonly Part[]): Part[] => [textPart(joined(all, mostResourceText)), ...imagesIn(all)];

const imagesIn = (parts: readonly Part[]): ImagePart[] => parts.filter((part) => part.type === 'image');

function joined(parts: readonly Part[], most: number): string {
  const text = textOf(parts);
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[cut here: ${text.length - most} more characters]`;
}

/** What is neither text nor an image is described. */
function partOf(block: ContentBlock): Part {
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

/** By its first bytes: an image that is none would make providers refuse the conversation from then on. */
function bytesPart(said: string, data: string, from = ''): ImagePart | TextPart {
  const isBase64 = /^[\w+/\s]+=*\s*$/.test(data) && data.length <= mostImage;
  const mimeType = isBase64 ? imageType(Buffer.from(data.slice(0, 64), 'base64')) : undefined;
  if (mimeType !== undefined) return { type: 'image', mimeType, data };
  return textPart(`${from}[${said.slice(0, 100)}, ${Math.floor((data.length * 3) / 4)} bytes, left out]`);
}
