import type { Chat } from '../chat.ts';
import type { ImagePart } from '../message.ts';
import type { SessionEntry, Todo } from '../session/entry.ts';
import { createSession } from '../session/session.ts';
import { searchSessions } from '../session/store.ts';
import { MarkdownStream } from '../terminal/markdown.ts';
import { inLine, printable } from '../terminal/printable.ts';
import { wrapped } from '../terminal/rows.ts';
import { todoLines } from '../terminal/show.ts';
import { failed, replied, shownName, type ClientTool, type ToolReply } from '../toolbox/tool.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import { runTurn } from '../turn/turn.ts';

const text = { type: 'string' };
const planChoices = ['go on, and ask me before changes', 'go on by itself', 'keep planning'];
const todoSchema = {
  type: 'object',
  properties: {
    text: { ...text, maxLength: 200 },
    status: { enum: ['pending', 'in_progress', 'completed'] },
    priority: { enum: ['high', 'medium', 'low'] },
  },
  required: ['text', 'status'],
  additionalProperties: false,
};

interface ChatToolSpec extends Pick<ClientTool, 'name' | 'description' | 'quiet' | 'call'> {
  readonly properties: Readonly<Record<string, object>>;
  /** All of them, unless it is said. */
  readonly required?: readonly string[];
}

/** The few tools the chat has itself: they talk to the person, or to the session, and change nothing else. */
export const builtInTools = (chat: Chat): readonly ClientTool[] =>
  [...(chat.person ? [askUser(chat)] : []), exitPlan(chat), ...sessionTools(chat), subAgent(chat)].map(
    ({ properties, required = Object.keys(properties), ...rest }) => ({
      inputSchema: { type: 'object', properties, required, additionalProperties: false },
      builtIn: true,
      server: 'chat',
      tool: rest.name,
      annotations: { readOnlyHint: true, openWorldHint: false },
      trusted: true,
      identity: 'chat',
      definition: rest.name,
      ...rest,
    }),
  );

/**
 * Puts a question with numbered choices to the person, who may answer in other words; undefined: no answer.
 */
async function choice(
  { person }: Chat,
  question: string,
  choices: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!person) return undefined;
  const head = `${person.paint.warning('?')} ${printable(question)}`;
  const lines = [head, ...choices.map((each, at) => `  ${at + 1} ${inLine(each)}`)];
  return person.ask<string | undefined>({
    above: lines.map((line) => wrapped(line, person.width)),
    line: choices.length > 0 ? 'a number, or your own words' : 'your answer',
    keys: { '': undefined, ...Object.fromEntries(choices.map((each, at) => [`${at + 1}`, each])) },
    words: (said) => ({ value: said }),
    signal,
  });
}

const askUser = (chat: Chat): ChatToolSpec => ({
  name: 'ask_user',
  description: 'Asks the person one question when only they can decide. Give choices when there are few.',
  properties: { question: text, choices: { type: 'array', items: text, maxItems: 9 } },
  required: ['question'],
  quiet: true,
  async call({ question, choices = [] }, { signal }) {
    const answer = await choice(chat, String(question), choices as string[], signal);
    return answer === undefined
      ? { ...failed('The person did not answer.'), shown: 'no answer' }
      : { ...replied(answer), shown: '' };
  },
});

/** Brings a plan before the person, and leaves plan mode when they approve it. */
const exitPlan = (chat: Chat): ChatToolSpec => ({
  name: 'exit_plan',
  description:
    'Hands in the plan, in Markdown, once it is complete. The person approves it, or says what to change.',
  properties: { plan: text },
  quiet: true,
  async call({ plan }, { signal }) {
    // Whoever calls it unasked would have its own words answered with a change of mode.
    if (chat.mode !== 'plan') return failed('This is not in plan mode: there is no plan to hand in. Go on.');
    if (!chat.person) return replied('Nobody is here to approve the plan. End with the plan as your answer.');
    const shown = new MarkdownStream(chat.person);
    shown.push(String(plan));
    shown.end();
    const answer = await choice(chat, 'The plan: choose, or say what to change', planChoices, signal);
    if (answer === planChoices[0] || answer === planChoices[1] || /^y(es)?$/i.test(answer ?? '')) {
      chat.useMode(answer === planChoices[1] ? 'auto' : 'ask');
      const approval = 'The person approved the plan. Plan mode is over: carry the plan out, with all tools.';
      return { ...replied(approval), shown: `approved, mode ${chat.mode}` };
    }
    const isWish = answer !== undefined && answer !== planChoices[2] && !/^no?$/i.test(answer);
    const wish = isWish ? ` The person says: ${answer}` : '';
    return { ...replied(`The plan is not approved yet. Keep planning.${wish}`), shown: 'not approved' };
  },
});

