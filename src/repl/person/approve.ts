import type { ApprovalAnswer, CheckedCall } from '../approval/rules.ts';
import type { Paint } from '../terminal/paint.ts';
import { escaped, inLine, cutToCells } from '../terminal/printable.ts';
import { wrapped } from '../terminal/rows.ts';
import { counted, diffLines, looksLikeDiff } from '../terminal/show.ts';
import type { UserQuestion } from '../terminal/question.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Rows of a preview at least, and of each argument; `/show` prints all. */
const leastPreviewRows = 10;
const argumentRows = 12;

/**
 * The question about a call: what would be done, why it is asked about, and where; then what would come of
 * it.
 */
export function approvalOf(call: CheckedCall, why: string, terminal: Terminal): UserQuestion<ApprovalAnswer> {
  const { paint, width, height } = terminal;
  const { plan, args } = call;
  // Nothing in it may look like something else, or like nothing.
  const preview = escaped(plan?.preview?.trimEnd() ?? '');
  const head = headOf(call, why, paint).flatMap((line) => wrapped(line, width).split('\n'));
  const { offered, kinds } = lastingOf(call, why);
  const room = Math.max(leastPreviewRows, height - 5 - head.length);
  const shown = preview === '' ? [] : diffLines(folded(preview, room, width).join('\n'), paint);
  // Of a new file, there is nothing that a preview could compare.
  const isTold = plan && (plan.decision === 'ask' || isRuled(why) || looksLikeDiff(preview));
  return {
    above: [...head, ...shown, ...(isTold ? [] : argumentLines(args, paint, width))],
    line: `[y]es [n]o${offered}, or say what to do instead`,
    keys: { y: 'once', yes: 'once', n: 'no', no: 'no', ...kinds },
    words: (said) =>
      said.length > 3 && wordsIn(said) > 1
        ? { value: { instead: said } }
        : {
            problem:
              `${['y', 'n', ...Object.keys(kinds)].join(', ')}, or say in a few words what ` +
              'to do instead',
          },
    whole: () => [...argumentLines(args, paint, Infinity), ...diffLines(preview, paint)],
  };
}

/** The answers that hold for longer. */
function lastingOf({ plan }: CheckedCall, why: string) {
  // Where a rule says that it is asked, no answer makes it otherwise.
  if (isRuled(why)) return { offered: '', kinds: {} };
  if (plan?.decision === 'ask') {
    const { trust, always } = plan.offers;
    const choices = [
      ...(trust === undefined ? [] : [' [t]rust the folder']),
      ...(always === undefined ? [] : [` [a]lways ${inLine(always)}`]),
    ];
    return {
      offered: choices.join(''),
      kinds: {
        ...(trust !== undefined && { t: 'trust' as const }),
        ...(always !== undefined && { a: 'always' as const }),
      },
    };
  }
  const kinds = { s: 'session', t: 'tool', m: 'server' } as const;
  return { offered: ', this tool [s] until the end or [t] always, [m] its server always', kinds };
}

const isRuled = (why: string): boolean => why.startsWith('rule: ask');

/** Heads a question in the words of our own server, where it asks; for another server, with its tool. */
function headOf({ tool, args, plan }: CheckedCall, why: string, paint: Paint): string[] {
  if (!plan) {
    const none = Object.keys(args).length === 0 ? [paint.dim('  (no arguments)')] : [];
    const title = paint.tool(inLine(`${tool.server}: ${tool.tool}`));
    return [`${paint.warning('?')} ${title}${paint.dim(`  ${inLine(why)}`)}`, ...none];
  }
  const usual = isRuled(why) ? '' : `It ${why}.`;
  const [act = plan.subject, reason = usual, where = `in ${plan.folder}`] = plan.question?.split('\n') ?? [];
  const because = isRuled(why) ? `${reason} (${why})`.trim() : reason;
  const more = [because, where].map((line) => paint.dim(`  ${inLine(line)}`));
  return [`${paint.warning('?')} ${paint.tool(inLine(act))}`, ...more];
}

/** Counts words, also of languages that write no spaces. */
const wordsIn = (text: string): number =>
  [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter((word) => word.isWordLike)
    .length;

/** Cuts a text to so many rows: what stands above it has to stay in sight. */
function folded(text: string, most: number, width: number): string[] {
  const lines = text.split('\n');
  if (most === Infinity || width === Infinity) return lines;
  const kept = lines.slice(0, most).map((line) => cutToCells(line.replaceAll('\t', '    '), width - 1));
  if (lines.length > most) return [...kept, `… ${counted(lines.length - most, 'more line')}: /show`];
  return kept.some((line) => line.endsWith('…')) ? [...kept, '… whole lines: /show'] : kept;
}

/**
 * The arguments, one below the other; behind a bar, text of several lines cannot look like another argument.
 */
function argumentLines(args: CheckedCall['args'], paint: Paint, width: number): string[] {
  return Object.entries(args).flatMap(([key, value]) => {
    const json = JSON.stringify(value) ?? '';
    const long = json.length <= 80 ? json : JSON.stringify(value, null, 2);
    const text = escaped(typeof value === 'string' ? value : long);
    const name = `  ${paint.strong(cutToCells(inLine(key), width / 2))}:`;
    const isShort = !text.includes('\n') && text.length < 4 * width;
    if (isShort) return [`${name} ${text === text.trim() && text !== '' ? text : `"${text}"`}`];
    const size = paint.dim(
      ` (${counted(text.split('\n').length, 'line')}, ${counted(text.length, 'character')})`,
    );
    const lines = folded(text, width === Infinity ? Infinity : argumentRows, width - 4);
    return [name + size, ...lines.map((line) => `  ${paint.dim('│')} ${line}`)];
  });
}
