import type { JSONRPCMessage, RequestId, Server } from '@modelcontextprotocol/server';
import { watchMessages } from './watch-messages.ts';

/** Far more questions than a person can be asked at a time. */
const most = 1000;

/** The speed of a client's replies to questions. */
export interface ReplyTimes {
  watch(server: Server): void;
  /** Milliseconds from the question of a call to the reply; undefined where none was seen. Told once. */
  of(call: RequestId): number | undefined;
}

/**
 * Tells how fast a client has replied to the questions of a call, by when messages went out and came in: what
 * this process does before and after would make the reply of a program look like that of a person.
 */
export function createReplyTimes(): ReplyTimes {
  /**
   * Times at which questions went out, by the id of a request of ours or the state that comes back with the
   * call.
   */
  const sentAt = new Map<RequestId, { readonly at: number; readonly call: RequestId | undefined }>();
  /** Milliseconds, by the id of the call. */
  const took = new Map<RequestId, number>();
  function replied(question: RequestId, call: RequestId | undefined): void {
    const sent = sentAt.get(question);
    const about = call ?? sent?.call;
    if (!sent || about === undefined) return;
    sentAt.delete(question);
    keep(took, about, performance.now() - sent.at);
  }
  return {
    watch: (server) =>
      watchMessages(server, {
        sent(message, options) {
          const question = questionIn(message);
          if (question !== undefined)
            keep(sentAt, question, { at: performance.now(), call: options?.relatedRequestId });
        },
        received(message) {
          if ('method' in message && 'id' in message) {
            const state = (message.params as { requestState?: unknown } | undefined)?.requestState;
            if (typeof state === 'string') replied(state, message.id);
          } else if ('id' in message && message.id !== undefined) replied(message.id, undefined);
        },
      }),
    of(call) {
      const ms = took.get(call);
      took.delete(call);
      return ms;
    },
  };
}

/** The key by which the reply to a question is known; undefined where a message is none. */
function questionIn(message: JSONRPCMessage): RequestId | undefined {
  if ('method' in message)
    return 'id' in message && message.method === 'elicitation/create' ? message.id : undefined;
  const state = 'result' in message ? message.result['requestState'] : undefined;
  return typeof state === 'string' ? state : undefined;
}

function keep<V>(kept: Map<RequestId, V>, key: RequestId, value: V): void {
  const [oldest] = kept.keys();
  if (kept.size >= most && oldest !== undefined) kept.delete(oldest);
  kept.set(key, value);
}
