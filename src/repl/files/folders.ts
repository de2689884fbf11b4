import { posix, win32 } from 'node:path';
import { ChatError } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where the REPL keeps what the person writes (config) and what it writes itself (state). */
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
  const folder = (variable: string | undefined, ...otherwise: readonly string[]): string => {
    const named = variable && env[variable];
    if (named && isAbsolute(named)) return named;
    if (isAbsolute(home)) return join(home, ...otherwise);
    throw new ChatError(
      'CONFIG_INVALID',
      `No home folder is known. Set ${variable ?? 'HOME'} to an absolute path.`,
    );
  };
  if (platform === 'win32') {
    return {
      config: join(folder('APPDATA', 'AppData', 'Roaming'), 'toolcrib'),
      state: join(folder('LOCALAPPDATA', 'AppData', 'Local'), 'toolcrib', 'chat'),
    };
  }
  const config = join(folder('XDG_CONFIG_HOME', '.config'), 'toolcrib');
  const state =
    platform === 'darwin'
      ? join(folder(undefined, 'Library', 'Application Support'), 'toolcrib', 'chat')
      : join(folder('XDG_STATE_HOME', '.local', 'state'), 'toolcrib', 'chat');
  return { config, state };
}
