import { pathToFileURL } from 'node:url';
import type { Content } from '../../../core/tool.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { bytesOf } from '../wording.ts';

/** What is shown whole or not at all. */
interface Media {
  readonly what: 'an image' | 'a PDF document';
  readonly mimeType: string;
}

/**
 * The most that a file shown as an image or document may have: base64 and JSON make 7 MB of it, of 10 in a
 * message.
 */
export const mediaBytes = 5 * 1024 * 1024;

/** What can be shown whole, by its first bytes; undefined for anything else. */
export function mediaOf(head: Buffer): Media | undefined {
  const start = head.subarray(0, 12).toString('latin1');
  if (start.startsWith('%PDF-')) return { what: 'a PDF document', mimeType: 'application/pdf' };
  const image = (mimeType: string): Media => ({ what: 'an image', mimeType });
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return image('image/png');
  if (start.startsWith('\xff\xd8\xff')) return image('image/jpeg');
  if (/^GIF8[79]a/.test(start)) return image('image/gif');
  return /^RIFF[^]{4}WEBP/.test(start) ? image('image/webp') : undefined;
}

/** An image or document as a part of an answer. Throws TOO_LARGE when it has more than `most` bytes. */
export async function mediaContent(
  { handle, path, stat: { size } }: OpenedFile,
  { what, mimeType }: Media,
  name: string,
  most: number,
): Promise<Content[]> {
  if (size > most) {
    const isAlone = most === mediaBytes;
    throw refusal(
      'TOO_LARGE',
      name,
      `is ${what} of ${bytesOf(size)}; at most ${bytesOf(most)} can be shown${isAlone ? '' : ' with the others'}.`,
      size <= mediaBytes ? 'Read by itself it is shown.' : '',
    );
  }
  const bytes = await handle.read(0, size);
  const base64 = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return [{ type: 'image', data: base64, mimeType }];
  return [
    { type: 'text', text: `[${displayPath(name)}: ${what}, ${bytesOf(bytes.length)}]` },
    { type: 'resource', resource: { uri: pathToFileURL(path).href, mimeType, blob: base64 } },
  ];
}
