import { ToolcribError } from '../../core/errors.ts';
import type { PermitRequest } from '../../core/tool.ts';
import { quotedLength } from '../approval/shown-text.ts';

type Shows = NonNullable<PermitRequest['shows']>;

/** Of the 8,000 characters of a question, what is left beside a long command line and the folder. */
const mostCharacters = 4500;
/** As many texts as a question has room for. */
const mostTexts = 12;

/**
 * The same texts, all of which a person will see. Throws TOO_LARGE when a part would be left out: nobody can say yes to
 * what they are not shown.
 */
export function shownWhole(shows: Shows): Shows {
  const length = shows.reduce((sum, { text }) => sum + quotedLength(text), 0);
  if (length <= mostCharacters && shows.length <= mostTexts) return shows;
  throw new ToolcribError(
    'TOO_LARGE',
    `This takes ${length.toLocaleString('en')} characters to show, and a person can be asked about ${mostCharacters.toLocaleString('en')} at a time.`,
    'Put what is long into a file, and run that.',
  );
}
