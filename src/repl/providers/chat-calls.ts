import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../message.ts';

/** A piece of a call in a chunk; servers leave out any of it. */
export interface CallPiece {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
  /** Gemini's signature of its thoughts, which has to come back with the call. */
  readonly extra_content?: unknown;
}

interface Begun {
  readonly index: number | null | undefined;
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/**
 * Puts calls together from their pieces. A new id always begins a new call: there are servers that give all of them
 * the same index, or none. Ids that are missing, or that an earlier call (`taken`) has, are made up.
 */
export function createCallReader(taken: ReadonlySet<string>) {
  const calls: Begun[] = [];

  const find = ({ index, id, function: called }: CallPiece): Begun | undefined => {
    if (typeof index === 'number') {
      const same = calls.findLast((call) => call.index === index);
      return same && id && same.id && id !== same.id ? undefined : same;
    }
    if (id) return calls.findLast((call) => call.id === id);
    return called?.name ? undefined : calls.at(-1);
  };

  return {
    /** Takes a piece; gives the name of a call that begins with it. */
    push(piece: CallPiece): string | undefined {
      let call = find(piece);
      if (!call) calls.push((call = { index: piece.index, id: '', name: '', text: '', extra: undefined }));
      const { name, arguments: more } = piece.function ?? {};
      if (piece.id) call.id = piece.id;
      if (piece.extra_content) call.extra = piece.extra_content;
      if (typeof more === 'string') call.text += more;
      else if (more) call.text += JSON.stringify(more);
      if (call.name !== '' || !name) return undefined;
      call.name = name;
      return name;
    },
    end(): { calls: ToolCall[]; extras: Record<string, object> } {
      const used = new Set(taken);
      const extras: Record<string, object> = {};
      const whole = calls.map(({ id: given, name, text, extra }) => {
        const id =
          given !== '' && !used.has(given) ? given : `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
        used.add(id);
        if (extra) extras[id] = { extra_content: extra };
        return { id, name, arguments: text };
      });
      return { calls: whole, extras };
    },
  };
}
