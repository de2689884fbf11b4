import { randomBytes } from 'node:crypto';
import {
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolcribError } from '../../core/errors.ts';
import { canElicit, knowsTitles } from './can-elicit.ts';
import { digestOf, offered, sayings, type Question, type Said } from './question.ts';
import { createUsedOnce } from './used-once.ts';

export type Answer = Said | 'cannot-ask';

/**
 * What the person answered; who can do without it must be ready to hear `cannot-ask`. Throws NOT_CONFIRMED for an answer
 * that was given to something else, too late or before, and AskFirst when the client has to be asked.
 */
export type Ask = (question: Question) => Promise<Answer>;

/** A call, as an answer is bound to it. */
export interface AskedCall {
  readonly client: string;
  readonly tool: string;
  /** As they came. */
  readonly args: unknown;
}

export interface Approvals {
  /** Asks about one call, as the client makes it now; for each round of it there is another. */
  asker(server: Server, context: ServerContext, call: AskedCall): Ask;
  /** For `requestState` of the server's options. Rejects what was not signed here. */
  verify(state: string, context: ServerContext): Promise<unknown>;
}

/** Thrown through a tool: the client is to be given `result`, asks its user, and makes the call again. */
export class AskFirst extends Error {
  override readonly name = 'AskFirst';
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super('The client has to be asked first.');
    this.result = result;
  }
}

export const isAskFirst = (error: unknown): error is AskFirst => error instanceof AskFirst;

/** What comes back with an answer. Signed, but readable for the client. */
interface State {
  readonly name: string;
  /** Digests: of the call, and of the question in all its length. */
  readonly call: string;
  readonly question: string;
  /** What was said to the call's questions before this one. */
  readonly settled: readonly (readonly [question: string, said: Said])[];
}

/** What is known when a call is made, the first time or again. */
interface Round {
  readonly settled: Map<string, Said>;
  /** The question that was put last, and what was said to it. */
  readonly answered?: { readonly question: string; readonly said: Said };
}

/** A person may have to read a diff, or to come back from lunch first; the SDK waits as long with older clients. */
const usualSeconds = 600;
/** Far more than a person can be asked at a time. */
const mostOutstanding = 1000;
/** Under which a client sends what its user said. */
const key = 'approval';
const expired = Symbol('expired');

/**
 * Asks people through their client. An answer holds for one call with the same arguments by the same client, for the
 * question as it was in full, once, for so long after it was asked, and only in this process.
 */
export function createApprovals({ lifetimeSeconds = usualSeconds } = {}): Approvals {
  const codec = createRequestStateCodec<unknown>({
    key: randomBytes(32),
    ttlSeconds: lifetimeSeconds,
    bind: ({ mcpReq }) => mcpReq.method,
  });
  const outstanding = createUsedOnce(lifetimeSeconds * 1000, mostOutstanding);

  function roundOf({ mcpReq }: ServerContext, tool: string, call: string): Round {
    const view = inputResponse(mcpReq.inputResponses, key);
    const state = mcpReq.requestState<State | typeof expired>();
    const isLost = mcpReq.droppedInputResponseKeys?.includes(key) ?? false;
    if (view.kind === 'missing' && !isLost) return { settled: new Map() };
    if (state === expired) throw notConfirmed(tool, 'came too late');
    if (!isState(state)) throw notConfirmed(tool, 'belongs to no question that was asked');
    // First of all, so that whatever else is wrong with it, it is not tried twice.
    const isNew = outstanding.use(state.name);
    if (state.call !== call)
      throw notConfirmed(tool, 'was for something else: another client, tool or arguments');
    if (!isNew) throw notConfirmed(tool, 'has been used already, or came too late');
    return {
      settled: new Map(state.settled),
      answered: { question: state.question, said: saidIn(view) },
    };
  }

  async function put(
    question: Question,
    digest: string,
    { settled }: Round,
    { server, context, call }: { server: Server; context: ServerContext; call: string },
  ): Promise<AskFirst> {
    const { askingFor } = await import('./question-form.ts');
    const form = askingFor(question, knowsTitles(server));
    const state: State = { name: outstanding.issue(), call, question: digest, settled: [...settled] };
    return new AskFirst(
      inputRequired({
        inputRequests: { [key]: inputRequired.elicit(form) },
        requestState: await codec.mint(state, context),
      }),
    );
  }

  return {
    asker(server, context, { client, tool, args }) {
      let known: { round: Round; call: string } | undefined;
      const begin = () => {
        const call = digestOf([client, tool, args]);
        return { round: roundOf(context, tool, call), call };
      };
      return async (question) => {
        if (!canElicit(server, context)) return 'cannot-ask';
        const { round, call } = (known ??= begin());
        const { settled, answered } = round;
        // A no is one, also when it has become another question meanwhile.
        if (answered?.said === 'no') return 'no';
        const digest = digestOf(question);
        if (answered?.question === digest && !settled.has(digest))
          settled.set(digest, offered(question, answered.said) ? answered.said : 'no');
        const said = settled.get(digest);
        if (said !== undefined) return said;
        throw await put(question, digest, round, { server, context, call });
      };
    },
    verify: (state, context) =>
      codec.verify(state, context).catch((error: unknown) => {
        // Signed here, and too old: that can be told better than by an error of the protocol.
        if (error instanceof Error && error.message === 'expired') return expired;
        throw error;
      }),
  };
}

const isState = (state: unknown): state is State =>
  typeof state === 'object' && state !== null && 'settled' in state;

/** What a client says its user said; anything that is not clearly a yes is a no. */
function saidIn(view: ReturnType<typeof inputResponse>): Said {
  if (view.kind !== 'elicit' || view.action !== 'accept') return 'no';
  return sayings.find((one) => one === view.content?.['decision']) ?? 'no';
}

const notConfirmed = (tool: string, why: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${tool} was not run: the answer that came with the call ${why}.`,
    'Make the call again: the person is asked anew.',
  );
