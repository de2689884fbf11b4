import { basename, sep } from 'node:path';
import { also } from '../../../core/accepted.ts';
import { path } from '../../../core/params.ts';

export const targetParam = also(
  path('New path, or folder with / at its end'),
  'destination destination_path new_path dest dst target',
);

/** The ends of a move or a copy. */
export interface MoveEnds {
  readonly from: string;
  readonly to: string;
}

/** The target of a move or copy: in a folder, with / at its end, it keeps its name, as with mv. */
export const targetOf = ({ from, to }: MoveEnds): string =>
  to.endsWith('/') || to.endsWith(sep) ? to + basename(from) : to;
