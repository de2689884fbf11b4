import { otherServers } from '../servers.ts';
import { askYesOrNo } from '../person/is-yes.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/show.ts';
import type { Command } from './command.ts';
import { wordsOf, wrongUse } from './usage-error.ts';

/** /mcp [restart NAME | trust] */
export const mcpCommand: Command = {
  name: 'mcp',
  usage: '[restart name | trust]',
  help: 'shows the MCP servers; restarts one; starts those of the project',
  complete: ({ chat }, words) =>
    words.at(-1) === 'restart' ? chat.world.toolbox.servers().map(({ name }) => name) : ['restart', 'trust'],
  async run({ chat, terminal }, args) {
    const { toolbox, options, folders } = chat.world;
    const [word, name] = wordsOf(args);
    const stateOf = (wanted: string) => {
      const { state, error } = toolbox.servers().find((one) => one.name === wanted) ?? {};
      return `${wanted} is ${state}${error === undefined ? '' : `: ${printable(error)}`}`;
    };
    if (word === undefined) {
      const rows = toolbox
        .servers()
        .map((one) => [
          one.name,
          one.state,
          `${one.tools} tools`,
          one.protocol ? `MCP ${one.protocol}` : '',
          printable(one.error ?? ''),
        ]);
      terminal.print(rows.length === 0 ? 'There are no servers.' : table(rows, terminal.width).join('\n'));
    } else if (word === 'restart') {
      if (!toolbox.servers().some((one) => one.name === name))
        throw wrongUse(`/mcp restart: there is no server ${name ?? 'without a name'}.`);
      await toolbox.restart(name ?? '');
      terminal.print(stateOf(name ?? ''));
    } else if (word === 'trust') {
      const { untrusted } = await otherServers(options, folders.config);
      if (!untrusted)
        throw wrongUse("/mcp trust: the project's .mcp.json names no server that is not started already.");
      terminal.print(`${printable(untrusted.file)} starts:`);
      for (const line of untrusted.lines) terminal.print(`  ${printable(line)}`);
      const question = 'Start these, now and whenever the file is unchanged? [y]es [n]o';
      if (!(await askYesOrNo(terminal.ask, question))) return undefined;
      untrusted.trust();
      await Promise.all(untrusted.servers.map((server) => toolbox.add(server)));
      for (const server of untrusted.servers) terminal.print(stateOf(server.name));
    } else throw wrongUse(`/mcp ${word}: restart NAME or trust is expected.`);
    return undefined;
  },
};