/** Lets the model hand a task to a sub-agent, to keep its own context small. */
const subAgent = (chat: Chat): ChatToolSpec => ({
  name: 'run_agent',
  description:
    'Does a task in a context of its own, with the same tools; returns only the answer. For ' +
    'searching through a lot.',
  properties: {
    task: { ...text, description: 'All that has to be known: it sees nothing of this conversation' },
  },
  async call({ task }, { signal, progress }) {
    const events = runSubAgent(chat, String(task), signal);
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value;
      if (value.type === 'call_started' && value.tool) progress?.(shownName(value.tool));
    }
  },
});

const sessionTools = (chat: Chat): ChatToolSpec[] => [
  {
    name: 'recall_attachment',
    description: 'Shows an earlier attachment of this session again, by its name.',
    properties: { name: text },
    async call({ name }) {
      const all = chat.session.path().flatMap(imagesIn);
      const found = all.findLast((image) => image.name === name);
      const names = all.map((image) => image.name).join(', ') || 'none';
      if (!found) return failed(`There is no attachment of that name; there are: ${names}`);
      return { ...replied(String(name)), images: [found] };
    },
  },
  {
    name: 'search_sessions',
    description: 'Full-text search over earlier conversations of this project: all words have to occur.',
    properties: { query: { ...text, minLength: 2 } },
    async call({ query }) {
      const hits = searchSessions(chat.environment.store.list(), String(query)).map(
        ({ session: { modified, name }, role, excerpt }) =>
          `${modified.slice(0, 10)} ${name} ${role}: ${excerpt}`,
      );
      return replied(hits.join('\n') || 'Nothing was found.');
    },
  },
  {
    name: 'write_todos',
    description:
      'Replaces the list of what is to be done, for work of three steps or more. One item is ' +
      'in_progress at a time.',
    properties: { todos: { type: 'array', maxItems: 50, items: todoSchema } },
    quiet: true,
    async call({ todos: given }) {
      const todos = (given as readonly Todo[]).map((todo) => ({
        ...todo,
        priority: todo.priority ?? 'medium',
      }));
      chat.session.append({ type: 'todos', todos });
      const { person } = chat;
      if (person && todos.length > 0) person.print(todoLines(todos, person.paint).join('\n'));
      return { ...replied(`Kept: ${todos.length} items.`), shown: '' };
    },
  },
];

function imagesIn(entry: SessionEntry): readonly ImagePart[] {
  if (entry.type === 'user') return entry.content.filter((part) => part.type === 'image');
  return (entry.type === 'tool' && entry.images) || [];
}

const maxSubAgentIterations = 25;

/**
 * A task done in a context of its own: its calls are shown, and only its last answer comes back. It asks the
 * same person about the same things.
 */
export async function* runSubAgent(
  chat: Chat,
  task: string,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, ToolReply> {
  const session = createSession(undefined, { cwd: chat.session.header.cwd });
  session.append({ type: 'user', content: [{ type: 'text', text: task }] });
  // All that is not said here is as with the agent, also when the person changes it meanwhile.
  const sub = Object.create(chat, {
    session: { value: session },
    maxIterations: { value: maxSubAgentIterations },
    // A schema is for the last answer to the person.
    schema: { value: undefined },
    tools: { value: () => chat.tools().filter(({ builtIn }) => !builtIn) },
    // They are of the session.
    mode: { get: () => chat.mode },
    system: { value: () => chat.system() },
  }) as Chat;
  let text = '';
  let end = 'done';
  for await (const event of runTurn(sub, signal)) {
    if (event.type === 'answer') ({ text } = event.message);
    if (event.type.startsWith('call_')) yield event;
    if (event.type === 'ended') end = event.reason;
  }
  if (end === 'done') return text === '' ? failed('The sub-agent ended without an answer.') : replied(text);
  const words = text === '' ? '' : ` Its last words: ${text}`;
  const reply = failed(`The sub-agent did not finish (${end}).${words}`);
  return { ...reply, stops: end === 'stopped' && chat.person !== undefined };
}
