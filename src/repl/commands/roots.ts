import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { printable } from '../terminal/printable.ts';
import type { Command } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** /roots [add DIR | remove DIR] */
export const rootsCommand: Command = {
  name: 'roots',
  usage: '[add dir | remove dir]',
  help: 'the folders that servers may touch',
  complete: ({ chat }, [word]) =>
    word === 'remove' ? chat.roots : word === undefined ? ['add', 'remove'] : [],
  async run({ chat, terminal }, args) {
    const [, word, given] = /^(add|remove)\s+(.+)$/.exec(args) ?? [];
    if (args !== '' && given === undefined)
      throw wrongUse(`/roots ${args}: add DIR or remove DIR is expected.`);
    if (given !== undefined) {
      const folder = resolve(chat.roots[0] ?? chat.world.options.cwd, given.replace(/^~(?=\/|$)/, homedir()));
      if (word === 'add') {
        if (!(await stat(folder).catch(() => undefined))?.isDirectory())
          throw wrongUse(`/roots add: ${folder} is no folder.`);
        await chat.useRoots([...new Set([...chat.roots, folder])]);
      } else {
        if (!chat.roots.includes(folder)) throw wrongUse(`/roots remove: ${folder} is none of them.`);
        if (chat.roots.length === 1) throw wrongUse('/roots remove: it is the only one; add another first.');
        await chat.useRoots(chat.roots.filter((root) => root !== folder));
      }
    }
    terminal.print(chat.roots.map(printable).join('\n'));
    return undefined;
  },
};
