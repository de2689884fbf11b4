import { posix, win32 } from 'node:path';
import { ChatError } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where the REPL keeps what the person writes (config) and what it writes itself (state). */
export interface ChatFolders {
  readonly config: string;
  readonly state: string;
}

/** By platform: the variable that says where such folders are, and where they are without it. */
const places = {
  config: { usual: ['XDG_CONFIG_HOME', '.config'], win32: ['APPDATA', 'AppData/Roaming'] },
  state: { usual: ['XDG_STATE_HOME', '.local/state'], win32: ['LOCALAPPDATA', 'AppData/Local'] },
} as const;
const macState = ['', 'Library/Application Support'] as const;

/**
 * The folders of this person on a platform: XDG on Linux; ~/.config and ~/Library/Application Support on macOS;
 * %APPDATA% and %LOCALAPPDATA% on Windows. A relative path in a variable is ignored, as the XDG rules say. Throws
 * CONFIG_INVALID when no absolute path can be made of what is known.
 */
export function chatFolders(env: Env, platform: NodeJS.Platform, home: string): ChatFolders {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const kind = platform === 'win32' ? 'win32' : 'usual';
  const folder = ([variable, usual]: readonly [string, string]): string => {
    const named = env[variable];
    if (named && isAbsolute(named)) return join(named, 'toolcrib');
    if (isAbsolute(home)) return join(home, usual, 'toolcrib');
    throw new ChatError(
      'CONFIG_INVALID',
      `No home folder is known. Set ${variable || 'HOME'} to an absolute path.`,
    );
  };
  const state = platform === 'darwin' ? macState : places.state[kind];
  return { config: folder(places.config[kind]), state: join(folder(state), 'chat') };
}
