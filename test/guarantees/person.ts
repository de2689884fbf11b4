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

/** What can be said for longer than this time; undefined when nothing can. */
export const lasting = ({ form }: Question): string | undefined =>
  form.properties?.['remember']?.enum?.find((one) => one.startsWith('always'));

/** What comes sooner is taken for the client's own answer, as nobody reads that fast: a no is none, and a yes lasts for nothing. */
const reading = 400;
const having =
  (reply: Says): Says =>
  async (question) => {
    await setTimeout(reading);
    return reply(question);
  };

/** How a person answers: the form of a question is known here and nowhere else in these tests. */
export const says: Record<'yes' | 'always' | 'no' | 'nothing' | 'yesAtOnce' | 'noAtOnce', Says> = {
  /** Presses the button, and fills in no field: this time, and where trust was asked for, the folder. */
  yes: having(() => ({ action: 'accept' })),
  /** For good, where that is offered. */
  always: having((question) => {
    const remember = lasting(question);
    return { action: 'accept', content: remember === undefined ? {} : { remember } };
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
