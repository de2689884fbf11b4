import { pathToFileURL } from 'node:url';
import type { Content } from '../../../core/tool.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { formatBytes } from '../wording.ts';

/** A file that is shown whole or not at all. */
interface Media {
  readonly description: 'an image' | 'a PDF document';
  readonly mimeType: string;
}

/**
 * Bytes of an image or document that is shown: base64 and JSON make 7 MB of it, and a message may have 10.
 */
export const mediaBytes = 5 * 1024 * 1024;

/** Detects an image or PDF document by its first bytes; undefined for anything else. */
export function detectMedia(head: Buffer): Media | undefined {
  const start = head.subarray(0, 12).toString('latin1');
  if (start.startsWith('%PDF-')) return { description: 'a PDF document', mimeType: 'application/pdf' };
  const image = (mimeType: string): Media => ({ description: 'an image', mimeType });
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return image('image/png');
  if (start.startsWith('\xff\xd8\xff')) return image('image/jpeg');
  if (/^GIF8[79]a/.test(start)) return image('image/gif');
  return /^RIFF[^]{4}WEBP/.test(start) ? image('image/webp') : undefined;
}

/**
 * Reads an image or document as content of an answer. Throws TOO_LARGE when it has more than `most` bytes.
 */
export async function mediaContent(
  { handle, path, stat: { size } }: OpenedFile,
  { description, mimeType }: Media,
  name: string,
  most: number,
): Promise<Content[]> {
  if (size > most) {
    const others = most === mediaBytes ? '' : ' with the others';
    throw refusal(
      'TOO_LARGE',
      name,
      `is ${description} of ${formatBytes(size)}; at most ${formatBytes(most)} can be shown${others}.`,
      size <= mediaBytes ? 'Read by itself it is shown.' : '',
    );
  }
  const bytes = await handle.read(0, size);
  const base64 = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return [{ type: 'image', data: base64, mimeType }];
  return [
    { type: 'text', text: `[${displayPath(name)}: ${description}, ${formatBytes(bytes.length)}]` },
    { type: 'resource', resource: { uri: pathToFileURL(path).href, mimeType, blob: base64 } },
  ];
}
