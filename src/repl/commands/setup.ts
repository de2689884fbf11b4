import { stat } from 'node:fs/promises';
import type { Chat } from '../chat.ts';
import { listModels } from '../models/endpoints.ts';
import { nameOf } from '../models/model.ts';
import { absolute } from '../prompt/attachments.ts';
import { printable, cutToCells } from '../terminal/printable.ts';
import { table } from '../terminal/rows.ts';
import { whyRows } from '../approval/decide.ts';
import { estimateTools } from '../context/tokens.ts';
import type { Server } from '../toolbox/server.ts';
import type { ClientTool } from '../toolbox/tool.ts';
import { availableTools } from '../turn/prepare-call.ts';
import { unlessAborted, eventStream } from '../turn/event-stream.ts';
import { send } from '../turn/turn.ts';
import {
  editedBy,
  headAndRest,
  misused,
  prose,
  wrongUse,
  type SlashCommands,
  type CommandContext,
  type CommandResult,
} from './command.ts';

export const setupCommands: SlashCommands = {
  model: {
    usage: '[NAME | NAME: MESSAGE]',
    help: 'shows the models, changes to one, or asks one a single question',
    sends: true,
    complete: ({ chat }) =>
      listModels(chat.environment.config, chat.environment.options.env).map(({ name }) => name),
    async run({ chat, terminal, showTurn }, args) {
      const { modelOf } = chat.environment;
      const [, once, text = ''] = /^(\S+):\s+([^]+)$/.exec(args) ?? [];
      if (once !== undefined) return showTurn((signal) => send(chat, { text }, signal), modelOf(once));
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
    complete: async ({ chat }) => [...(await chat.environment.profiles()).keys()],
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
      words.at(-1) === 'restart' ? chat.environment.toolbox.servers().map(({ name }) => name) : [],
    run: mcp,
  },
};

function modelList({ model, environment }: Chat, width: number): string {
  const rows = listModels(environment.config, environment.options.env).map(({ name, note }) => [
    // An alias is shown with what it stands for.
    [name, note].includes(nameOf(model)) ? `* ${name}` : `  ${name}`,
    note,
  ]);
  const head = `${printable(nameOf(model))}, a window of ${model.capabilities.contextWindow} tokens`;
  return [head, ...table(rows, width)].join('\n');
}

async function roots({ chat }: CommandContext, args: string): Promise<CommandResult> {
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

async function system(context: CommandContext, args: string): Promise<CommandResult> {
  const { chat, terminal } = context;
  const text = chat.session.state.system ?? chat.environment.config.systemPrompt ?? '';
  if (args === '' || args === 'show')
    return prose(terminal, printable(text) || 'The usual one; /system preview shows it whole.');
  if (args === 'preview') {
    await chat.contextUpdates.read(chat.instructionLocations);
    return prose(terminal, printable(chat.system()));
  }
  if (args !== 'edit') return misused;
  const edited = await editedBy(context, text);
  if (edited !== undefined) chat.session.append({ type: 'set', system: edited.trim() || null });
  return undefined;
}

async function profileList(chat: Chat, width: number): Promise<string> {
  const profiles = await chat.environment.profiles();
  const rows = [...profiles.values()].map(({ name, description = '' }) => [
    chat.profile?.name === name ? `* ${name}` : `  ${name}`,
    printable(description),
  ]);
  return table(rows, width).join('\n') || 'There are no profiles; docs/repl.md says how to write one.';
}

async function tools(context: CommandContext, args: string): Promise<string> {
  const { chat, terminal } = context;
  const { toolbox } = chat.environment;
  await chat.connected;
  const [word, name] = headAndRest(args);
  const offered = availableTools(chat);
  if (word === '') return toolList(offered, terminal);
  if (word === 'why') {
    const decision = { mode: chat.mode, rules: chat.rules(), interactive: chat.person !== undefined };
    const wanted = name === '' ? chat.tools() : [toolOf(chat, name)];
    return table(whyRows(wanted, decision), terminal.width).join('\n');
  }
  if (word === 'refresh') {
    await restart(context, toolbox.servers());
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

function toolOf(chat: Chat, wanted: string): ClientTool {
  const tool = chat.tools().find((one) => one.name === wanted || one.tool === wanted);
  if (!tool) throw wrongUse(`There is no tool ${wanted}. /tools lists them.`);
  return tool;
}

const toolList = (offered: readonly ClientTool[], { width, paint }: CommandContext['terminal']): string =>
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
const restart = ({ showTurn, terminal }: CommandContext, servers: readonly Server[]): Promise<void> =>
  showTurn((signal) => {
    terminal.working(`starting ${servers.map(({ name }) => name).join(', ')}`);
    return eventStream(() => unlessAborted(Promise.all(servers.map((server) => server.restart())), signal));
  });

async function mcp(context: CommandContext, args: string): Promise<CommandResult> {
  const { toolbox } = context.chat.environment;
  const [word, name] = headAndRest(args);
  if (word === 'restart') await restart(context, [toolbox.server(name)]);
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
  return table(rows, context.terminal.width).join('\n') || 'There are no servers.';
}
