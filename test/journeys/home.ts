import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inherited, type ServerOptions } from '../support/server.ts';
import { commandOf, endNow, withEnvironment } from './process-table.ts';

/** A person with a home folder of their own: settings, state, cache and temporary files, and one project. */
export interface Home {
  readonly project: string;
  /** Everything is in it. */
  readonly folder: string;
  readonly options: ServerOptions & { env: Record<string, string> };
  /** Writes their settings file. */
  configure(settings: object): void;
  /** Files below a folder of the home; [] when it is not there. */
  files(...path: string[]): string[];
  /** Processes that were started for this home, by servers that may be gone. */
  programs(): string[];
  end(): void;
}

/** Makes one; end it. Programs of it are known by its path, which is their HOME. */
export function makeHome(settings: object = {}, args: readonly string[] = []): Home {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-home-')));
  const inside = (...path: string[]) => join(folder, ...path);
  for (const name of ['project', 'home', 'temporary', 'config/toolcrib'])
    mkdirSync(inside(name), { recursive: true, mode: 0o700 });
  const env = {
    ...inherited(),
    HOME: inside('home'),
    SHELL: '/bin/sh',
    TMPDIR: inside('temporary'),
    XDG_CONFIG_HOME: inside('config'),
    XDG_STATE_HOME: inside('state'),
    XDG_CACHE_HOME: inside('cache'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const ofThisHome = `HOME=${inside('home')}`;
  const configure = (content: object) =>
    writeFileSync(inside('config', 'toolcrib', 'config.json'), JSON.stringify(content));
  configure(settings);
  return {
    project: inside('project'),
    folder,
    options: { roots: [inside('project')], args, env },
    configure,
    files: (...path) =>
      existsSync(inside(...path))
        ? readdirSync(inside(...path), { recursive: true, withFileTypes: true })
            .filter((entry) => !entry.isDirectory())
            .map((entry) => join(entry.parentPath, entry.name).slice(inside(...path).length + 1))
        : [],
    programs: () => withEnvironment(ofThisHome).map(commandOf),
    end() {
      // After a test that has failed: what is left is nobody else's.
      for (const left of withEnvironment(ofThisHome)) endNow(left);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
