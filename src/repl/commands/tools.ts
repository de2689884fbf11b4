import { whyTable } from '../approval/decide.ts';
import { estimateTools } from '../context/tokens.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach } from '../terminal/table.ts';
import type { Tool } from '../toolbox/tool.ts';
import { offeredTools } from '../turn/agent.ts';
import { wordsOf, wrongUse, type Command, type Console } from './command.ts';

export const toolsCommand: Command = {
  name: 'tools',
  usage: '[why [NAME] | refresh | stats | NAME]',
  help: 'lists the tools, says what would be asked and why, or shows one',
  complete: ({ chat }) => ['list', 'why', 'refresh', 'stats', ...chat.tools().map(({ name }) => name)],
  async run({ chat, terminal }, args) {
    const { toolbox } = chat.world;
    await chat.connected;
    const [word = 'list', name] = wordsOf(args);
    const offered = offeredTools(chat);
    switch (word) {
      case 'list':
        return toolList(offered, terminal);
      case 'why': {
        const context = { mode: chat.mode, rules: chat.rules(), interactive: chat.person !== undefined };
        return whyTable(name === undefined ? chat.tools() : [toolOf(chat, name)], context).join('\n');
      }
      case 'refresh':
        await Promise.all(toolbox.servers().map((server) => toolbox.restart(server.name)));
        return `${chat.tools().length} tools`;
      case 'stats': {
        const readers = offered.filter(({ annotations }) => annotations.readOnlyHint).length;
        const count = `${offered.length} tools are offered in mode ${chat.mode}`;
        return `${count}, ${readers} of them only read: about ${estimateTools(offered)} tokens`;
      }
      default: {
        const { name: full, server, description, annotations, inputSchema } = toolOf(chat, word);
        const facts = JSON.stringify({ annotations, inputSchema }, null, 2);
        return `${full}  (server ${printable(server)})\n${printable(description)}\n${printable(facts)}`;
      }
    }
  },
};

function toolOf(chat: Console['chat'], wanted: string): Tool {
  const tool = chat.tools().find((one) => one.name === wanted || one.tool === wanted);
  if (!tool) throw wrongUse(`There is no tool ${wanted}. /tools lists them.`);
  return tool;
}

const toolList = (offered: readonly Tool[], { width, paint }: Console['terminal']): string =>
  [...new Set(offered.map(({ server }) => server))]
    .flatMap((server) => {
      const tools = offered.filter((tool) => tool.server === server);
      const rows = tools.map(({ tool, description }): [string, string] => [
        `  ${printable(tool)}`,
        printable(description.split('\n')[0] ?? ''),
      ]);
      return [paint.strong(`${printable(server)}: ${tools.length} tools`), ...oneLineEach(rows, width)];
    })
    .join('\n');
