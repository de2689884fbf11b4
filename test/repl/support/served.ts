import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChatPlace } from './chat.ts';
import type { FakeRequest } from './fake-model.ts';
import type { Pty } from './pty.ts';

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
export const installed = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/${path}`, import.meta.url));

/** Writes the person's mcp.json. */
export const writeServers = ({ home }: ChatPlace, mcpServers: object): void =>
  writeFileSync(join(home, '.config', 'toolcrib', 'mcp.json'), JSON.stringify({ mcpServers }));

interface Served {
  readonly trust?: boolean;
  readonly protocol?: string;
  /** small-server.mjs, without this. */
  readonly program?: string;
  /** After the log file. */
  readonly args?: readonly string[];
}

/** Writes the person's mcp.json: fixture servers by name. */
export function serve(place: ChatPlace, servers: Readonly<Record<string, Served>>): void {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(
      ([name, { trust = true, protocol = '2025-11-25', program = 'small-server.mjs', args = [] }]) => [
        name,
        {
          command: process.execPath,
          args: [fixture(program), join(place.cwd, `${name}.log`), ...args],
          trust,
          protocol,
        },
      ],
    ),
  );
  writeServers(place, mcpServers);
}

/** What the calls of a server that changed something were. */
export function doneBy({ cwd }: ChatPlace, server: string): string[] {
  const path = join(cwd, `${server}.log`);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

export function enter(chat: Pty, line: string): void {
  chat.type(line);
  chat.press('enter');
}

/** Answers the question that shows this text, once it can be answered. */
export async function answerTo(chat: Pty, shown: string, line: string | undefined): Promise<void> {
  const literal = shown.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  await chat.sees(
    new RegExp(String.raw`${literal}[^]*?(?:instead|words|your answer|\[n\]o|Esc: none of it\)) ?$`),
  );
  if (line === undefined) chat.press('ctrl-c');
  else enter(chat, line);
}

/** What the model was told of its calls, in the order of the request. */
export const results = (request: FakeRequest | undefined): string[] =>
  ((request?.body['messages'] ?? []) as { role: string; content: string }[]).flatMap(({ role, content }) =>
    role === 'tool' ? [content] : [],
  );

/** The names of the tools a request offers. */
export const offered = (request: FakeRequest | undefined): string[] =>
  ((request?.body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
