import { whyTable } from '../approval/decide.ts';
import { offeredTools } from '../turn/offered-tools.ts';
import { estimateTools } from '../context/tokens.ts';
import { printable } from '../terminal/printable.ts';
import { oneLineEach } from '../terminal/show.ts';
import type { Command } from './command.ts';
import { wordsOf, wrongUse } from './usage-error.ts';

/** /tools [list|why|refresh|stats|name] */
export const toolsCommand: Command = {
  name: 'tools',
  usage: '[why | refresh | stats | name]',
  help: 'lists the tools, says what would be asked and why, or shows one',
  complete: ({ chat }) => ['list', 'why', 'refresh', 'stats', ...chat.tools().map(({ name }) => name)],
  async run({ chat, terminal }, args) {
    const { toolbox } = chat.world;
    await chat.connected;
    const all = chat.tools();
    const [word = 'list'] = wordsOf(args);
    const firstLine = (text: string) => printable(text.split('\n')[0] ?? '');
    switch (word) {
      case 'list': {
        const offered = offeredTools(chat);
        for (const server of new Set(offered.map((tool) => tool.server))) {
          const tools = offered.filter((tool) => tool.server === server);
          terminal.print(terminal.paint.strong(`${printable(server)}: ${tools.length} tools`));
          const rows = tools.map(({ tool, description }): [string, string] => [
            `  ${printable(tool)}`,
            firstLine(description),
          ]);
          terminal.print(oneLineEach(rows, terminal.width).join('\n'));
        }
        return undefined;
      }
      case 'why':
        terminal.print(
          whyTable(all, {
            mode: chat.mode,
            rules: chat.rules(),
            interactive: chat.person !== undefined,
          }).join('\n'),
        );
        return undefined;
      case 'refresh':
        await Promise.all(toolbox.servers().map(({ name }) => toolbox.restart(name)));
        terminal.print(`${chat.tools().length} tools`);
        return undefined;
      case 'stats': {
        const offered = offeredTools(chat);
        const readers = offered.filter(({ annotations }) => annotations.readOnlyHint).length;
        terminal.print(
          `${offered.length} tools are offered in mode ${chat.mode}, ${readers} of them only read: about ${estimateTools(offered)} tokens`,
        );
        return undefined;
      }
      default: {
        const tool = all.find(({ name, tool: own }) => name === word || own === word);
        if (!tool) throw wrongUse(`There is no tool ${word}. /tools lists them.`);
        terminal.print(`${tool.name}  (server ${printable(tool.server)})\n${printable(tool.description)}`);
        terminal.print(
          printable(
            JSON.stringify({ annotations: tool.annotations, inputSchema: tool.inputSchema }, null, 2),
          ),
        );
        return undefined;
      }
    }
  },
};
