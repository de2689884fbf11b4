import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { listModels } from '../models/endpoints.ts';
import { nameOf } from '../models/model.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach, table } from '../terminal/table.ts';
import {
  editedBy,
  headAndRest,
  misused,
  prose,
  sending,
  wordsOf,
  wrongUse,
  type Command,
  type Console,
  type Result,
} from './command.ts';
import { toolsCommand } from './tools.ts';

/** /model, /tools, /mcp, /roots, /system, /profile */
export const setupCommands: readonly Command[] = [
  {
    name: 'model',
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
  toolsCommand,
  {
    name: 'mcp',
    usage: '[restart NAME]',
    help: 'shows the MCP servers; restarts one',
    complete: ({ chat }, words) =>
      words.at(-1) === 'restart' ? chat.world.toolbox.servers().map(({ name }) => name) : ['restart'],
    run: mcp,
  },
  {
    name: 'roots',
    usage: '[add DIR | remove DIR]',
    help: 'the folders that servers may touch',
    complete: ({ chat }, [word]) => {
      if (word === undefined) return ['add', 'remove'];
      return word === 'remove' ? chat.roots : [];
    },
    async run({ chat }, args) {
      const [word, given] = headAndRest(args);
      if (args !== '' && (given === '' || !['add', 'remove'].includes(word))) return misused;
      if (args !== '') await changeRoots(chat, word === 'add', given);
      return chat.roots.map(printable).join('\n');
    },
  },
  {
    name: 'system',
    usage: '[show | edit | preview | reset]',
    help: "the system prompt of this session; preview: with instructions and the servers' own",
    async run(console, args) {
      const { chat, terminal } = console;
      const text = chat.session.settings.system ?? chat.world.config.systemPrompt ?? '';
      const use = (system: string | null) => void chat.session.append({ type: 'system', text: system });
      switch (args) {
        case '':
        case 'show':
          return prose(terminal, printable(text) || 'The usual one; /system preview shows it whole.');
        case 'preview':
          await chat.news.read(chat.places);
          return prose(terminal, printable(chat.system()));
        case 'reset':
          return use(null);
        case 'edit': {
          const edited = await editedBy(console, text);
          return edited === undefined ? undefined : use(edited.trim() === '' ? null : edited);
        }
        default:
          return misused;
      }
    },
  },
  {
    name: 'profile',
    usage: '[NAME | none]',
    help: 'shows the profiles, or takes one into use',
    complete: async ({ chat }) => ['none', ...(await chat.world.profiles()).keys()],
    async run({ chat, terminal }, args) {
      if (args === '') return profileList(chat, terminal.width);
      await chat.useProfile(args === 'none' ? undefined : args);
      const model = printable(nameOf(chat.model));
      return terminal.paint.dim(`profile ${args}, mode ${chat.mode}, model ${model}`);
    },
  },
];

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

async function mcp(console: Console, args: string): Promise<Result> {
  const { toolbox } = console.chat.world;
  const [word, name = ''] = wordsOf(args);
  if (word === 'restart') {
    if (!toolbox.servers().some((one) => one.name === name))
      throw wrongUse(`/mcp restart: there is no server ${name || 'without a name'}.`);
    await toolbox.restart(name);
    return stateOf(console, name);
  }
  if (word !== undefined) return misused;
  const rows = toolbox
    .servers()
    .map(({ name: server, state, tools, protocol, error = '' }) => [
      server,
      state,
      `${tools} tools`,
      protocol ? `MCP ${protocol}` : '',
      printable(error),
    ]);
  return table(rows, console.terminal.width).join('\n') || 'There are no servers.';
}

function stateOf({ chat }: Console, name: string): string {
  const { state, error } = chat.world.toolbox.servers().find((one) => one.name === name) ?? {};
  return `${name} is ${state}${error === undefined ? '' : `: ${printable(error)}`}`;
}

async function changeRoots(chat: Chat, adds: boolean, given: string): Promise<void> {
  const { roots } = chat;
  const folder = resolve(roots[0] ?? chat.world.options.cwd, given.replace(/^~(?=\/|$)/, homedir()));
  if (adds) {
    if (!(await stat(folder).catch(() => undefined))?.isDirectory())
      throw wrongUse(`/roots add: ${folder} is no folder.`);
    return chat.useRoots([...new Set([...roots, folder])]);
  }
  if (!roots.includes(folder)) throw wrongUse(`/roots remove: ${folder} is none of them.`);
  if (roots.length === 1) throw wrongUse('/roots remove: it is the only one; add another first.');
  return chat.useRoots(roots.filter((root) => root !== folder));
}

async function profileList(chat: Chat, width: number): Promise<string> {
  const profiles = await chat.world.profiles();
  const rows = [...profiles.values()].map(({ name, description = '' }) => [
    chat.profile?.name === name ? `* ${name}` : `  ${name}`,
    printable(description),
  ]);
  return table(rows, width).join('\n') || 'There are no profiles yet: docs/repl.md says how to write one.';
}
