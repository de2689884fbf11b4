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

/** The path of the target: in a folder the same name, like mv. */
export const targetOf = ({ from, to }: MoveEnds): string =>
  to.endsWith('/') || to.endsWith(sep) ? to + basename(from) : to;
