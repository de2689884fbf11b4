import { readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settings } from '../core/settings.ts';
import { stateFolder } from '../machine/folders.ts';
import { thisHost } from '../machine/host.ts';
import type { Opening } from '../server/first-answers.ts';
import { noteHost, type NotedHost } from '../server/noted-host.ts';
import { start } from '../server/start.ts';
import { configFile } from './config.ts';
import { ownProgramFolder } from './here.ts';
import { servedSettings } from './served-settings.ts';
import { exitCodeOf, UsageError } from './usage.ts';

/** `toolcrib serve`: ends when the host closes our input, or with a signal. Goes on after what was answered already. */
export async function serveCommand(args: string[], opening?: Opening): Promise<number> {
  return exitCodeOf(async () => {
    // Not in the help: our own host writes its key into a pipe, where no other process can see it.
    const keyed = args.find((arg) => arg.startsWith(keyOption));
    const noted = noteHost(thisHost());
    noted.noteFile(configFile());
    const answered = opening?.listed !== undefined;
    const settings = await servedSettings(
      args.filter((arg) => arg !== keyed),
      { answered },
    );
    noteSettings(noted, settings);
    const programs = ownProgramFolder();
    if (keyed === undefined) await start(settings, noted, { opening, programs });
    else {
      // That host asks, whatever the operator says of others.
      const key = keyIn(Number(keyed.slice(keyOption.length)));
      await start({ ...settings, questions: 'server' }, noted, { key, programs });
    }
    return 0;
  });
}

/** What a start depends on beside the programs. */
function noteSettings({ host, noteFile, noteFolder }: NotedHost, { roots, folders }: Settings): void {
  for (const folder of [...roots, ...Object.keys(folders)]) noteFolder(resolve(folder));
  for (const root of roots) noteFile(resolve(root, '.toolcrib.json'));
  const state = stateFolder(host.platform, host.env, host.home);
  if (state !== undefined) noteFile(join(state, 'trust'));
}

/** The descriptor of a pipe, such as standard input, whose first line holds the key of the host that asks its user. */
const keyOption = '--key-fd=';

function keyIn(pipe: number): string {
  const byte = Buffer.alloc(1);
  let line = '';
  // One by one: what follows on standard input is for the server.
  while (line.length < longestLine && readSync(pipe, byte) === 1 && byte[0] !== 10)
    line += byte.toString('latin1');
  const key = /[0-9a-f]{64}/.exec(line)?.[0];
  if (key === undefined) throw new UsageError(`${keyOption}${pipe}: there is no key in it.`);
  return key;
}

const longestLine = 1000;
