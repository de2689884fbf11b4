import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { whyTable } from '../approval/decide.ts';
import { askModelItself, profilesOf } from '../assemble.ts';
import { estimateTools } from '../context/tokens.ts';
import { runInTerminal } from '../files/program.ts';
import { listModels } from '../models/endpoints.ts';
import { nameOf } from '../models/model.ts';
import { otherServers } from '../servers.ts';
import { editText } from '../terminal/editor.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach, table } from '../terminal/table.ts';
import { offeredTools } from '../turn/offered-tools.ts';
import { confirmed, prose, wordsOf, wrongUse, type Command, type Console } from './command.ts';

/** /model, /tools, /mcp, /roots, /system, /profile, /hooks */
export const setupCommands: readonly Command[] = [
  {
    name: 'model',
    usage: '[name | name: message]',
    help: 'shows the models, changes to one, or asks one a single question',
    sends: true,
    complete: ({ chat }) => listModels(chat.world.config, chat.world.options.env).map(({ name }) => name),
    async run({ chat, terminal }, args) {
      const { modelOf } = chat.world;
      const [, once, text = ''] = /^(\S+):\s+([^]+)$/.exec(args) ?? [];
      if (once !== undefined) return { next: 'send', text, model: modelOf(once) };
      if (args === '') return modelList(chat, terminal.width);
      chat.useModel(modelOf(args));
      await askModelItself(chat);
      chat.session.append({ type: 'model', model: nameOf(chat.model) });
      return terminal.paint.dim(`model ${printable(nameOf(chat.model))}`);
    },
  },
  {
    name: 'tools',
    usage: '[why [name] | refresh | stats | name]',
    help: 'lists the tools, says what would be asked and why, or shows one',
    complete: ({ chat }) => ['list', 'why', 'refresh', 'stats', ...chat.tools().map(({ name }) => name)],
    async run(console, args) {
      await console.chat.connected;
      return toolsText(console, wordsOf(args));
    },
  },
  {
    name: 'mcp',
    usage: '[restart name | trust]',
    help: 'shows the MCP servers; restarts one; starts those of the project',
    complete: ({ chat }, words) =>
      words.at(-1) === 'restart'
        ? chat.world.toolbox.servers().map(({ name }) => name)
        : ['restart', 'trust'],
    async run(console, args) {
      const { toolbox } = console.chat.world;
      const [word, name = ''] = wordsOf(args);
      if (word === 'trust') return trustProject(console);
      if (word === 'restart') {
        if (!toolbox.servers().some((one) => one.name === name))
          throw wrongUse(`/mcp restart: there is no server ${name || 'without a name'}.`);
        await toolbox.restart(name);
        return stateOf(console, name);
      }
      if (word !== undefined) throw wrongUse(`/mcp ${word}: restart NAME or trust is expected.`);
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
    },
  },
  {
    name: 'roots',
    usage: '[add dir | remove dir]',
    help: 'the folders that servers may touch',
    complete: ({ chat }, [word]) =>
      word === 'remove' ? chat.roots : word === undefined ? ['add', 'remove'] : [],
    async run({ chat }, args) {
      const [, word, given] = /^(add|remove)\s+(.+)$/.exec(args) ?? [];
      if (args !== '' && given === undefined)
        throw wrongUse(`/roots ${args}: add DIR or remove DIR is expected.`);
      if (given !== undefined) await changeRoots(chat, word === 'add', given);
      return chat.roots.map(printable).join('\n');
    },
  },
  {
    name: 'system',
    usage: '[show | edit | preview | reset]',
    help: "the system prompt of this session; preview: with instructions and the servers' own",
    complete: () => ['show', 'edit', 'preview', 'reset'],
    async run({ chat, terminal }, args) {
      const { options, config } = chat.world;
      const text = chat.session.settings.system ?? config.systemPrompt ?? '';
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
          const edited = await terminal.handOver(() => editText(text, options.env, runInTerminal));
          return edited === undefined ? undefined : use(edited.trim() === '' ? null : edited);
        }
        default:
          throw wrongUse(`/system ${args}: show, edit, preview or reset is expected.`);
      }
    },
  },
  {
    name: 'profile',
    usage: '[name | none]',
    help: 'shows the profiles, or takes one into use',
    complete: async ({ chat }) => ['none', ...(await profilesOf(chat.world, () => undefined)).keys()],
    async run({ chat, terminal }, args) {
      if (args === '') return profileList(chat, terminal.width);
      await chat.useProfile(args === 'none' ? undefined : args);
      const model = printable(nameOf(chat.model));
      return terminal.paint.dim(`profile ${args}, mode ${chat.mode}, model ${model}`);
    },
  },
  {
    name: 'hooks',
    help: 'the commands that run before and after a tool',
    run({ chat, terminal }) {
      const rows = (['before', 'after', 'end'] as const).flatMap((event) =>
        (chat.hooks[event] ?? []).map(({ tools = '*', command }) => [
          event,
          tools,
          printable(command.join(' ')),
        ]),
      );
      return table(rows, terminal.width).join('\n') || 'There are none; chat.yaml is where they go.';
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

async function toolsText({ chat, terminal }: Console, [word = 'list', name]: string[]): Promise<string> {
  const { toolbox } = chat.world;
  const { width, paint } = terminal;
  const offered = offeredTools(chat);
  const named = (wanted: string) => {
    const tool = chat.tools().find((one) => one.name === wanted || one.tool === wanted);
    if (!tool) throw wrongUse(`There is no tool ${wanted}. /tools lists them.`);
    return tool;
  };
  switch (word) {
    case 'list':
      return [...new Set(offered.map(({ server }) => server))]
        .flatMap((server) => {
          const tools = offered.filter((tool) => tool.server === server);
          const rows = tools.map(({ tool, description }): [string, string] => [
            `  ${printable(tool)}`,
            printable(description.split('\n')[0] ?? ''),
          ]);
          return [paint.strong(`${printable(server)}: ${tools.length} tools`), ...oneLineEach(rows, width)];
        })
        .join('\n');
    case 'why': {
      const context = { mode: chat.mode, rules: chat.rules(), interactive: chat.person !== undefined };
      return whyTable(name === undefined ? chat.tools() : [named(name)], context).join('\n');
    }
    case 'refresh':
      await Promise.all(toolbox.servers().map((server) => toolbox.restart(server.name)));
      return `${chat.tools().length} tools`;
    case 'stats': {
      const readers = offered.filter(({ annotations }) => annotations.readOnlyHint).length;
      const tokens = estimateTools(offered);
      const count = `${offered.length} tools are offered in mode ${chat.mode}`;
      return `${count}, ${readers} of them only read: about ${tokens} tokens`;
    }
    default: {
      const { name: full, server, description, annotations, inputSchema } = named(word);
      const facts = JSON.stringify({ annotations, inputSchema }, null, 2);
      return `${full}  (server ${printable(server)})\n${printable(description)}\n${printable(facts)}`;
    }
  }
}

function stateOf({ chat }: Console, name: string): string {
  const { state, error } = chat.world.toolbox.servers().find((one) => one.name === name) ?? {};
  return `${name} is ${state}${error === undefined ? '' : `: ${printable(error)}`}`;
}

async function trustProject(console: Console): Promise<string | undefined> {
  const { options, folders, toolbox } = console.chat.world;
  const { untrusted } = await otherServers(options, folders.config);
  if (!untrusted)
    throw wrongUse("/mcp trust: the project's .mcp.json names no server that is not started already.");
  const lines = untrusted.lines.map((line) => `  ${printable(line)}`);
  console.terminal.print([`${printable(untrusted.file)} starts:`, ...lines].join('\n'));
  if (!(await confirmed(console, 'Start these, now and whenever the file is unchanged?'))) return undefined;
  untrusted.trust();
  await Promise.all(untrusted.servers.map((server) => toolbox.add(server)));
  return untrusted.servers.map(({ name }) => stateOf(console, name)).join('\n');
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
  let none = 'There are no profiles yet: docs/repl.md says how to write one.';
  const profiles = await profilesOf(chat.world, (text) => {
    none = 'There are no profiles that can be used.';
    chat.warn(text);
  });
  const rows = [...profiles.values()].map(({ name, description = '' }) => [
    chat.profile?.name === name ? `* ${name}` : `  ${name}`,
    printable(description),
  ]);
  return table(rows, width).join('\n') || none;
}
