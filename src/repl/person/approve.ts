import type { Answer, CheckedCall } from '../approval/approval.ts';
import { diffLines, looksLikeDiff } from '../terminal/diff.ts';
import { escaped, inLine } from '../terminal/printable.ts';
import { wrapped } from '../terminal/prose.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { cells } from '../terminal/width.ts';
import type { CallPlan } from '../toolbox/tool.ts';
import { argumentLines, foldLine } from './argument-lines.ts';
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

/** Rows of a preview, give or take a few, and of each argument; `/show` prints all. */
const previewRows = { least: 10, most: 60 };
const argumentRows = 12;
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
  const withoutRule = plan?.decision !== 'ask' ? 'ynstm' : plan.always === undefined ? 'yn' : 'yna';
  const asked = isRuled(why) ? 'yn' : withoutRule;
  const lasting = {
    yn: '',
    yna: ` [a]lways ${inLine(plan?.always ?? '')}`,
    ynstm: ' [s]ession, always [t]ool [m]cp server',
  };
  // Of a new file, there is nothing that a preview could compare.
  const needed = plan && asked === 'ynstm' && !looksLikeDiff(preview);
  const given = needed ? argumentLines(args, paint, argumentRows) : [];
  return {
    above: [...begin, ...folded(preview, begin.length, terminal), ...given],
    line: withRoom(`[y]es [n]o${lasting[asked]}, or say what to do instead`, width),
    keys: Object.fromEntries(Object.entries(answers).filter(([key]) => asked.includes(key.charAt(0)))),
    words(said) {
      if (said.length > 3 && wordsIn(said) > 1) return { value: { answer: 'feedback', text: said } };
      terminal.print(paint.dim(`${[...asked].join(', ')}, or say in a few words what to do instead`));
      return undefined;
    },
    whole: () => [...argumentLines(args, paint, Infinity), ...diffLines(preview, paint)],
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
  const given = argumentLines(args, paint, argumentRows);
  const none = [paint.dim('  (no arguments)')];
  return [...wrapped(head, width).split('\n'), ...(given.length > 0 ? given : none)];
}

/** Also of languages that write no spaces. */
const wordsIn = (text: string): number =>
  [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter((word) => word.isWordLike)
    .length;

/**
 * As much of a preview as fits below what stands above it, and above the question: of a long diff first goes what
 * stays the same, then its end.
 */
function folded(preview: string, above: number, { paint, width, height }: Terminal): string[] {
  if (preview === '') return [];
  const room = Math.max(previewRows.least, Math.min(previewRows.most, height - 5 - above));
  const lines = preview.split('\n').map((line) => foldLine(line));
  const rows = lines.map((line) => Math.max(1, Math.ceil(cells(line) / width)));
  const isLong = rows.reduce((sum, each) => sum + each, 0) > room;
  const isChange = (at: number) => /^[-+](?!-- |\+\+ )/.test(lines[at] ?? '');
  const shown: string[] = [];
  let left = room;
  for (const [at, line] of diffLines(lines.join('\n'), paint).entries()) {
    if (isLong && lines[at]?.startsWith(' ') && !isChange(at - 1) && !isChange(at + 1)) continue;
    left -= rows[at] ?? 1;
    if (left < 0 && shown.length > 0)
      return [...shown, paint.dim(`… ${lines.length - at} more lines: /show`)];
    shown.push(line);
  }
  return shown;
}

/** A question with room for an answer: where its last row leaves too little, that begins a row of its own. */
function withRoom(question: string, width: number): string {
  const last = wrapped(question, width - 1).replace(/^[^]*\n/, '');
  return width - 1 - cells(last) < answerColumns ? `${question}\n> ` : question;
}
