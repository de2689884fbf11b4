import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { detectEncoding, headBytes, wholeEncoding } from './detect-encoding.ts';
import { namedEncoding } from './encoding-name.ts';
import { encodingIn } from './exact-encoding.ts';
import type { Encoding } from './text-file.ts';

/**
 * How a file that begins with `head` is to be read: as the caller says, else as it is edited. Undefined when it is no
 * text. Throws ARG_INVALID for a name that is not known.
 */
export async function encodingToRead(
  head: Buffer,
  isWhole: boolean,
  name: string | undefined,
): Promise<Encoding | undefined> {
  if (name !== undefined) return encodingIn(head, namedEncoding(name).label);
  if (isUtf8(head) && !head.includes(0)) return encodingIn(head, 'utf-8');
  const found = await detectEncoding(head.subarray(0, headBytes));
  if (!isWhole || found?.label !== 'utf-8' || found.mark > 0 || isUtf8(head)) return found;
  return (await laterEncoding(head)) ?? found;
}

/** Of a file that only begins with ASCII; undefined when even editing could not tell. */
async function laterEncoding(bytes: Buffer): Promise<Encoding | undefined> {
  try {
    return (await wholeEncoding(bytes, '', undefined)).encoding;
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}
