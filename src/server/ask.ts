import { createHash, randomBytes } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolcribError } from '../core/errors.ts';
import { covers, type Question } from './question.ts';
import type { Nobody } from './refusals.ts';
import { createUsedOnce, type UsedOnce } from './used-once.ts';

export type Answer =
  /** `read`: slowly enough for a person; of what a client agrees to by itself (`once`: by a rule) nothing is kept. */
  | { readonly said: 'once' | 'yes' | 'always'; readonly read: boolean }
  | { readonly said: 'no' }
  | { readonly said: 'nothing'; readonly why: Nobody }
  /** The client asks, and makes the call again; this is what the call answers until then. */
  | { readonly said: 'later'; readonly result: InputRequiredResult };

/**
 * What the person says. Throws NOT_CONFIRMED for an answer that was given to something else, too late or before, and
 * CANCELLED when the call is given up meanwhile.
 */
export type Ask = (question: Question) => Promise<Answer>;

/** A call, as an answer is bound to it. */
export interface AskedCall {
  readonly client: string;
  readonly tool: string;
  /** As they came. */
  readonly args: unknown;
}

export interface Asking {
  /** Asks about one call, as the client makes it now; for each round of it there is another. */
  asker(server: Server, context: ServerContext, call: AskedCall): Ask;
  /** For `requestState` of the server's options. Rejects what was not signed here. */
  verify(state: string, context: ServerContext): Promise<unknown>;
}

/** What comes back with an answer. Signed, but readable for the client. */
interface State {
  /** Used once. */
  readonly name: string;
  /** Digests of the call, and of all that the question was about. */
  readonly call: string;
  readonly about: readonly string[];
  /** Milliseconds since 1970. */
  readonly sentAt: number;
}

/** A person may have to read a diff, or to come back from lunch first. */
const usualSeconds = 600;
/** Far more than a person can be asked at a time. */
const mostOutstanding = 1000;
/**
 * Nobody reads three lines faster: a client answered by itself. `claude -p` and `copilot -p` say no, `codex exec`
 * without approvals says yes to a form that has no field.
 */
const fastestMs = 300;
/** Under which a client sends what its user said. */
const key = 'approval';
const thisTime = 'this time';
const expired = Symbol('expired');

/**
 * Asks people through their client: a client of 2025 is awaited, one of 2026 asks and calls again. An answer holds for
 * one call with the same arguments by the same client, for the question as it was, once, for ten minutes, in this
 * process.
 */
