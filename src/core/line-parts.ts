import { piecesOf, type Line, type Piece } from './command-line.ts';
import type { Param, Params } from './parameter.ts';

/** A part of a line, in its order. Options that may stand anywhere are none of it. */
export type LinePart =
  | { readonly is: 'word'; readonly word: string }
  /** The `--` before operands. */
  | { readonly is: 'dashes'; readonly mayMiss: boolean }
  | { readonly is: 'glued'; readonly pattern: RegExp; readonly names: readonly string[] }
  | SlotPart;
export interface SlotPart {
  readonly is: 'slot';
  readonly name: string;
  readonly param: Param;
}

/** The parts of a line in the order in which `compileLine` writes them. */
export function partsOf(
  params: Params,
  line: Line<never>,
  { dashes, freshFolder }: { readonly dashes?: false | undefined; readonly freshFolder?: string | undefined },
): LinePart[] {
  const { front, behind } = piecesOf(params, line);
  const hasDashes = behind.length > 0 && dashes !== false;
  const pieces: readonly Piece[] = [...front, ...(hasDashes ? ['--'] : []), ...behind];
  return pieces.map((piece, at): LinePart => {
    const next = pieces[at + 1];
    // One before fixed words is a part of what is said.
    if (piece === '--') return { is: 'dashes', mayMiss: behind.length > 0 || typeof next === 'object' };
    if (typeof piece === 'string') return { is: 'word', word: piece };
    if (!('slot' in piece)) return gluedPart(piece, freshFolder);
    const name = String(piece.slot);
    const param = params[name];
    if (!param) throw new Error(`no parameter "${name}"`);
    return { is: 'slot', name, param };
  });
}

/** One argument made of several pieces, as an expression with a group for each value. */
function gluedPart(piece: Exclude<Piece, string>, freshFolder: string | undefined): LinePart {
  const names: string[] = [];
  const sourceOf = (one: Piece, at: number, all: readonly Piece[]): string => {
    if (typeof one === 'string') return one.replaceAll(/[^\w]/g, String.raw`\$&`);
    if ('fresh' in one)
      return freshFolder === undefined ? '(?!)' : sourceOf(`${freshFolder}/${one.fresh}`, at, all);
    if ('glue' in one) return `(?:${one.glue.map(sourceOf).join('')})?`;
    names.push(String(one.slot));
    const next = all[at + 1];
    // What may stand behind it is not a part of it: `.[extras]`.
    return typeof next === 'object' && 'glue' in next ? '([^]*?)' : '([^]*)';
  };
  const source = ('glue' in piece ? piece.glue : [piece]).map(sourceOf).join('');
  return { is: 'glued', pattern: new RegExp(`^${source}$`), names };
}
