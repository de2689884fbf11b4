import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '../../core/nearest.ts';
import type { Chat } from '../chat.ts';
import { textOf } from '../message.ts';
import { inLine } from '../terminal/printable.ts';
import { wrapped, table } from '../terminal/rows.ts';
import { inert, live } from '../terminal/paste.ts';
import { send } from '../turn/turn.ts';
import {
  headAndRest,
  leaving,
  misused,
  waysOf,
  wrongUse,
  type SlashCommand,
  type SlashCommands,
  type CommandContext,
} from './command.ts';
import { sessionCommands } from './sessions.ts';
import { setupCommands } from './setup.ts';
import { lookCommands, talkCommands } from './talk.ts';

/** The help for keys and mentions. */
const keys = `Alt+Enter or a backslash at the end: another line · Tab completes · Shift+Tab changes the mode
@file, @dir/ and @server:uri bring their content along · Esc or Ctrl-C interrupts, twice leaves · lines \
typed meanwhile are queued`;

const help: SlashCommand = {
  help: 'lists the commands',
  run({ chat, terminal: { width, paint } }) {
    const others = namesOf(chat).filter((name) => !commands.has(name));
    const yours = others.map((name) => `/${inLine(name)}`).join(' · ');
    return [
      ...Object.entries(commandGroups).flatMap(([title, commands]) => {
        const rows = Object.entries(commands).map(([name, { usage = '', help: line }]) => [
          `/${name} ${usage}`.trim(),
          line,
        ]);
        return [paint.strong(title), ...table(rows, width - 2).map((line) => `  ${line}`)];
      }),
      ...(yours === '' ? [] : [paint.strong('Yours, and prompts of servers'), wrapped(yours, width)]),
      paint.dim(wrapped(keys, width)),
    ].join('\n');
  },
};

/** The commands by the heading that /help gives them, in its order. */
export const commandGroups: Readonly<Record<string, SlashCommands>> = {
  Talk: talkCommands,
  'Model and tools': setupCommands,
  Sessions: sessionCommands,
  Look: { help, ...lookCommands },
};
export const commands = new Map(Object.values(commandGroups).flatMap((group) => Object.entries(group)));

/**
 * Runs a line that begins with a slash; returns whether the person leaves. Throws ChatError USAGE for no
 * command.
 */
export async function runCommand(context: CommandContext, line: string): Promise<boolean> {
  const { chat, terminal } = context;
  const [name, rest] = headAndRest(line.slice(1));
  const given = rest.trim();
  const own = commands.get(name);
  if (own) {
    const args = own.sends ? given : live(given);
    if (own.usage === undefined && args !== '') throw wrongUse(`/${name} stands alone.`);
    const result = await own.run(context, args);
    if (result === misused)
      throw wrongUse(`/${name} ${args}: ${waysOf(own).join(' or ')} is expected; /help lists all.`);
    if (typeof result === 'string') terminal.print(result);
    return result === leaving;
  }
  if (name.includes(':')) await runPrompt(context, name, live(given));
  else if (fileCommands(chat).includes(name)) {
    const text = readFileSync(join(folderOf(chat), `${name}.md`), 'utf8').trim();
    const whole = text.includes('$ARGUMENTS') ? text : `${text}\n\n$ARGUMENTS`.trimEnd();
    const said = whole.replaceAll('$ARGUMENTS', () => given).trimEnd();
    await context.showTurn((signal) => send(chat, { text: said }, signal));
  } else {
    const near = nearest(name, namesOf(chat));
    const meant = near ? `; did you mean /${near}?` : '.';
    throw wrongUse(`There is no command /${name}${meant} /help lists them.`);
  }
  return false;
}

/** Names of all commands, of the person's own and of the servers' prompts (`server:prompt`). */
export const namesOf = (chat: Chat): string[] => [
  ...[...commands.keys(), ...fileCommands(chat)].sort(),
  ...chat.environment.toolbox.prompts().map(({ server, name }) => `${server}:${name}`),
];

const folderOf = ({ environment }: Chat): string => join(environment.folders.config, 'commands');

/** The names of the Markdown files in `commands/` of the configuration folder: each is a command. */
function fileCommands(chat: Chat): string[] {
  try {
    const names = readdirSync(folderOf(chat)).filter((name) => /^[\w-]+\.md$/.test(name));
    return names.map((name) => name.slice(0, -3));
  } catch {
    return []; // No such folder.
  }
}

/** The prompt of a server that a command `server:prompt` stands for. */
export const promptOf = (chat: Chat, wanted: string) =>
  chat.environment.toolbox.prompts().find(({ server, name }) => `${server}:${name}` === wanted);

/** Runs `/server:prompt name=value …`; what is not given and needed is asked. */
async function runPrompt(context: CommandContext, name: string, args: string): Promise<void> {
  const { chat, terminal } = context;
  // A server may still be starting.
  await chat.connected;
  const prompt = promptOf(chat, name);
  if (!prompt) throw wrongUse(`There is no prompt /${name}. /help lists commands; prompts are /server:name.`);
  const names = prompt.arguments.map((one) => one.name);
  const given = argumentsOf(args, names);
  for (const { name: wanted, description, required } of prompt.arguments) {
    if (Object.hasOwn(given, wanted) || !required) continue;
    const line = `${prompt.server} asks: ${inLine(description ? `${wanted} (${description})` : wanted)}`;
    const said = await terminal.ask({ line, words: (value) => ({ value }) });
    if (said === undefined) return;
    given[wanted] = said;
  }
  const parts = await chat.environment.toolbox.server(prompt.server).prompt(prompt.name, given);
  const more = parts.filter(({ type }) => type === 'image');
  await context.showTurn((signal) => send(chat, { text: inert(textOf(parts)), more }, signal));
}

/** `name=value name="two words"`; a text without any name is the first argument. */
function argumentsOf(text: string, names: readonly string[]): Record<string, string> {
  const found = [...text.matchAll(/(\w[\w-]*)=(?:"([^"]*)"|(\S+))/g)];
  const [first] = names;
  if (found.length === 0) return text === '' || first === undefined ? {} : { [first]: text };
  const unknown = found.find(([, name = '']) => !names.includes(name))?.[1];
  if (unknown !== undefined)
    throw wrongUse(`There is no argument ${unknown}; there are: ${names.join(', ') || 'none'}.`);
  return Object.fromEntries(found.map(([, name = '', quoted, word]) => [name, quoted ?? word ?? '']));
}
