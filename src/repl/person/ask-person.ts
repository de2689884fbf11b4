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
import { previewOf, type Preview } from '../approval/preview.ts';

const short: ReadonlyMap<string, Exclude<Answer, { text: string }>> = new Map([
  ['y', { answer: 'once' }],
  ['yes', { answer: 'once' }],
  ['s', { answer: 'session' }],
  ['t', { answer: 'tool' }],
  ['m', { answer: 'server' }],
  ['n', { answer: 'no' }],
  ['no', { answer: 'no' }],
]);

/** Rows of a preview, give or take a few; `/show` prints all of one. */
const previewRows = { least: 10, most: 60 };
/** Of a row, for an answer. */
const answerColumns = 20;

/** Puts the questions of a turn to the person, one at a time, whoever asks. */
export function askingPerson(terminal: Terminal, inTurn: InTurn, remember: Person['remember']): Person {
  return {
    remember,
    async approve(call, why, signal, again) {
      // Before its turn comes: a server may ask something itself meanwhile.
      const found = await previewOf(call, signal);
      const failure = found && 'failure' in found ? found.failure : undefined;
      if (failure !== undefined && !again) return { answer: 'failed', text: failure };
      const preview = found && 'failure' in found ? { text: found.failure, of: [] } : found;
      return inTurn(() => approve(terminal, { call, why, preview }, signal));
    },
    confirm: (question, signal) =>
      inTurn(() =>
        askYesOrNo(
          async (text) => (signal.aborted ? undefined : terminal.ask(text)),
          `${inLine(question)} [y]es [n]o`,
        ),
      ),
  };
}

interface Question {
  readonly call: CheckedCall;
  readonly why: string;
  readonly preview: Preview | undefined;
}

async function approve(
  terminal: Terminal,
  { call, why, preview }: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const { paint } = terminal;
  const { tool, args } = call;
  if (signal.aborted) return { answer: 'stop' };
  // Nothing in it may look like something else, or like nothing.
  const changes = preview ? escaped(preview.text.replace(/\n$/, '')).split('\n') : [];
  const of = preview?.of ?? [];
  const title = paint.tool(inLine(`${tool.server}: ${tool.tool}`));
  const head = `${paint.warning('?')} ${title}${paint.dim(`  ${inLine(why)}`)}`;
  const others = Object.fromEntries(Object.entries(args).filter(([name]) => !of.includes(name)));
  const notes = [
    ...(of.length > 0 ? [`${of.join(', ')}: see the diff (/show)`] : []),
    ...(Object.keys(args).length === 0 ? ['(no arguments)'] : []),
  ];
  const begin = [
    ...wrapped(head, terminal.width).split('\n'),
    ...argumentsForApproval(others, paint, 12),
    ...notes.map((note) => paint.dim(`  ${note}`)),
  ];
  terminal.print([...begin, ...folded(changes, begin.length, terminal)].join('\n'));
  // Where a rule says that this is asked, no answer makes it otherwise.
  const lasting = !why.startsWith('rule: ask');
  const keys = lasting ? 'y, n, s, t, m' : 'y, n';
  for (;;) {
    const question = `[y]es [n]o${lasting ? ' [s]ession, always [t]ool [m]cp server' : ''}, or say what to do instead`;
    const said = await terminal.ask(withRoom(question, terminal.width));
    if (said === undefined || signal.aborted) return { answer: 'stop' };
    const text = said.trim();
    const known = short.get(text.toLowerCase());
    if (known && (lasting || /^[yn]/i.test(text))) return of.length > 0 ? { ...known, seen: true } : known;
    if (text === '/show')
      terminal.print(
        [...argumentsForApproval(args, paint, Infinity), ...diffLines(changes.join('\n'), paint)].join('\n'),
      );
    else if (text.startsWith('/')) terminal.print(paint.dim('Only /show is a command here.'));
    else if (text.length > 3 && wordsIn(text) > 1) return { answer: 'feedback', text };
    else terminal.print(paint.dim(`${keys}, or say in a few words what to do instead`));
  }
}

/** Also of languages that write no spaces. */
const wordsIn = (text: string): number =>
  [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter(
    ({ isWordLike }) => isWordLike,
  ).length;

/** As much of a preview as fits below what stands above it, and above the question. */
function folded(all: readonly string[], above: number, { paint, width, height }: Terminal): string[] {
  if (all.length === 0) return [];
  const { least, most } = previewRows;
  const room = Math.max(least, Math.min(most, height - 5 - above));
  return foldedDiff(
    all.map((line) => foldLine(line, false)),
    { paint, width, room },
  );
}

/** A question with room for an answer: where its last row leaves too little, that begins a row of its own. */
function withRoom(question: string, width: number): string {
  const last =
    wrapped(question, width - 1)
      .split('\n')
      .at(-1) ?? '';
  return width - 1 - cells(last) < answerColumns ? `${question}\n> ` : question;
}
