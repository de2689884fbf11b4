import { stat } from 'node:fs/promises';
import { listModels } from '../models/endpoints.ts';
import { nameOf } from '../models/model.ts';
import { absolute } from '../prompt/attachments.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach, table } from '../terminal/table.ts';
import {
  editedBy,
  headAndRest,
  misused,
  prose,
  sending,
  wrongUse,
  type Commands,
  type Console,
  type Result,
} from './command.ts';

export const setupCommands: Commands = {
  model: {
    usage: '[NAME | NAME: MESSAGE]',
    help: 'shows the models, changes to one, or asks one a single question',
    sends: true,
    complete: ({ chat }) => listModels(chat.world.config, chat.world.options.env).map(({ name }) => name),
    async run({ chat, terminal }, args) {
      const { modelOf } = chat.world;
      const [, once, text = ''] = /^(\S+):\s+([^]+)$/.exec(args) ?? [];
      if (once !== undefined) return sending(chat, { text }, modelOf(once));
      if (args === '') return modelList(chat, terminal.width);
      chat.useModel(modelOf(args));
      await chat.askModel();
      chat.session.append({ type: 'model', model: nameOf(chat.model) });
      return terminal.paint.dim(`model ${printable(nameOf(chat.model))}`);
    },
  },
  roots: {
    usage: '[add DIR | remove DIR]',
    help: 'the folders that servers may touch',
    complete: ({ chat }, [word]) => (word === 'remove' ? chat.roots : []),
    run: roots,
  },
  system: {
    usage: '[show | edit | preview]',
    help: "the system prompt of this session; preview: with instructions and the servers' own",
    run: system,
  },
  profile: {
    usage: '[NAME | none]',
    help: 'shows the profiles, or takes one into use',
    complete: async ({ chat }) => [...(await chat.world.profiles()).keys()],
    async run({ chat, terminal }, args) {
      if (args === '') return profileList(chat, terminal.width);
      await chat.useProfile(args === 'none' ? undefined : args);
      const model = printable(nameOf(chat.model));
      return terminal.paint.dim(`profile ${args}, mode ${chat.mode}, model ${model}`);
    },
  },
};

type Chat = Console['chat'];

function modelList({ model, world }: Chat, width: number): string {
  const rows = listModels(world.config, world.options.env).map(({ name, note }): [string, string] => [
    // An alias is shown with what it stands for.
    [name, note].includes(nameOf(model)) ? `* ${name}` : `  ${name}`,
    note,
  ]);
  const head = `${printable(nameOf(model))}, a window of ${model.capabilities.contextWindow} tokens`;
  return [head, ...oneLineEach(rows, width)].join('\n');
}

async function roots({ chat }: Console, args: string): Promise<Result> {
  const [word, given] = headAndRest(args);
  const before = chat.roots;
  const folder = absolute(given, before[0] ?? chat.world.options.cwd);
  if (args !== '' && given === '') return misused;
  if (word === 'add') {
    if (!(await stat(folder).catch(() => undefined))?.isDirectory())
      throw wrongUse(`/roots add: ${folder} is no folder.`);
    await chat.useRoots([...new Set([...before, folder])]);
  } else if (word === 'remove') {
    if (!before.includes(folder)) throw wrongUse(`/roots remove: ${folder} is none of them.`);
    if (before.length === 1) throw wrongUse('/roots remove: it is the only one; add another first.');
    await chat.useRoots(before.filter((root) => root !== folder));
  } else if (args !== '') return misused;
  return chat.roots.map(printable).join('\n');
}

async function system(console: Console, args: string): Promise<Result> {
  const { chat, terminal } = console;
  const text = chat.session.state.system ?? chat.world.config.systemPrompt ?? '';
  if (args === '' || args === 'show')
    return prose(terminal, printable(text) || 'The usual one; /system preview shows it whole.');
  if (args === 'preview') {
    await chat.news.read(chat.places);
    return prose(terminal, printable(chat.system()));
  }
  if (args !== 'edit') return misused;
  const edited = await editedBy(console, text);
  if (edited !== undefined) chat.session.append({ type: 'system', text: edited.trim() || null });
  return undefined;
}

async function profileList(chat: Chat, width: number): Promise<string> {
  const profiles = await chat.world.profiles();
  const rows = [...profiles.values()].map(({ name, description = '' }) => [
    chat.profile?.name === name ? `* ${name}` : `  ${name}`,
    printable(description),
  ]);
  return table(rows, width).join('\n') || 'There are no profiles; docs/repl.md says how to write one.';
}
