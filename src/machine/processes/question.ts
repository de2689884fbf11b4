import { setTimeout as sleep } from 'node:timers/promises';
import { presentable } from '../presentable.ts';
import type { Waiting } from './process-waiting.ts';
import { editorOpens, menuHint, questionForms, type Certainty } from './question-patterns.ts';

/** As much of the end of an output as a question with its choices takes. */
const tailBytes = 2000;
/** A line that is longer was not written for a person to answer. */
const longestQuestion = 400;
const menuLines = 15;

/**
 * The question a program's output ends with, as one line that is safe to show; undefined when it ends with none that is as
 * certain as `least`. Pure.
 */
export function questionIn(output: string, least: Certainty = 'prompt'): string | undefined {
  const lines = presentable(output.slice(-tailBytes)).split('\n');
  const last = oneOfMany((lines.at(-1) ?? '').trim());
  const forms = questionForms[least];
  if (last !== '' && last.length <= longestQuestion && forms.some((form) => form.test(last))) return last;
  const menu = lines.slice(-menuLines).findLast((line) => menuHint.test(line));
  const question = menu?.trim();
  // Choices follow, and nothing else: a log that mentions arrow keys has gone on since.
  return question !== undefined && /^\W/.test(question) && isMenu(lines, menu ?? '') ? question : undefined;
}

/** A question that nobody answers may be put again and again, all on one line. */
function oneOfMany(line: string): string {
  for (let length = 4; length <= Math.min(longestQuestion, line.length / 2); length++) {
    const piece = line.slice(-length);
    if (line.slice(-2 * length, -length) === piece) return piece.trim();
  }
  return line;
}

const isMenu = (lines: readonly string[], menu: string): boolean =>
  lines
    .slice(lines.lastIndexOf(menu) + 1)
    .every((line) => line.trim() === '' || /^\s*(?:[^\w\s]|\s\s)/u.test(line));

/** How long a program has to be silent after a question before it is taken to wait. */
const silenceMs = 2000;
/** Over this time, a program that waits uses (nearly) no processor. */
const idleMs = 300;
const mostTicks = 3;
/** An editor stands still for 2 s after such a warning before it does what it was told in its arguments, and may end. */
const editorSilenceMs = 6000;
/** One that asks again and again is never silent: it is taken to ask when the same was found this often, 2 s apart. */
const mostRepeats = 3;

export interface QuestionWatch {
  /** What was printed, as it comes. */
  saw(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** The question that stands at the end of the output now. */
  question(): string | undefined;
  /** The question was answered: what was printed before is no question any more. */
  answered(): void;
  end(): void;
}

/**
 * Watches what a program prints, and calls `onQuestion`, once, when it waits for an answer. Its input is closed then, and
 * most that is silent after a question works, or waits for something else. So `waiting`, which tells what it does, has to
 * say that it reads; where that cannot be seen, only what is surely a question counts, and that it uses no processor.
 */
export function watchForQuestion(
  onQuestion: ((question: string) => void) | undefined,
  waiting: () => Promise<Waiting | undefined>,
): QuestionWatch {
  const tails: Record<'stdout' | 'stderr', Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  let lastStream: 'stdout' | 'stderr' = 'stdout';
  let lastAt = 0;
  let seen = 0;
  let repeats = 0;
  let repeated: string | undefined;
  let over = onQuestion === undefined;
  let timer: NodeJS.Timeout | undefined;

  const question = (least?: Certainty) => {
    const other = lastStream === 'stdout' ? 'stderr' : 'stdout';
    return questionIn(tails[lastStream].toString(), least) ?? questionIn(tails[other].toString(), least);
  };
  const again = (ms: number) => {
    if (!over) timer = setTimeout(() => void look(), ms);
  };
  /** What it does, when it prints and computes nothing. */
  const idle = async () => {
    const [before, seenBefore] = [await waiting(), seen];
    await sleep(idleMs);
    const after = await waiting();
    const used = before && after ? after.ticks - before.ticks : 0;
    return seen === seenBefore && used <= mostTicks ? { reads: after?.reads } : undefined;
  };
  const isAsking = async (isSure: boolean) => {
    const still = await idle();
    return still !== undefined && (still.reads ?? isSure);
  };

  async function look(): Promise<void> {
    timer = undefined;
    const silentFor = performance.now() - lastAt;
    const asked = question('likely');
    const sure = question('sure');
    repeats = sure === undefined ? 0 : sure === repeated ? repeats + 1 : 1;
    repeated = sure;
    const editor = editorOpens.exec(presentable(tails.stderr.toString()))?.[0];
    if (asked === undefined && editor === undefined) {
      if (silentFor < silenceMs) again(silenceMs - silentFor);
      return;
    }
    const isSilent = silentFor >= silenceMs;
    if (isSilent) repeats = 0;
    const waits =
      asked !== undefined && (isSilent ? await isAsking(sure !== undefined) : repeats >= mostRepeats);
    const isOpen = !waits && editor !== undefined && silentFor >= editorSilenceMs && (await idle());
    if (over) return;
    const says = waits ? asked : isOpen ? editor : undefined;
    if (says === undefined) return again(silenceMs);
    over = true;
    onQuestion?.(says);
  }

  return {
    saw(stream, chunk) {
      seen++;
      lastAt = performance.now();
      lastStream = stream;
      tails[stream] = lastOf(tails[stream], chunk);
      if (timer === undefined) again(silenceMs);
    },
    question: () => question(),
    answered() {
      tails.stdout = tails.stderr = Buffer.alloc(0);
    },
    end() {
      over = true;
      clearTimeout(timer);
    },
  };
}

/** A copy, so that the chunks it came from can be freed. */
function lastOf(before: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= tailBytes) return Buffer.from(chunk.subarray(chunk.length - tailBytes));
  const joined = Buffer.concat([before, chunk]);
  return joined.length <= tailBytes ? joined : joined.subarray(joined.length - tailBytes);
}
