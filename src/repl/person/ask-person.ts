import type { Person } from '../turn/agent.ts';
import { argumentsForApproval, diffLines, foldLine } from '../terminal/show.ts';
import { foldedDiff } from '../terminal/folded-diff.ts';
import { escaped, inLine } from '../terminal/printable.ts';
import { wrapped } from '../terminal/prose.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Answer, CheckedCall } from '../approval/approval.ts';
import type { InTurn } from './in-turn.ts';
import { askYesOrNo } from './is-yes.ts';
import { cells } from '../terminal/width.ts';
import type { CallPlan } from '../toolbox/tool.ts';

const short: ReadonlyMap<string, Exclude<Answer, { text: string }>> = new Map([
  ['y', { answer: 'once' }],
  ['yes', { answer: 'once' }],
  ['a', { answer: 'always' }],
  ['s', { answer: 'session' }],
  ['t', { answer: 'tool' }],
  ['m', { answer: 'server' }],
  ['n', { answer: 'no' }],
  ['no', { answer: 'no' }],
]);

const others = ' [s]ession, always [t]ool [m]cp server';

/** Rows of a preview, give or take a few; `/show` prints all of one. */
const previewRows = { least: 10, most: 60 };
/** Of a row, for an answer. */
const answerColumns = 20;

/** Puts the questions of a turn to the person, one at a time, whoever asks. */
export function askingPerson(terminal: Terminal, inTurn: InTurn, remember: Person['remember']): Person {
  return {
    remember,
    approve: (call, why, signal) => inTurn(() => approve(terminal, call, why, signal)),
    confirm: (question, signal) =>
      inTurn(() =>
        askYesOrNo(
          async (text) => (signal.aborted ? undefined : terminal.ask(text)),
          `${inLine(question)} [y]es [n]o`,
        ),
      ),
  };
}

async function approve(
  terminal: Terminal,
  call: CheckedCall,
  why: string,
  signal: AbortSignal,
): Promise<Answer> {
  const { paint } = terminal;
  if (signal.aborted) return { answer: 'stop' };
  const { plan, args } = call;
  // Nothing in it may look like something else, or like nothing.
  const preview = escaped(plan?.preview?.trimEnd() ?? '');
  const begin = plan ? planLines(plan, why, terminal) : callLines(call, why, terminal);
  terminal.print([...begin, ...folded(preview, begin.length, terminal)].join('\n'));
  const keys = keysFor(call, why);
  const lasting = keys === 'yn' ? '' : keys === 'yna' ? ` [a]lways ${inLine(plan?.always ?? '')}` : others;
  const question = `[y]es [n]o${lasting}, or say what to do instead`;
  for (;;) {
    const said = await terminal.ask(withRoom(question, terminal.width));
    if (said === undefined || signal.aborted) return { answer: 'stop' };
    const line = said.trim();
    const known = short.get(line.toLowerCase());
    if (known && keys.includes(line.charAt(0).toLowerCase())) return known;
    if (line === '/show')
      terminal.print(
        [...argumentsForApproval(args, paint, Infinity), ...diffLines(preview, paint)].join('\n'),
      );
    else if (line.startsWith('/')) terminal.print(paint.dim('Only /show is a command here.'));
    else if (line.length > 3 && wordsIn(line) > 1) return { answer: 'feedback', text: line };
    else terminal.print(paint.dim(`${[...keys].join(', ')}, or say in a few words what to do instead`));
  }
}

/** The keys of the answers that a question takes. Where a rule says that it is asked, none makes it otherwise. */
function keysFor({ plan }: CheckedCall, why: string): string {
  if (isRuled(why)) return 'yn';
  if (plan?.decision !== 'ask') return 'ynstm';
  return plan.always === undefined ? 'yn' : 'yna';
}

const isRuled = (why: string): boolean => why.startsWith('rule: ask');

/** The act, why it is asked about, and where: in the words of our own server, where it asks. */
function planLines({ question, subject, folder }: CallPlan, why: string, terminal: Terminal): string[] {
  const { paint, width } = terminal;
  const usual = isRuled(why) ? '' : `It ${why}.`;
  const [act = subject, reason = usual, where = `in ${folder}`] = question?.split('\n') ?? [];
  const told = isRuled(why) ? `${reason} (${why})`.trim() : reason;
  const more = [told, where].map((line) => paint.dim(`  ${inLine(line)}`));
  const head = `${paint.warning('?')} ${paint.tool(inLine(act))}`;
  return [head, ...more].flatMap((line) => wrapped(line, width).split('\n'));
}

/** What is known of a call of another server: its tool and its arguments. */
function callLines({ tool, args }: CheckedCall, why: string, { paint, width }: Terminal): string[] {
  const title = paint.tool(inLine(`${tool.server}: ${tool.tool}`));
  const head = `${paint.warning('?')} ${title}${paint.dim(`  ${inLine(why)}`)}`;
  const given = argumentsForApproval(args, paint, 12);
  return [
    ...wrapped(head, width).split('\n'),
    ...(given.length > 0 ? given : [paint.dim('  (no arguments)')]),
  ];
}

/** Also of languages that write no spaces. */
const wordsIn = (text: string): number =>
  [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter(
    ({ isWordLike }) => isWordLike,
  ).length;

/** As much of a preview as fits below what stands above it, and above the question. */
function folded(preview: string, above: number, { paint, width, height }: Terminal): string[] {
  if (preview === '') return [];
  const { least, most } = previewRows;
  const room = Math.max(least, Math.min(most, height - 5 - above));
  const lines = preview.split('\n').map((line) => foldLine(line, false));
  return foldedDiff(lines, { paint, width, room });
}

/** A question with room for an answer: where its last row leaves too little, that begins a row of its own. */
function withRoom(question: string, width: number): string {
  const [last = ''] = wrapped(question, width - 1)
    .split('\n')
    .slice(-1);
  return width - 1 - cells(last) < answerColumns ? `${question}\n> ` : question;
}
