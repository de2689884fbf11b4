import type { Mode } from '../turn/turn-event.ts';
import type { InstructionFile, Instructions } from './instructions.ts';

/** What the model has to know of its surroundings, and which may change while it works. */
export interface Environment {
  /** Day, month and year where the person is. */
  readonly date: string;
  readonly mode: Mode;
  /** Absolute paths that tools may work in. */
  readonly roots: readonly string[];
  readonly instructions: readonly InstructionFile[];
}

interface Surroundings {
  readonly roots: readonly string[];
  readonly mode: Mode;
  readonly instructions: Instructions;
  readonly date: Date;
}

export function environmentOf({ roots, mode, instructions, date }: Surroundings): Environment {
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return { date: day, mode, roots, instructions: instructions.files };
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

const modeTexts: Readonly<Record<Mode, string>> = {
  plan: [
    'Plan mode: only tools that read are offered, and nothing may be changed. Look into the matter, ask what is',
    'unclear, and hand in a plan with exit_plan: what is to be changed, where, in which order, and how it is checked.',
    'Plan mode ends when the person approves it.',
  ].join(' '),
  ask: 'Mode ask: all tools can be used; the person is asked about calls that change something.',
  auto:
    'Mode auto: all tools can be used; the person is asked only about calls that may destroy something or reach ' +
    'out.',
  yolo: 'Mode yolo: all tools can be used, and nobody is asked. Be all the more careful.',
};

/**
 * What to tell the model with the next message: what has changed since the last one, with the instructions of
 * folders that came. Without a `previous` everything but the instructions that the system prompt has. Undefined
 * when nothing is new.
 */
export function noteOfChange(
  previous: Environment | undefined,
  now: Environment,
  prompted: Environment['instructions'] = now.instructions,
): string | undefined {
  const before: Pick<Environment, 'roots' | 'instructions'> = previous ?? {
    roots: [],
    instructions: prompted,
  };
  const lines: string[] = [];
  if (previous?.date !== now.date) lines.push(`Today is ${now.date}.`);
  if (previous?.mode !== now.mode) lines.push(modeTexts[now.mode]);
  const added = now.roots.filter((root) => !before.roots.includes(root));
  const removed = before.roots.filter((root) => !now.roots.includes(root));
  if (added.length > 0)
    lines.push(
      `Tools can work in ${previous ? 'these folders now, too' : 'these folders'}: ${added.join(', ')}.`,
    );
  if (removed.length > 0) lines.push(`Tools can no longer work in these folders: ${removed.join(', ')}.`);
  const gone = before.instructions.filter(({ path }) => !now.instructions.some((file) => file.path === path));
  const fresh = now.instructions.filter(
    (file) => !before.instructions.some(({ path, hash }) => path === file.path && hash === file.hash),
  );
  if (gone.length > 0)
    lines.push(`These instructions no longer hold: ${gone.map(({ path }) => path).join(', ')}.`);
  if (fresh.length > 0)
    lines.push('These instructions are new or have changed:', ...fresh.map(({ text }) => text));
  return lines.length === 0 ? undefined : `<environment>\n${lines.join('\n')}\n</environment>`;
}
