import { whyTable } from '../approval/decide.ts';
import { estimateTools } from '../context/tokens.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach, table } from '../terminal/table.ts';
import type { Tool } from '../toolbox/tool.ts';
import { offeredTools } from '../turn/agent.ts';
import { headAndRest, misused, wrongUse, type Commands, type Console, type Result } from './command.ts';

export const toolCommands: Commands = {
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

async function tools({ chat, terminal }: Console, args: string): Promise<string> {
  const { toolbox } = chat.world;
  await chat.connected;
  const [word, name] = headAndRest(args);
  const offered = offeredTools(chat);
  if (word === '') return toolList(offered, terminal);
  if (word === 'why') {
    const context = { mode: chat.mode, rules: chat.rules(), interactive: chat.person !== undefined };
    return whyTable(name === '' ? chat.tools() : [toolOf(chat, name)], context).join('\n');
  }
  if (word === 'refresh') {
    await Promise.all(toolbox.servers().map((server) => toolbox.restart(server.name)));
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

function toolOf(chat: Console['chat'], wanted: string): Tool {
  const tool = chat.tools().find((one) => one.name === wanted || one.tool === wanted);
  if (!tool) throw wrongUse(`There is no tool ${wanted}. /tools lists them.`);
  return tool;
}

const toolList = (offered: readonly Tool[], { width, paint }: Console['terminal']): string =>
  [...new Set(offered.map(({ server }) => server))]
    .flatMap((server) => {
      const own = offered.filter((tool) => tool.server === server);
      const rows = own.map(({ tool, description }): [string, string] => [
        `  ${printable(tool)}`,
        printable(description.split('\n')[0] ?? ''),
      ]);
      return [paint.strong(`${printable(server)}: ${own.length} tools`), ...oneLineEach(rows, width)];
    })
    .join('\n');

async function mcp(console: Console, args: string): Promise<Result> {
  const { toolbox } = console.chat.world;
  const [word, name] = headAndRest(args);
  if (word === 'restart') {
    if (!toolbox.servers().some((one) => one.name === name))
      throw wrongUse(`/mcp restart: there is no server ${name || 'without a name'}.`);
    await toolbox.restart(name);
    return stateOf(console, name);
  }
  if (word !== '') return misused;
  const rows = toolbox
    .servers()
    .map((server) => [
      server.name,
      server.state,
      `${server.tools} tools`,
      server.protocol ? `MCP ${server.protocol}` : '',
      printable(server.error ?? ''),
    ]);
  return table(rows, console.terminal.width).join('\n') || 'There are no servers.';
}

function stateOf({ chat }: Console, name: string): string {
  const { state, error } = chat.world.toolbox.servers().find((one) => one.name === name) ?? {};
  return `${name} is ${state}${error === undefined ? '' : `: ${printable(error)}`}`;
}
