/** What a person is shown. */
export interface Question {
  readonly message: string;
  /** The form, as the client gets it. */
  readonly form: { readonly properties?: Record<string, Field>; readonly required?: readonly string[] };
}

interface Field {
  readonly oneOf?: readonly { readonly const: string }[];
  readonly enum?: readonly string[];
}

/** What the client sends back. */
export type Reply = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string>;
};

export type Says = (question: Question) => Reply | Promise<Reply>;

const choices = ({ form }: Question): readonly string[] => {
  const field = form.properties?.['decision'];
  return field?.oneOf?.map((one) => one.const) ?? field?.enum ?? [];
};

const choose =
  (...wanted: string[]): Says =>
  (question) => {
    const decision = wanted.find((one) => choices(question).includes(one)) ?? 'yes';
    return { action: 'accept', content: { decision } };
  };

/** How a person answers: the form of a question is known here and nowhere else in these tests. */
export const says = {
  /** This time. */
  yes: choose('yes'),
  /** For good: this folder, or what else is offered. */
  trust: choose('trust', 'always'),
  /** For good: this very act, not the folder. */
  always: choose('always'),
  no: () => ({ action: 'decline' }),
  /** Closes the window. */
  nothing: () => ({ action: 'cancel' }),
  /** Presses the button, and fills in no field. */
  accept: () => ({ action: 'accept', content: {} }),
} satisfies Record<string, Says>;

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
