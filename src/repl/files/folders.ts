import { posix, win32 } from 'node:path';
import { ChatError } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where the chat keeps what the person writes (config) and what it writes itself (state). */
export interface ChatFolders {
  readonly config: string;
  readonly state: string;
}

/**
 * The folders of this person on a platform: XDG on Linux; ~/.config and ~/Library/Application Support on macOS;
 * %APPDATA% and %LOCALAPPDATA% on Windows. A relative path in a variable is ignored, as the XDG rules say. Throws
 * CONFIG_INVALID when no absolute path can be made of what is known.
 */
export function chatFolders(env: Env, platform: NodeJS.Platform, home: string): ChatFolders {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const folder = (variable: string, usual: string): string => {
    const named = env[variable];
    if (named && isAbsolute(named)) return join(named, 'toolcrib');
    if (isAbsolute(home)) return join(home, usual, 'toolcrib');
    throw new ChatError('CONFIG_INVALID', `No home folder is known. Set ${variable} to an absolute path.`);
  };
  const [config, state] =
    platform === 'win32'
      ? [folder('APPDATA', 'AppData/Roaming'), folder('LOCALAPPDATA', 'AppData/Local')]
      : [folder('XDG_CONFIG_HOME', '.config'), folder('XDG_STATE_HOME', '.local/state')];
  const own = platform === 'darwin' ? join(home, 'Library/Application Support/toolcrib') : state;
  return { config, state: join(own, 'chat') };
}
