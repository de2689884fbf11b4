import { sentOf } from '../context/view.ts';
import type { ContentPart } from '../message.ts';
import type { ChatSession } from '../session/session.ts';
import type { Mode } from '../turn/turn-event.ts';
import { readInstructions, type InstructionFile, type InstructionLocations } from './instructions.ts';

/** The changes of its environment that the model is told of, beside what the person says. */
export class ContextUpdates {
  /**
   * The instructions that the system prompt has: they stay, and changes are told in a message, so that caches
   * hold.
   */
  systemInstructions: readonly InstructionFile[] | undefined;
  private notes: string[] = [];

  /** Is told to the model with the next message. */
  add(note: string): void {
    this.notes.push(note);
  }

  /** Begins another conversation. */
  reset(): void {
    this.systemInstructions = undefined;
    this.notes = [];
  }

  /** The instructions there are now. */
  async read(places: InstructionLocations): Promise<readonly InstructionFile[]> {
    const files = await readInstructions(places);
    this.systemInstructions ??= files;
    return files;
  }

  /**
   * Returns the parts that the next message begins with: its environment, unless the model still has them
   * before it as they are now.
   */
  async nextParts(places: InstructionLocations, mode: Mode, session: ChatSession): Promise<ContentPart[]> {
    const now = environmentText(await this.read(places), {
      places,
      mode,
      prompted: this.systemInstructions ?? [],
    });
    // After /clear, /branch or a summary, they may not be there any more.
    const last = sentOf(session.path()).findLast(
      (entry) => entry.type === 'user' && isEnvironmentPart(entry.content[0]),
    );
    const previous = last?.type === 'user' && last.content[0];
    const isKnown = previous && previous.type === 'text' && previous.text === now;
    const notes = this.notes.splice(0);
    const texts = [...(isKnown ? [] : [now]), ...notes];
    return texts.map((text) => ({ type: 'text', text }));
  }
}

const begin = '<environment>';
const isEnvironmentPart = (part: ContentPart | undefined): boolean =>
  part?.type === 'text' && part.text.startsWith(begin);

const modeTexts: Readonly<Record<Mode, string>> = {
  plan: [
    'Plan mode: only tools that read are offered, and nothing may be changed. Look into the matter, ' +
      'ask what is',
    'unclear, and hand in a plan with exit_plan: what is to be changed, where, in which order, and ' +
      'how it is checked.',
    'Plan mode ends when the person approves it.',
  ].join(' '),
  ask: 'Mode ask: all tools can be used; the person is asked about calls that change something.',
  auto:
    'Mode auto: all tools can be used; the person is asked only about calls that may destroy ' +
    'something or reach ' +
    'out.',
  yolo: 'Mode yolo: all tools can be used, and nobody is asked. Be all the more careful.',
};

/**
 * All that may change while the model works; of the instructions, those that the system prompt has otherwise.
 */
function environmentText(
  files: readonly InstructionFile[],
  {
    places,
    mode,
    prompted,
  }: { places: InstructionLocations; mode: Mode; prompted: readonly InstructionFile[] },
): string {
  const gone = prompted.filter(({ path }) => !files.some((file) => file.path === path));
  const fresh = files.filter(({ text }) => !prompted.some((file) => file.text === text));
  return [
    begin,
    `Today is ${new Date().toLocaleDateString('sv')}.`,
    modeTexts[mode],
    `Tools can work in these folders, and nowhere else: ${places.roots.join(', ')}.`,
    gone.length > 0 && `These instructions no longer hold: ${gone.map(({ path }) => path).join(', ')}.`,
    fresh.length > 0 && 'These instructions are new or have changed:',
    ...fresh.map(({ text }) => text),
    '</environment>',
  ]
    .filter((line) => line !== false)
    .join('\n');
}
