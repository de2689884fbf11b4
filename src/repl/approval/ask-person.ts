import type { Person } from '../agent.ts';
import { diffLines, argumentsForApproval } from '../terminal/show.ts';
import { escaped, printable } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Answer, CheckedCall } from './approval.ts';
import { previewOf } from './preview.ts';

const short: Readonly<Record<string, Answer>> = {
  y: { answer: 'once' },
  yes: { answer: 'once' },
  s: { answer: 'session' },
  t: { answer: 'tool' },
  m: { answer: 'server' },
  n: { answer: 'no' },
  no: { answer: 'no' },
};

const lastingAnswers = '[s]ession, in this project: [t]ool always [m]cp server always';

/** Longer previews are folded; `/show` prints all of one. */
const mostLines = 60;

/** Puts the questions of a turn to the person, one at a time, whoever asks. */
export function askingPerson(terminal: Terminal, remember: Person['remember']): Person {
  let before: Promise<unknown> = Promise.resolve();
  /** Calls that run side by side must not talk at once. */
  const inTurn = <T>(question: () => Promise<T>): Promise<T> => {
    const answer = before.then(question);
    before = answer.catch(() => undefined);
    return answer;
  };
  return {
    remember,
    approve: (call, why, signal) => inTurn(() => approve(terminal, { call, why }, signal)),
    confirm: (question, signal) =>
      inTurn(
        async () =>
          !signal.aborted &&
          /^y(es)?$/i.test((await terminal.ask(`${printable(question)} [y]es [n]o`))?.trim() ?? ''),
      ),
  };
}

interface Question {
  readonly call: CheckedCall;
  readonly why: string;
}

async function approve(terminal: Terminal, { call, why }: Question, signal: AbortSignal): Promise<Answer> {
  const { paint } = terminal;
  const { tool, args } = call;
  const preview = await previewOf(call, signal);
  if (signal.aborted) return { answer: 'stop' };
  const whole = {
    arguments: argumentsForApproval(args, paint, Infinity),
    // Nothing in it may look like something else, or like nothing.
    preview: preview && diffLines(preview.split('\n').map(escaped).join('\n'), paint),
  };
  terminal.print(
    `${paint.warning('?')} ${paint.tool(escaped(`${tool.server}: ${tool.tool}`))}${paint.dim(`  ${printable(why)}`)}`,
  );
  terminal.print(argumentsForApproval(args, paint, 12).join('\n'));
  if (whole.preview) terminal.print(folded(whole.preview, paint.dim));
  // Where a rule says that this is asked, no answer makes it otherwise.
  const lasting = !why.startsWith('rule: ask');
  for (;;) {
    const said = await terminal.ask(
      `${lasting ? `[y]es ${lastingAnswers} [n]o` : '[y]es [n]o'}, or say what to do instead`,
    );
    if (said === undefined || signal.aborted) return { answer: 'stop' };
    const text = said.trim();
    const known = short[text.toLowerCase()];
    if (known && (lasting || /^[yn]/i.test(text))) return known;
    if (text === '/show') terminal.print([...whole.arguments, ...(whole.preview ?? [])].join('\n'));
    else if (text.length > 1) return { answer: 'feedback', text };
  }
}

function folded(lines: readonly string[], dim: (text: string) => string): string {
  if (lines.length <= mostLines) return lines.join('\n');
  const rest = lines.length - mostLines;
  return [...lines.slice(0, mostLines), dim(`… ${rest} more lines: /show`)].join('\n');
}