export function createAsking({ lifetimeSeconds = usualSeconds } = {}): Asking {
  const codec = createRequestStateCodec<unknown>({
    key: randomBytes(32),
    ttlSeconds: lifetimeSeconds,
    bind: ({ mcpReq }) => mcpReq.method,
  });
  const outstanding = createUsedOnce(lifetimeSeconds * 1000, mostOutstanding);
  return {
    asker(server, context, asked) {
      return async (question) => {
        if (!canElicit(server, context)) return { said: 'nothing', why: 'cannot be asked' };
        if (!isModern(server)) return awaitedAnswer(question, context, lifetimeSeconds);
        const call = digestOf([asked.client, asked.tool, asked.args]);
        const about = question.about.map(digestOf);
        const answer = answerWith(context, asked.tool, { call, about }, outstanding);
        if (answer) return answer;
        const state: State = { name: outstanding.issue(call), call, about, sentAt: Date.now() };
        const result = inputRequired({
          inputRequests: { [key]: inputRequired.elicit(formOf(question)) },
          requestState: await codec.mint(state, context),
        });
        return { said: 'later', result };
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

async function awaitedAnswer(
  question: Question,
  { mcpReq }: ServerContext,
  lifetimeSeconds: number,
): Promise<Answer> {
  const startedAt = performance.now();
  try {
    // With the signal, a call that is given up takes its question back.
    // Over HTTP it goes with the call's own stream: a client may have no other one, and it would be dropped unseen.
    const { signal, id: relatedRequestId } = mcpReq;
    const options = { timeout: lifetimeSeconds * 1000, signal, relatedRequestId };
    const reply = await mcpReq.elicitInput(formOf(question), options);
    return answerIn(reply, performance.now() - startedAt);
  } catch (error) {
    if (mcpReq.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    // The client failed, or gave no answer in time.
    const isFast = performance.now() - startedAt < fastestMs;
    if (isFast) return { said: 'nothing', why: 'cannot be asked' };
    throw error instanceof ToolcribError ? error : late();
  }
}

/** The answer that came with the call; undefined when none did. */
function answerWith(
  { mcpReq }: ServerContext,
  tool: string,
  { call, about }: Pick<State, 'call' | 'about'>,
  outstanding: UsedOnce,
): Answer | undefined {
  const view = inputResponse(mcpReq.inputResponses, key);
  const state = mcpReq.requestState<State | typeof expired>();
  const isLost = mcpReq.droppedInputResponseKeys?.includes(key) ?? false;
  if (view.kind === 'missing' && !isLost) return undefined;
  if (state === expired) throw notConfirmed(tool, 'came too late');
  if (!isState(state)) throw notConfirmed(tool, 'belongs to no question that was asked');
  // First of all, so that whatever else is wrong with it, it is not tried twice.
  const isNew = outstanding.use(state.name) !== undefined;
  if (state.call !== call)
    throw notConfirmed(tool, 'was for something else: another client, tool or arguments');
  if (!isNew) throw notConfirmed(tool, 'has been used already, or came too late');
  if (!covers(state.about, about))
    throw notConfirmed(tool, 'was for something else: what the call would do has changed meanwhile');
  if (view.kind !== 'elicit') return { said: 'no' };
  return answerIn(view, Date.now() - state.sentAt);
}

/** Accept is yes, this time; only who chooses more has said more. */
function formOf({ text, always }: Question): ElicitRequestFormParams {
  const remember = {
    type: 'string',
    title: 'Remember',
    enum: [thisTime, `always: ${always}`],
    default: thisTime,
  } as const;
  return {
    mode: 'form',
    message: text,
    requestedSchema: { type: 'object', properties: always === undefined ? {} : { remember } },
  };
}

/** What a client says its user said. What came at once was nobody's: no refusal, and a yes for this time only. */
function answerIn(
  { action, content }: { action: 'accept' | 'decline' | 'cancel'; content?: object | undefined },
  ms: number,
): Answer {
  if (action !== 'accept')
    return ms < fastestMs ? { said: 'nothing', why: 'answered at once' } : { said: 'no' };
  const { remember } = (content ?? {}) as { remember?: unknown };
  const isAlways = typeof remember === 'string' && remember.startsWith('always');
  return { said: isAlways ? 'always' : 'yes', read: ms >= fastestMs };
}

// Revisions are dates, and sort as text.
const isModern = (server: Server): boolean => (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28';

/**
 * Whether a client can put a form to its user. It declares that with every request since 2026-07-28, and once when it
 * connects before; `elicitation: {}` is from the time when there were only forms.
 */
function canElicit(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = isModern(server)
    ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)
    : server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return elicitation.form !== undefined || Object.keys(elicitation).length === 0;
}

/** SHA-256 of a JSON value; the same for objects whose properties differ in their order only. */
const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sorted)).digest('base64url');

function sorted(_name: string, part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  const named = Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1));
  // As pairs: an object would put numbers first, and these are compared with themselves only.
  return { properties: named.map(([name, value]) => [name, value]) };
}

const isState = (state: unknown): state is State =>
  typeof state === 'object' && state !== null && 'about' in state && 'sentAt' in state;

const notConfirmed = (tool: string, why: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${tool} was not run: the answer that came with the call ${why}.`,
    'Make the call again: the person is asked anew.',
  );

const late = (): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    'The call was not run: nobody answered the question.',
    'Make the call again when somebody is there.',
  );
