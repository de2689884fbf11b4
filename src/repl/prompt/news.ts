import { surveyOf } from '../context/survey.ts';
import type { Session } from '../session/session.ts';
import type { Mode } from '../turn/turn-event.ts';
import { environmentOf, noteOfChange, type Environment } from './environment.ts';
import { readInstructions, type Instructions, type Places } from './instructions.ts';

/** What the model is told of its surroundings beside what the person says. */
export class News {
  /** The instructions that the system prompt has: they stay, and changes are told in a message, so that caches hold. */
  first: Instructions | undefined;
  #instructions: Instructions | undefined;
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

  /** Reads the instructions where they have changed; returns all there are now. */
  async read(places: Places): Promise<Instructions> {
    this.#instructions = await readInstructions(places, this.#instructions);
    this.first ??= this.#instructions;
    return this.#instructions;
  }

  /** What has changed since the model was last told, to be said with the next message. */
  async next(places: Places, mode: Mode, session: Session): Promise<string | undefined> {
    const instructions = await this.read(places);
    const now = environmentOf({ roots: places.roots, mode, instructions, date: new Date() });
    // After /clear, /branch or a summary, it may not be there any more.
    const known = this.#told?.notes.every(canBeRead(session)) ? this.#told : undefined;
    const change = noteOfChange(known?.environment, now, this.first?.files);
    const changes = change === undefined ? [] : [change];
    this.#told = { environment: now, notes: [...(known?.notes ?? []), ...changes] };
    const all = [...changes, ...this.#notes];
    this.#notes = [];
    return all.length === 0 ? undefined : all.join('\n');
  }
}

/** Whether a note that was told is still among what the model is sent. */
function canBeRead(session: Session): (note: string) => boolean {
  const path = session.path();
  const sent = path.slice(surveyOf(path).start);
  const texts = sent.flatMap((entry) => (entry.type === 'user' ? entry.content : []));
  return (note) => texts.some((part) => part.type === 'text' && part.text.includes(note));
}
