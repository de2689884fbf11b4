import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { askModelItself } from '../assemble.ts';
import { pickSession, resumed } from '../session-choice.ts';
import { exportJson, exportMarkdown } from '../session/export.ts';
import { searchSessions } from '../session/search.ts';
import { clean } from '../session/stored-parts.ts';
import { askYesOrNo } from '../person/is-yes.ts';
import { printable } from '../terminal/printable.ts';
import type { Command, Console } from './command.ts';
import { wordsOf, wrongUse } from './usage-error.ts';

/** /sessions, /resume, /name, /search, /export, /clean */
export const sessionCommands: readonly Command[] = [
  {
    name: 'resume',
    aliases: ['sessions'],
    usage: '[id or name | remove id]',
    help: 'goes on with another session of this project',
    complete: ({ chat }) => chat.world.store.list().map(({ id }) => id),
    async run({ chat, terminal }, args) {
      const { store } = chat.world;
      const [, doomed] = /^remove\s+(.+)$/.exec(args) ?? [];
      const wanted = doomed ?? args;
      const info = wanted === '' ? await pickSession(store, terminal, 'none of them') : store.find(wanted);
      if (!info) {
        if (wanted !== '')
          throw wrongUse(`There is no session "${wanted}" in this project; /resume lists them.`);
        return undefined;
      }
      if (info.id === chat.session.id) throw wrongUse('That is the session you are in.');
      if (doomed !== undefined) {
        const question = `Remove "${printable(info.name)}" for good? [y]es [n]o`;
        if (!(await askYesOrNo(terminal.ask, question))) return undefined;
        store.remove(info.file);
        return undefined;
      }
      chat.useSession(resumed(store, info, (text) => terminal.print(terminal.paint.warning(text))));
      await askModelItself(chat);
      terminal.print(terminal.paint.dim(`session ${printable(chat.session.name ?? info.name)}`));
      showEnd({ chat, terminal });
      return { next: 'resume' };
    },
  },
  {
    name: 'name',
    usage: '[name]',
    help: 'shows or changes the name of this session',
    run({ chat, terminal }, args) {
      if (args !== '') chat.session.append({ type: 'name', name: args, by: 'person' });
      terminal.print(printable(chat.session.name ?? 'It has no name yet.'));
      return undefined;
    },
  },
  {
    name: 'search',
    usage: '[--all] words',
    help: 'looks through all sessions of this project, or of all projects',
    run({ chat, terminal }, args) {
      const all = /^--all(?=\s|$)/.test(args);
      const query = args.replace(/^--all\s*/, '');
      const { found, incomplete } = searchSessions(chat.world.store, query, { limit: 20, all });
      const { dim, strong } = terminal.paint;
      for (const { session, role, excerpt } of found)
        terminal.print(
          `${strong(printable(session.name))} ${dim(`${session.modified.slice(0, 10)} ${session.id.slice(0, 8)} ${role}`)}\n  ${printable(excerpt)}`,
        );
      if (found.length === 0) terminal.print('Nothing was found.');
      if (incomplete) terminal.print(dim('There is more: it took too long to look through everything.'));
      return undefined;
    },
  },
  {
    name: 'export',
    usage: '[json | markdown] [file]',
    help: 'writes the conversation to a file, or shows it',
    complete: () => ['markdown', 'json'],
    run({ chat, terminal }, args) {
      const [first, ...rest] = wordsOf(args);
      const given = first === 'json' || first === 'markdown' ? first : undefined;
      const file = given ? rest.join(' ') : args;
      const text =
        (given ?? (file.endsWith('.json') ? 'json' : 'markdown')) === 'json'
          ? exportJson(chat.session)
          : exportMarkdown(chat.session);
      if (file === '') {
        terminal.print(printable(text));
        return undefined;
      }
      const path = resolve(chat.world.options.cwd, file);
      try {
        writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code;
        throw wrongUse(
          `/export: ${path} ${code === 'EEXIST' ? 'is there already; name another file' : `cannot be written (${code})`}.`,
        );
      }
      terminal.print(printable(path));
      return undefined;
    },
  },
  {
    name: 'clean',
    help: 'removes attachments that no session uses any more, and temporary sessions that are over',
    run({ chat, terminal }) {
      const { store, folders } = chat.world;
      const expired = store.removeExpired(Date.now());
      const { removed, bytes } = clean(join(folders.state, 'attachments'), store);
      terminal.print(`${removed} attachments (${bytes} bytes) and ${expired} sessions were removed.`);
      return undefined;
    },
  },
];

/** The end of what was said before, so that a person knows where they are. */
export function showEnd({ chat, terminal }: Pick<Console, 'chat' | 'terminal'>): void {
  const { dim } = terminal.paint;
  const said = chat.session
    .path()
    .filter(({ type }) => type === 'user' || type === 'assistant')
    .slice(-2);
  for (const entry of said) {
    const text =
      entry.type === 'user' ? `> ${entry.typed ?? ''}` : entry.type === 'assistant' ? entry.message.text : '';
    const lines = printable(text).trim().split('\n');
    if (text.trim() !== '')
      terminal.print(dim(lines.length > 6 ? `…\n${lines.slice(-6).join('\n')}` : lines.join('\n')));
  }
}
