import { stat } from 'node:fs/promises';
import { listModels } from '../models/endpoints.ts';
import { nameOf } from '../models/model.ts';
import { absolute } from '../prompt/attachments.ts';
import { printable, cutToCells } from '../terminal/printable.ts';
import { table } from '../terminal/rows.ts';
import { whyRows } from '../approval/decide.ts';
import { estimateTools } from '../context/tokens.ts';
import type { Server } from '../toolbox/server.ts';
import type { Tool } from '../toolbox/tool.ts';
import { offeredTools } from '../turn/prepare-call.ts';
import { before, told } from '../turn/told.ts';
import { send } from '../turn/turn.ts';
import {
  editedBy,
  headAndRest,
  misused,
  prose,
  wrongUse,
  type Commands,
  type Console,
  type Result,
} from './command.ts';

type Chat = Console['chat'];

export const setupCommands: Commands = {
  model: {
    usage: '[NAME | NAME: MESSAGE]',
    help: 'shows the models, changes to one, or asks one a single question',
    sends: true,
    complete: ({ chat }) => listModels(chat.world.config, chat.world.options.env).map(({ name }) => name),
    async run({ chat, terminal, show }, args) {
      const { modelOf } = chat.world;
      const [, once, text = ''] = /^(\S+):\s+([^]+)$/.exec(args) ?? [];
      if (once !== undefined) return show((signal) => send(chat, { text }, signal), modelOf(once));
      if (args === '') return modelList(chat, terminal.width);
      chat.useModel(modelOf(args));
      await chat.askModel();
      chat.session.append({ type: 'set', model: nameOf(chat.model) });
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
  tools: {
    usage: '[why [NAME] | refresh | stats | NAME]',
    help: 'lists the tools, says what would be asked and why, or shows one',
    complete: ({ chat }) => chat.tools().map(({ name }) => name),
    run: tools,
  },
  mcp: {
    usage: '[restart NAME]',
    help: 'shows the MCP servers; restarts one',
    complete: ({ chat }, words) =>
      words.at(-1) === 'restart' ? chat.world.toolbox.servers().map(({ name }) => name) : [],
    run: mcp,
  },
};

function modelList({ model, world }: Chat, width: number): string {
  const rows = listModels(world.config, world.options.env).map(({ name, note }) => [
    // An alias is shown with what it stands for.
    [name, note].includes(nameOf(model)) ? `* ${name}` : `  ${name}`,
    note,
  ]);
  const head = `${printable(nameOf(model))}, a window of ${model.capabilities.contextWindow} tokens`;
  return [head, ...table(rows, width)].join('\n');
}

async function roots({ chat }: Console, args: string): Promise<Result> {
  const [word, given] = headAndRest(args);
  const before = chat.roots;
  const folder = absolute(given, chat.folder);
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
  if (edited !== undefined) chat.session.append({ type: 'set', system: edited.trim() || null });
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

async function tools(console: Console, args: string): Promise<string> {
  const { chat, terminal } = console;
  const { toolbox } = chat.world;
  await chat.connected;
  const [word, name] = headAndRest(args);
  const offered = offeredTools(chat);
  if (word === '') return toolList(offered, terminal);
  if (word === 'why') {
    const context = { mode: chat.mode, rules: chat.rules(), interactive: chat.person !== undefined };
    const wanted = name === '' ? chat.tools() : [toolOf(chat, name)];
    return table(whyRows(wanted, context), terminal.width).join('\n');
  }
  if (word === 'refresh') {
    await restart(console, toolbox.servers());
    return `${chat.tools().length} tools`;
  }
  if (word === 'stats') {
    const readers = offered.filter(({ annotations }) => annotations.readOnlyHint).length;
    const count = `${offered.length} tools are offered in mode ${chat.mode}`;
    return `${count}, ${readers} of them only read: about ${estimateTools(offered)} tokens`;
  }
  const { name: full, server, description, annotations, inputSchema } = toolOf(chat, word);
  const facts = JSON.stringify({ annotations, inputSchema }, null, 2);
  return printable(`${full}  (server ${server})\n${description}\n${facts}`);
}

function toolOf(chat: Chat, wanted: string): Tool {
  const tool = chat.tools().find((one) => one.name === wanted || one.tool === wanted);
  if (!tool) throw wrongUse(`There is no tool ${wanted}. /tools lists them.`);
  return tool;
}

const toolList = (offered: readonly Tool[], { width, paint }: Console['terminal']): string =>
  [...new Set(offered.map(({ server }) => server))]
    .flatMap((server) => {
      const own = offered.filter((tool) => tool.server === server);
      const names = own.map(({ tool }) => printable(tool));
      const room = Math.max(16, width - 5 - Math.max(...names.map(({ length }) => length)));
      const rows = own.map(({ description }, at) => [
        `  ${names[at] ?? ''}`,
        cutToCells(printable(description.split('\n')[0] ?? ''), room),
      ]);
      return [paint.strong(`${printable(server)}: ${own.length} tools`), ...table(rows, width)];
    })
    .join('\n');

/** One may take a minute: Esc leaves it alone with that. */
const restart = ({ show, terminal }: Console, servers: readonly Server[]): Promise<void> =>
  show((signal) => {
    terminal.working(`starting ${servers.map(({ name }) => name).join(', ')}`);
    return told(() => before(Promise.all(servers.map((server) => server.restart())), signal));
  });

async function mcp(console: Console, args: string): Promise<Result> {
  const { toolbox } = console.chat.world;
  const [word, name] = headAndRest(args);
  if (word === 'restart') await restart(console, [toolbox.server(name)]);
  else if (word !== '') return misused;
  const rows = toolbox
    .servers()
    .map((server) => [
      server.name,
      server.state,
      `${server.tools.length} tools${server.left > 0 ? `, ${server.left} left out` : ''}`,
      server.protocol ? `MCP ${server.protocol}` : '',
      printable(server.error ?? ''),
    ]);
  return table(rows, console.terminal.width).join('\n') || 'There are no servers.';
}
