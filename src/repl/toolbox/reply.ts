import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ImagePart, Part, TextPart } from '../message.ts';
import { imageType } from '../prompt/read-files.ts';
import type { ToolReply } from './tool.ts';

/** Far more than any model reads, and little enough to keep. */
const mostReplyText = 1024 * 1024;
const mostResourceText = 200 * 1024;
/** Base64 characters. Anthropic takes 5 MB an image, the others more. */
const mostImage = 5 * 1024 * 1024;
const mostImages = 20;

/**
 * A tool's result for the model: what is no text is described, `structuredContent` counts only when there is no
 * text.
 */
export function replyOf({ content = [], structuredContent, isError }: CallToolResult): ToolReply {
  const parts = content.map(partOf);
  const hasText = content.some(({ type }) => type === 'text' || type === 'resource');
  if (structuredContent !== undefined && !hasText) parts.push(textPart(JSON.stringify(structuredContent)));
  const { text, images } = bounded(parts, mostReplyText);
  return { text, images, isError: isError === true };
}

/** A resource as parts of a message. */
export function resourceParts({ contents }: ReadResourceResult): Part[] {
  return partsOf(contents.map((resource) => partOf({ type: 'resource', resource })));
}

/** A prompt's messages as parts of one; who says what is written down only when both speak. */
export function promptParts(
  messages: readonly { readonly role: string; readonly content: ContentBlock }[],
): Part[] {
  const dialogue = messages.some(({ role }) => role !== 'user');
  return partsOf(
    messages.flatMap(({ role, content }) => [
      ...(dialogue ? [textPart(role === 'user' ? 'User:' : 'Assistant:')] : []),
      partOf(content),
    ]),
  );
}

function partsOf(all: readonly Part[]): Part[] {
  const { text, images } = bounded(all, mostResourceText);
  return [...(text === '' && images.length > 0 ? [] : [textPart(text)]), ...images];
}

/** The texts as one, the images beside it. */
function bounded(parts: readonly Part[], mostText: number): { text: string; images: ImagePart[] } {
  const all = parts.filter((part) => part.type === 'image');
  const images = all.slice(0, mostImages);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (all.length > images.length) texts.push(`[${all.length - images.length} more images left out]`);
  return { text: cut(texts.join('\n'), mostText), images };
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
      return textPart(
        `[${[block.title ?? block.name, block.uri, block.description].filter(Boolean).join(' - ')}]`,
      );
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
function imagePart(said: string, data: string): Part {
  const mimeType = /^[\w+/\s]+=*\s*$/.test(data)
    ? imageType(Buffer.from(data.slice(0, 64), 'base64'))
    : undefined;
  if (mimeType === undefined || data.length > mostImage) return textPart(described(said, data));
  return { type: 'image', mimeType, data };
}

const described = (mimeType: string, data: string): string =>
  `[${mimeType.slice(0, 100)}, ${Math.floor((data.length * 3) / 4)} bytes, left out]`;

const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()}\n[cut here: ${text.length - most} more characters]`;
