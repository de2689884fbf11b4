import { randomUUID } from 'node:crypto';
import type { Message, ToolCall } from '../message.ts';

/** A piece of a call in a chunk; servers leave out any of it. */
export interface CallPiece {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
  /** Gemini's signature of its thoughts, which has to come back with the call. */
  readonly extra_content?: unknown;
}

export interface BegunCall {
  readonly index: number | null | undefined;
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/** Takes a piece of a call; returns the name of a call that begins with it. */
export function takePiece(calls: BegunCall[], piece: CallPiece): string | undefined {
  const { name, arguments: more } = piece.function ?? {};
  let call = begunBy(calls, piece);
  if (!call) calls.push((call = { index: piece.index, id: '', name: '', text: '', extra: undefined }));
  if (piece.id) call.id = piece.id;
  if (piece.extra_content) call.extra = piece.extra_content;
  if (more) call.text += typeof more === 'string' ? more : JSON.stringify(more);
  if (call.name !== '' || !name) return undefined;
  return (call.name = name);
}

/** A new id always begins a new call: there are servers that give all of them the same index, or none. */
function begunBy(calls: readonly BegunCall[], { index, id, function: called }: CallPiece) {
  if (typeof index === 'number') {
    const same = calls.findLast((call) => call.index === index);
    return same && id && same.id && id !== same.id ? undefined : same;
  }
  if (id) return calls.findLast((call) => call.id === id);
  return called?.name ? undefined : calls.at(-1);
}

/** The calls with what belongs to each, by its id. Ids that are missing, or that an earlier call has, are made up. */
export function wholeCalls(begun: readonly BegunCall[], earlier: readonly Message[]) {
  const used = new Set(
    earlier.flatMap((one) => (one.role === 'assistant' ? one.calls : [])).map(({ id }) => id),
  );
  const extras: Record<string, object> = {};
  const calls = begun.map(({ id: given, name, text, extra }): ToolCall => {
    const made = `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
    const id = given !== '' && !used.has(given) ? given : made;
    used.add(id);
    if (extra) extras[id] = { extra_content: extra };
    return { id, name, arguments: text };
  });
  return { calls, extras };
}
