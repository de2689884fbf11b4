import { setTimeout } from 'node:timers/promises';

/** The question that a person is shown. */
export interface Question {
  readonly message: string;
  /** The form, as the client gets it. */
  readonly form: { readonly properties?: Record<string, Field>; readonly required?: readonly string[] };
}

interface Field {
  readonly enum?: readonly string[];
  readonly default?: string;
}

/** The answer that the client sends back. */
export type Reply = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string>;
};

export type Says = (question: Question) => Reply | Promise<Reply>;

/** The acts that "always" would cover; undefined when there are none. */
export const lasting = ({ form }: Question): string | undefined =>
  form.properties?.['always']?.enum?.find((one) => one.startsWith('always'));

/** The choice of trust beside the act; undefined when trust is not asked for, or is itself the question. */
export const trusting = ({ form }: Question): string | undefined =>
  form.properties?.['trust']?.enum?.find((one) => one.startsWith('yes'));

/** Waits as a reader does: a faster answer is taken for the client's own, as nobody reads that fast. */
export const reading = (): Promise<void> => setTimeout(400);
const having =
  (reply: Says): Says =>
  async (question) => {
    await reading();
    return reply(question);
  };

/** The answers of a person: the form of a question is known here and nowhere else in these tests. */
export const says: Record<'yes' | 'always' | 'trust' | 'no' | 'nothing' | 'yesAtOnce' | 'noAtOnce', Says> = {
  /** Presses the button, and fills in no field: to what is asked, the act this time or trust in the folder. */
  yes: having(() => ({ action: 'accept' })),
  /** Agrees for good, where the form has that choice. */
  always: having((question) => {
    const always = lasting(question);
    return { action: 'accept', content: always === undefined ? {} : { always } };
  }),
  /** Trusts the folder beside the act, where the form has that choice. */
  trust: having((question) => {
    const trust = trusting(question);
    return { action: 'accept', content: trust === undefined ? {} : { trust } };
  }),
  no: having(() => ({ action: 'decline' })),
  /** Closes the window. */
  nothing: having(() => ({ action: 'cancel' })),
  /** Answers as clients do that have nobody to ask. */
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
