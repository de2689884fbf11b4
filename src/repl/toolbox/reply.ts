import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ImagePart, Part, TextPart } from '../message.ts';
import { imageType } from '../prompt/read-files.ts';
import type { ToolReply } from './tool.ts';

/** Far more than any model reads, and little enough to keep. */
const mostReplyText = 1024 * 1024;
const mostResourceText = 200 * 1024;
/** Base64 characters. Anthropic takes 5 MB an image, the others more. */
const mostImage = 5 * 1024 * 1024;

/**
 * A tool's result for the model: what is no text is described, `structuredContent` counts only when there is no
 * text.
 */
export function replyOf({ content = [], structuredContent, isError }: CallToolResult): ToolReply {
  const parts = content.map(partOf);
  const hasText = content.some(({ type }) => type === 'text' || type === 'resource');
  if (structuredContent !== undefined && !hasText) parts.push(textPart(JSON.stringify(structuredContent)));
  const images = parts.filter((part) => part.type === 'image');
  return { text: joined(parts, mostReplyText), images, isError: isError === true };
}

/** A resource as parts of a message. */
export const resourceParts = ({ contents }: ReadResourceResult): Part[] =>
  partsOf(contents.map((resource) => partOf({ type: 'resource', resource })));

/** A prompt's messages as parts of one; who says what is written down only when both speak. */
export function promptParts(
  messages: readonly { readonly role: string; readonly content: ContentBlock }[],
): Part[] {
  const dialogue = messages.some(({ role }) => role !== 'user');
  const speaker = (role: string) => textPart(role === 'user' ? 'User:' : 'Assistant:');
  return partsOf(
    messages.flatMap(({ role, content }) => [...(dialogue ? [speaker(role)] : []), partOf(content)]),
  );
}

function partsOf(all: readonly Part[]): Part[] {
  const text = joined(all, mostResourceText);
  return [...(text === '' ? [] : [textPart(text)]), ...all.filter((part) => part.type === 'image')];
}

/** The texts as one. */
function joined(parts: readonly Part[], most: number): string {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[cut here: ${text.length - most} more characters]`;
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return textPart(block.text);
    case 'image':
      return imagePart(block.mimeType, block.data);
    case 'audio':
      return textPart(described(block.mimeType, block.data));
    case 'resource_link':
      return textPart(`[${[block.title ?? block.name, block.uri].join(' - ')}]`);
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource;
      if ('text' in block.resource) return textPart(`[${uri}]\n${block.resource.text}`);
      const { blob } = block.resource;
      return mimeType.startsWith('image/')
        ? imagePart(mimeType, blob)
        : textPart(`[${uri}] ${described(mimeType, blob)}`);
    }
  }
}

const textPart = (text: string): TextPart => ({ type: 'text', text: text.toWellFormed() });

/** By its first bytes: an image that is none would make providers refuse the conversation from then on. */
function imagePart(said: string, data: string): ImagePart | TextPart {
  const isBase64 = /^[\w+/\s]+=*\s*$/.test(data) && data.length <= mostImage;
  const mimeType = isBase64 ? imageType(Buffer.from(data.slice(0, 64), 'base64')) : undefined;
  return mimeType === undefined ? textPart(described(said, data)) : { type: 'image', mimeType, data };
}

const described = (mimeType: string, data: string): string =>
  `[${mimeType.slice(0, 100)}, ${Math.floor((data.length * 3) / 4)} bytes, left out]`;
