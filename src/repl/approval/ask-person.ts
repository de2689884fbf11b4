import type { Person } from '../agent.ts';
import { diffLines, argumentsForApproval } from '../terminal/show.ts';
import { escaped, inLine } from '../terminal/printable.ts';
import { wrapped } from '../terminal/prose.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Answer, CheckedCall } from './approval.ts';
import type { InTurn } from '../in-turn.ts';
import { isYes } from '../is-yes.ts';
import { previewOf } from './preview.ts';

const short: ReadonlyMap<string, Answer> = new Map([
  ['y', { answer: 'once' }],
  ['yes', { answer: 'once' }],
  ['s', { answer: 'session' }],
  ['t', { answer: 'tool' }],
  ['m', { answer: 'server' }],
  ['n', { answer: 'no' }],
  ['no', { answer: 'no' }],
]);

/** Longer previews are folded; `/show` prints all of one. */
const mostLines = 60;

/** Puts the questions of a turn to the person, one at a time, whoever asks. */
export function askingPerson(terminal: Terminal, inTurn: InTurn, remember: Person['remember']): Person {
  return {
    remember,
    async approve(call, why, signal) {
      // Before its turn comes: a server may ask something itself meanwhile.
      const preview = await previewOf(call, signal);
      return inTurn(() => approve(terminal, { call, why, preview }, signal));
    },
    confirm: (question, signal) =>
      inTurn(async () => {
        if (signal.aborted) return false;
        return isYes(await terminal.ask(`${inLine(question)} [y]es [n]o`));
      }),
  };
}

interface Question {
  readonly call: CheckedCall;
  readonly why: string;
  readonly preview: string | undefined;
}

async function approve(
  terminal: Terminal,
  { call, why, preview }: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const { paint } = terminal;
  const { tool, args } = call;
  if (signal.aborted) return { answer: 'stop' };
  const whole = {
    arguments: argumentsForApproval(args, paint, Infinity),
    // Nothing in it may look like something else, or like nothing.
    preview: preview && diffLines(preview.split('\n').map(escaped).join('\n'), paint),
  };
  const title = paint.tool(inLine(`${tool.server}: ${tool.tool}`));
  const head = `${paint.warning('?')} ${title}${paint.dim(`  ${inLine(why)}`)}`;
  terminal.print([wrapped(head, terminal.width), ...argumentsForApproval(args, paint, 12)].join('\n'));
  if (whole.preview) terminal.print(folded(whole.preview, paint.dim));
  // Where a rule says that this is asked, no answer makes it otherwise.
  const lasting = !why.startsWith('rule: ask');
  for (;;) {
    const said = await terminal.ask(
      `[y]es [n]o${lasting ? ' [s]ession, always [t]ool [m]cp server' : ''}, or say what to do instead`,
    );
    if (said === undefined || signal.aborted) return { answer: 'stop' };
    const text = said.trim();
    const known = short.get(text.toLowerCase());
    if (known && (lasting || /^[yn]/i.test(text))) return known;
    if (text === '/show') terminal.print([...whole.arguments, ...(whole.preview ?? [])].join('\n'));
    else if (text.startsWith('/')) terminal.print(paint.dim('Only /show is a command here.'));
    else if (text.length > 1) return { answer: 'feedback', text };
  }
}

function folded(lines: readonly string[], dim: (text: string) => string): string {
  if (lines.length <= mostLines) return lines.join('\n');
  const rest = lines.length - mostLines;
  return [...lines.slice(0, mostLines), dim(`… ${rest} more lines: /show`)].join('\n');
}
