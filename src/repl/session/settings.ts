import type { Mode } from '../turn/turn-event.ts';
import type { Entry } from './entry.ts';

export interface Chosen {
  readonly mode?: Mode | undefined;
  readonly model?: string | undefined;
}

/** What the person has set, as the entries of a session say it, on whichever branch. */
export interface Settings {
  readonly own: Chosen;
  /** Taken into use by name; null: none, whatever is configured. */
  readonly profile?: string | null;
  /** Set since the profile was. */
  readonly since: Chosen;
  readonly roots?: readonly string[];
  readonly system?: string | null;
  readonly name?: string;
}

export const noSettings: Settings = { own: {}, since: {} };

/** The settings with one entry more. What a profile changes goes with it; what was set by hand since stays. */
export function settle(settings: Settings, entry: Entry): Settings {
  switch (entry.type) {
    case 'mode':
    case 'model': {
      // Nothing but a flag switches questions off.
      const mode = entry.type === 'mode' && entry.mode === 'yolo' ? undefined : entry;
      const chosen = entry.type === 'mode' ? { mode: mode && entry.mode } : { model: entry.model };
      return { ...settings, own: { ...settings.own, ...chosen }, since: { ...settings.since, ...chosen } };
    }
    case 'profile':
      return { ...settings, profile: entry.name, since: {} };
    case 'roots':
      return { ...settings, roots: entry.roots };
    case 'system':
      return { ...settings, system: entry.text };
    case 'name':
      return { ...settings, name: entry.name };
    default:
      return settings;
  }
}

/** Entries about the session: they hang on nothing, and nothing hangs on them. */
export const isSetting = ({ type }: Pick<Entry, 'type'>): boolean =>
  ['mode', 'model', 'profile', 'roots', 'system', 'name'].includes(type);

/** What was set by hand, since a profile was taken into use. */
export const setByHand = ({ own, since, profile }: Settings): Chosen =>
  typeof profile === 'string' ? since : own;

/** The mode and the model that hold: a profile that was chosen wins over what was set before, a configured one not. */
export function chosenIn(settings: Settings, profile: Chosen | undefined, usualMode: Mode): Chosen {
  const { own } = settings;
  const set = setByHand(settings);
  const usual = own.mode ?? usualMode;
  return { mode: set.mode ?? profile?.mode ?? usual, model: set.model ?? profile?.model ?? own.model };
}
