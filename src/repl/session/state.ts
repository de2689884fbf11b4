import type { Mode } from '../turn/turn-event.ts';
import type { Entry } from './entry.ts';

/** What the person has chosen; what is undefined is as the configuration says. */
export interface State {
  readonly mode?: Mode;
  readonly model?: string;
  /** Null: none, whatever is configured. */
  readonly profile?: string | null;
  readonly roots?: readonly string[];
  readonly system?: string | null;
  readonly name?: string;
}

/** The state with one entry more, in the order in which they were made, on whichever branch; undefined for others. */
export function reduce(state: State, entry: Entry): State | undefined {
  switch (entry.type) {
    case 'mode':
      return { ...state, mode: entry.mode };
    case 'model':
      return { ...state, model: entry.model };
    case 'profile': {
      const { name: profile, mode, model } = entry;
      return { ...state, profile, ...(mode && { mode }), ...(model !== undefined && { model }) };
    }
    case 'roots':
      return { ...state, roots: entry.roots };
    case 'system':
      return { ...state, system: entry.text };
    case 'name':
      return { ...state, name: entry.name };
    default:
      return undefined;
  }
}
