import type { Answer, CheckedCall } from '../approval/approval.ts';
import { escaped, inLine } from '../terminal/printable.ts';
import { wrapped } from '../terminal/prose.ts';
import { argumentsForApproval, diffLines, foldLine, looksLikeDiff } from '../terminal/show.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { cells } from '../terminal/width.ts';
import type { CallPlan } from '../toolbox/tool.ts';
import type { Question } from './person.ts';

const answers: Readonly<Record<string, Answer>> = {
  y: { answer: 'once' },
  yes: { answer: 'once' },
  a: { answer: 'always' },
  s: { answer: 'session' },
  t: { answer: 'tool' },
  m: { answer: 'server' },
  n: { answer: 'no' },
  no: { answer: 'no' },
};

/** Rows of a preview, give or take a few; `/show` prints all of one. */
const previewRows = { least: 10, most: 60 };
/** Of a row, for an answer. */
const answerColumns = 20;

/** The question about a call: what would be done, why it is asked about, and where; then what would come of it. */
export function approvalOf(call: CheckedCall, why: string, terminal: Terminal): Question<Answer> {
  const { paint, width } = terminal;
  const { plan, args } = call;
  // Nothing in it may look like something else, or like nothing.
  const preview = escaped(plan?.preview?.trimEnd() ?? '');
  const begin = plan ? planLines(plan, why, terminal) : callLines(call, why, terminal);
  // Where a rule says that it is asked, no answer makes it otherwise.
  const asked = isRuled(why)
    ? 'yn'
    : plan?.decision !== 'ask'
      ? 'ynstm'
      : plan.always === undefined
        ? 'yn'
        : 'yna';
  const lasting = {
    yn: '',
    yna: ` [a]lways ${inLine(plan?.always ?? '')}`,
    ynstm: ' [s]ession, always [t]ool [m]cp server',
  };
  // Of a new file, there is nothing that a preview could compare.
  const given =
    plan && asked === 'ynstm' && !looksLikeDiff(preview) ? argumentsForApproval(args, paint, 12) : [];
  return {
    above: [...begin, ...folded(preview, begin.length, terminal), ...given],
    line: withRoom(`[y]es [n]o${lasting[asked]}, or say what to do instead`, width),
    keys: Object.fromEntries(Object.entries(answers).filter(([key]) => asked.includes(key.charAt(0)))),
    words(said) {
      if (said.length > 3 && wordsIn(said) > 1) return { value: { answer: 'feedback', text: said } };
      terminal.print(paint.dim(`${[...asked].join(', ')}, or say in a few words what to do instead`));
      return undefined;
    },
    whole: () => [...argumentsForApproval(args, paint, Infinity), ...diffLines(preview, paint)],
  };
}

const isRuled = (why: string): boolean => why.startsWith('rule: ask');

/** In the words of our own server, where it asks. */
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
  [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter((word) => word.isWordLike)
    .length;

/**
 * As much of a preview as fits below what stands above it, and above the question: of a long diff first goes what
 * stays the same, then its end, from the beginning of a change.
 */
function folded(preview: string, above: number, { paint, width, height }: Terminal): string[] {
  if (preview === '') return [];
  const room = Math.max(previewRows.least, Math.min(previewRows.most, height - 5 - above));
  const lines = preview.split('\n').map((line) => foldLine(line, false));
  const coloured = diffLines(lines.join('\n'), paint);
  const isChange = (at: number) => /^[-+](?!-- |\+\+ )/.test(lines[at] ?? '');
  const isLong = rowsOf(lines, width) > room;
  const kept = [...lines.keys()].filter(
    (at) => !isLong || !lines[at]?.startsWith(' ') || isChange(at - 1) || isChange(at + 1),
  );
  let end = kept.findIndex(
    (_, at) =>
      rowsOf(
        kept.slice(0, at + 1).map((line) => lines[line] ?? ''),
        width,
      ) > room,
  );
  if (end < 0) return kept.map((at) => coloured[at] ?? '');
  const most = end;
  while (end > 1 && isChange(kept[end] ?? 0) && isChange(kept[end - 1] ?? 0)) end--;
  // A change that is cut goes whole, unless it is the first.
  if (!kept.slice(0, end).some(isChange)) end = most;
  const note = paint.dim(`… ${lines.length - (kept[end] ?? 0)} more lines: /show`);
  return [...kept.slice(0, end).map((at) => coloured[at] ?? ''), note];
}

const rowsOf = (lines: readonly string[], width: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(cells(line) / width)), 0);

/** A question with room for an answer: where its last row leaves too little, that begins a row of its own. */
function withRoom(question: string, width: number): string {
  const last =
    wrapped(question, width - 1)
      .split('\n')
      .at(-1) ?? '';
  return width - 1 - cells(last) < answerColumns ? `${question}\n> ` : question;
}
