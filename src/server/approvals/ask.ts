import { isDeepStrictEqual } from 'node:util';
import {
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolcribError } from '../../core/errors.ts';
import { clientSays } from '../client/client-roots.ts';
import { covers, screenOf, type LastingAnswer, type Question, type QuestionScreen } from './question.ts';
import type { NoAnswerReason } from './refusals.ts';
import { createReplyTimes, type ReplyTimes } from '../client/reply-times.ts';
import { OneTimeTokens } from './one-time-tokens.ts';

export type Reply =
  /** To this act, this time, and what is kept of that. */
  | { readonly kind: 'yes'; readonly keep: readonly LastingAnswer[] }
  | { readonly kind: 'no' }
  | { readonly kind: 'nothing'; readonly why: NoAnswerReason }
  /** The client asks, and makes the call again; this is what the call answers until then. */
  | { readonly kind: 'pending'; readonly result: InputRequiredResult };

/**
 * Asks a person. Throws NOT_CONFIRMED for an answer that was given to something else, too late or
 * before, and CANCELLED when the call is given up meanwhile.
 */
export type AskPerson = (question: Question) => Promise<Reply>;

/** The questions that a client is asked. */
export interface Questions {
  /** Sees how fast the client of a server replies. */
  watch(server: Server): void;
  /** Asks about one call, as the client makes it now. Throws what `AskPerson` throws. */
  ask(question: Question, server: Server, context: ServerContext, call: AskedCall): Promise<Reply>;
  /** Accepts the state that comes back with a call made again; see `requestState` of the SDK. */
  verify(state: string): void;
}

/** A call, as an answer is bound to it. */
export interface AskedCall {
  readonly tool: string;
  /** The arguments as they came. */
  readonly args: unknown;
}

/** A question that a client has been given, to be answered with the call made again. */
interface Outstanding extends AskedCall {
  readonly about: readonly string[];
}

/** A person may have to read a diff, or to come back from lunch first. */
const lifetimeMs = 600_000;
/** Far more than a person can be asked at a time. */
const mostOutstanding = 100;
/**
 * Nobody reads three lines faster: `claude -p` and `copilot -p` say no by themselves, `codex exec` says yes.
 */
const fastestMs = 300;
/** Under which a client sends what its user said. */
const key = 'approval';
/** The field of each answer that lasts: what it is called, and the choice that keeps nothing. */
const fields: Readonly<
  Record<LastingAnswer, { readonly title: string; readonly no: string; readonly yes: string }>
> = {
  trust: { title: 'Also trust it, to run its code', no: 'no', yes: 'yes' },
  always: { title: 'Remember', no: 'this time', yes: 'always' },
};

/**
 * Asks the people behind one client through it: one of 2025 is awaited, one of 2026 asks and calls again with
 * a name that nobody can guess. An answer holds for one call with the same arguments, for the question as it
 * was, once, for ten minutes, in this process.
 */
export function createQuestions(): Questions {
  const outstanding = new OneTimeTokens<Outstanding>(lifetimeMs, mostOutstanding);
  const replyTimes = createReplyTimes();
  return {
    watch: replyTimes.watch,
    async ask(question, server, context, call) {
      const { isModern, capabilities, info } = clientSays(server, context);
      if (!canElicit(capabilities ?? {})) return { kind: 'nothing', why: 'cannot be asked' };
      const form = formOf(question, screenOf(info?.name));
      if (!isModern) return awaitedAnswer(form, question, context, replyTimes);
      const answer = answerWith(context, call, question, { outstanding, replyTimes });
      if (answer) return answer;
      const requestState = outstanding.issue({ ...call, about: question.about });
      const inputRequests = { [key]: inputRequired.elicit(form) };
      return { kind: 'pending', result: inputRequired({ inputRequests, requestState }) };
    },
    /** For `requestState` of the server's options. Throws for what was not issued to this client. */
    verify(state: string): void {
      if (!outstanding.has(state)) throw new Error('belongs to no question that was asked');
    },
  };
}

