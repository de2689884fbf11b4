import { setTimeout } from 'node:timers/promises';

/** What a person is shown. */
export interface Question {
  readonly message: string;
  /** The form, as the client gets it. */
  readonly form: { readonly properties?: Record<string, Field>; readonly required?: readonly string[] };
}

interface Field {
  readonly enum?: readonly string[];
  readonly default?: string;
}

/** What the client sends back. */
export type Reply = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string>;
};

export type Says = (question: Question) => Reply | Promise<Reply>;

/** What "always" would be kept for; undefined when nothing can be. */
export const lasting = ({ form }: Question): string | undefined =>
  form.properties?.['always']?.enum?.find((one) => one.startsWith('always'));

/** What the folder could be trusted for beside the act; undefined when that is not asked, or what is asked. */
export const trusting = ({ form }: Question): string | undefined =>
  form.properties?.['trust']?.enum?.find((one) => one.startsWith('yes'));

/** What comes sooner is taken for the client's own answer, as nobody reads that fast. */
export const reading = (): Promise<void> => setTimeout(400);
const having =
  (reply: Says): Says =>
  async (question) => {
    await reading();
    return reply(question);
  };

/** How a person answers: the form of a question is known here and nowhere else in these tests. */
export const says: Record<'yes' | 'always' | 'trust' | 'no' | 'nothing' | 'yesAtOnce' | 'noAtOnce', Says> = {
  /** Presses the button, and fills in no field: to what is asked, the act this time or trust in the folder. */
  yes: having(() => ({ action: 'accept' })),
  /** For good, where that is offered. */
  always: having((question) => {
    const always = lasting(question);
    return { action: 'accept', content: always === undefined ? {} : { always } };
  }),
  /** Trusts the folder beside the act, where that is offered. */
  trust: having((question) => {
    const trust = trusting(question);
    return { action: 'accept', content: trust === undefined ? {} : { trust } };
  }),
  no: having(() => ({ action: 'decline' })),
  /** Closes the window. */
  nothing: having(() => ({ action: 'cancel' })),
  /** What clients say by themselves that have nobody. */
  yesAtOnce: () => ({ action: 'accept' }),
  noAtOnce: () => ({ action: 'decline' }),
};

export interface Person {
  readonly asked: Question[];
  answer(question: Question): Promise<Reply>;
  /** From now on answers so, the last of it again and again; what was asked is forgotten. */
  will(...next: Says[]): void;
}

/** Somebody who answers in turn, the last again and again, and remembers what they were asked. */
export function person(...replies: Says[]): Person {
  const asked: Question[] = [];
  let turn = replies;
  return {
    asked,
    async answer(question) {
      asked.push(question);
      const reply = turn[Math.min(asked.length, turn.length) - 1] ?? says.no;
      return reply(question);
    },
    will(...next) {
      asked.length = 0;
      turn = next;
    },
  };
}

export const questionIn = (params: unknown): Question => {
  const { message, requestedSchema } = params as { message: string; requestedSchema: Question['form'] };
  return { message, form: requestedSchema };
};
