import { sentOf } from '../context/view.ts';
import type { Session } from '../session/session.ts';
import type { Mode } from '../turn/turn-event.ts';
import { readInstructions, type InstructionFile, type Places } from './instructions.ts';

/** What the model has to know of its surroundings, and which may change while it works. */
interface Environment {
  /** Day, month and year where the person is. */
  readonly date: string;
  readonly mode: Mode;
  /** Absolute paths that tools may work in. */
  readonly roots: readonly string[];
  readonly instructions: readonly InstructionFile[];
}

/** What the model is told of its surroundings beside what the person says. */
export class News {
  /** The instructions that the system prompt has: they stay, and changes are told in a message, so that caches hold. */
  first: readonly InstructionFile[] | undefined;
  /** What was told, and in which words: the model knows it as long as it can still read them all. */
  #told: { readonly environment: Environment; readonly notes: readonly string[] } | undefined;
  #notes: string[] = [];

  /** Is told to the model with the next message. */
  tell(note: string): void {
    this.#notes.push(note);
  }

  /** Another conversation begins. */
  forget(): void {
    this.first = this.#told = undefined;
    this.#notes = [];
  }

  /** The instructions there are now. */
  async read(places: Places): Promise<readonly InstructionFile[]> {
    const files = await readInstructions(places);
    this.first ??= files;
    return files;
  }

  /** What has changed since the model was last told, to be said with the next message. */
  async next(places: Places, mode: Mode, session: Session): Promise<string | undefined> {
    const instructions = await this.read(places);
    const now = { date: new Date().toLocaleDateString('sv'), mode, roots: places.roots, instructions };
    // After /clear, /branch or a summary, it may not be there any more.
    const sent = JSON.stringify(sentOf(session.path()));
    const isKnown = this.#told?.notes.every((note) => sent.includes(JSON.stringify(note).slice(1, -1)));
    const known = isKnown ? this.#told : undefined;
    const changes = changesIn(known?.environment, now, this.first ?? instructions);
    const change = changes.length === 0 ? [] : [['<environment>', ...changes, '</environment>'].join('\n')];
    this.#told = { environment: now, notes: [...(known?.notes ?? []), ...change] };
    const all = [...change, ...this.#notes];
    this.#notes = [];
    return all.length === 0 ? undefined : all.join('\n');
  }
}

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

/** What has changed; without a `previous`, everything but the instructions that the system prompt has. */
function changesIn(
  previous: Environment | undefined,
  now: Environment,
  prompted: readonly InstructionFile[],
): string[] {
  const before = previous?.instructions ?? prompted;
  const rootsBefore = previous?.roots ?? [];
  const added = now.roots.filter((root) => !rootsBefore.includes(root)).join(', ');
  const removed = rootsBefore.filter((root) => !now.roots.includes(root)).join(', ');
  const isThere = ({ path }: InstructionFile) => now.instructions.some((file) => file.path === path);
  const gone = before.filter((file) => !isThere(file)).map(({ path }) => path);
  const fresh = now.instructions.filter(({ text }) => !before.some((file) => file.text === text));
  return [
    previous?.date !== now.date && `Today is ${now.date}.`,
    previous?.mode !== now.mode && modeTexts[now.mode],
    added !== '' && `Tools can work in these folders${previous ? ' now, too' : ''}: ${added}.`,
    removed !== '' && `Tools can no longer work in these folders: ${removed}.`,
    gone.length > 0 && `These instructions no longer hold: ${gone.join(', ')}.`,
    fresh.length > 0 && 'These instructions are new or have changed:',
    ...fresh.map(({ text }) => text),
  ].filter((line) => line !== false);
}