async function awaitedAnswer(
  form: ElicitRequestFormParams,
  question: Question,
  { mcpReq }: ServerContext,
  replyTimes: ReplyTimes,
): Promise<Reply> {
  try {
    // With the signal, a call that is given up takes its question back. Over HTTP it goes with the call's own
    // stream: a client may have no other one, and it would be dropped unseen.
    const { signal, id: relatedRequestId } = mcpReq;
    const options = { timeout: lifetimeMs, signal, relatedRequestId };
    const reply = await mcpReq.elicitInput(form, options);
    return answerIn(reply, question, replyTimes.of(relatedRequestId));
  } catch {
    if (mcpReq.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    // The client failed, or gave no answer in time.
    const ms = replyTimes.of(mcpReq.id);
    if (ms !== undefined && isFast(ms)) return { kind: 'nothing', why: 'cannot be asked' };
    throw new ToolcribError(
      'NOT_CONFIRMED',
      'The call was not run: nobody answered the question.',
      'Make the call again when somebody is there.',
    );
  }
}

/** The answer that came with the call; undefined when none did. */
function answerWith(
  { mcpReq }: ServerContext,
  { tool, args }: AskedCall,
  question: Question,
  { outstanding, replyTimes }: { outstanding: OneTimeTokens<Outstanding>; replyTimes: ReplyTimes },
): Reply | undefined {
  const view = inputResponse(mcpReq.inputResponses, key);
  const isLost = mcpReq.droppedInputResponseKeys?.includes(key) ?? false;
  if (view.kind === 'missing' && !isLost) return undefined;
  const state = mcpReq.requestState<string>();
  if (state === undefined) throw notConfirmed(tool, 'belongs to no question that was asked');
  // First of all, so that whatever else is wrong with it, it is not tried twice.
  const asked = outstanding.use(state);
  if (!asked) throw notConfirmed(tool, 'has been used already, or came too late');
  if (asked.tool !== tool || !isDeepStrictEqual(asked.args, args))
    throw notConfirmed(tool, 'was for something else: another tool or arguments');
  if (!covers(asked.about, question.about))
    throw notConfirmed(tool, 'was for something else: what the call would do has changed meanwhile');
  if (view.kind !== 'elicit') return { kind: 'no' };
  return answerIn(view, question, replyTimes.of(mcpReq.id));
}

/** A reply that nobody can have read the question for; one that was not seen to come is nobody's either. */
const isFast = (ms: number | undefined): boolean => ms === undefined || ms < fastestMs;

/** The choice by which an answer lasts. */
const choiceOf = (name: LastingAnswer, words = ''): string => `${fields[name].yes}: ${words}`;

/** The form of a question: to accept is to say yes, this time; only who chooses more has said more. */
function formOf({ text, offers }: Question, { wantsField }: QuestionScreen): ElicitRequestFormParams {
  const properties = Object.entries(offers).map(([name, words]) => {
    const { title, no } = fields[name as LastingAnswer];
    const field = {
      type: 'string' as const,
      title,
      enum: [no, choiceOf(name as LastingAnswer, words)],
      default: no,
    };
    return [name, field] as [string, typeof field];
  });
  if (properties.length === 0 && wantsField)
    properties.push(['answer', { type: 'string' as const, title: 'Answer', enum: ['yes'], default: 'yes' }]);
  const requestedSchema = { type: 'object' as const, properties: Object.fromEntries(properties) };
  return { mode: 'form', message: text, requestedSchema };
}

/** The answer in a client's reply. One that came at once was nobody's. */
function answerIn(
  { action, content }: { action: 'accept' | 'decline' | 'cancel'; content?: object | undefined },
  { keeps, offers }: Question,
  ms: number | undefined,
): Reply {
  if (isFast(ms)) return { kind: 'nothing', why: 'answered at once' };
  if (action !== 'accept') return { kind: 'no' };
  const chosen = (content ?? {}) as Readonly<Record<string, unknown>>;
  const isChosen = (name: LastingAnswer) => chosen[name] === choiceOf(name, offers[name]);
  return { kind: 'yes', keep: [...keeps, ...(Object.keys(offers) as LastingAnswer[]).filter(isChosen)] };
}

/**
 * True for a client that can put a form to its user. `elicitation: {}` is from the time when there were only
 * forms.
 */
const canElicit = ({ elicitation }: ClientCapabilities): boolean =>
  typeof elicitation === 'object' &&
  elicitation !== null &&
  (elicitation.form !== undefined || Object.keys(elicitation).length === 0);

const notConfirmed = (tool: string, why: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${tool} was not run: the answer that came with the call ${why}.`,
    'Make the call again: the person is asked anew.',
  );
