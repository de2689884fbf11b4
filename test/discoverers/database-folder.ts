import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Someone {
  uid: number;
  gid: number;
}

/** Database servers refuse to run as root, so root runs them as nobody. */
export function someoneElse(): Someone | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string) => Number(spawnSync('id', [option, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/** A new temporary folder in which a server may write. */
export function serverHome(prefix: string, who: Someone | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  if (who) chownSync(folder, who.uid, who.gid);
  return folder;
}
