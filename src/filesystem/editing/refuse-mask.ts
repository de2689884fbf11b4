import { ToolcribError } from '../../core/errors.ts';
import { hasMask } from '../../machine/secrets/mask.ts';

/**
 * Throws ARG_INVALID for text that came out of an answer in which secrets are masked: written back, it would destroy
 * them, and searched for, it is not there. A file that has such text itself may be changed.
 */
export function refuseMask(name: string, text: string, before: Buffer | undefined): void {
  if (!hasMask(text) || (before && hasMask(before.toString('latin1')))) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${name}: has in it what toolcrib shows in the place of a secret, which the file really holds.`,
    'Leave that part out: edit_file can replace what is before and behind it.',
  );
}
