import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { isRunning } from '../../support/is-running.ts';
import { join } from 'node:path';
import { chatPlace, openChat, type ChatPlace, type PlaceOptions } from './chat.ts';
import { say, type FakeRequest } from './fake-model.ts';
import type { Pty } from './pty.ts';
import { enter, fixture, writeServers } from './served.ts';

export interface Fixture extends ChatPlace {
  /** What the server has noted: the ids of its processes, and what was called. */
  log(): string;
  /** How many processes of the server still run. */
  servers(): number;
}

/** A place with the fixture as its only server, once the chat is started with `alone`. */
export async function placeWithServer(
  options: PlaceOptions = {},
  ...flags: readonly string[]
): Promise<Fixture> {
  const place = await chatPlace(options);
  const log = join(place.home, 'server.log');
  writeFileSync(log, '');
  // Said, not found out: to find out takes one more process.
  const protocol = '2025-11-25';
  const args = [fixture('mcp-server.mjs'), '--log', log, ...flags];
  writeServers(place, { fixture: { command: process.execPath, args, protocol } });
  const noted = () => readFileSync(log, 'utf8');
  return {
    ...place,
    log: noted,
    servers: () => [...noted().matchAll(/^pid (\d+)$/gm)].filter(([, pid]) => isRunning(Number(pid))).length,
  };
}

/** Without our own server, which takes longer to start than all the rest. */
export const alone = ['--no-toolcrib', '--allow', 'fixture:hang', '--allow', 'fixture:slow'];

export async function opened(place: ChatPlace, ...args: readonly string[]): Promise<Pty> {
  const chat = openChat(place, [...alone, ...args]);
  await chat.sees('/help');
  return chat;
}

/** Says so much that a window of 8000 tokens is nearly full. */
export async function fill({ model }: ChatPlace, chat: Pty): Promise<void> {
  for (let at = 1; at <= 7; at++) {
    const usage = { input: at * 940, output: 5 };
    model.script(say(`${'word '.repeat(400)}\nanswer ${at}`, { delta: 1000, usage }));
    enter(chat, `question ${at}`);
    await chat.sees(`answer ${at}`);
    await isBack(chat);
  }
}

/** An empty prompt is the last thing there is. */
export const isBack = (chat: Pty): Promise<void> => chat.until(() => /(^|\n)>$/.test(chat.screen()));

/** Where the chat keeps what lasts. */
export const stateOf = ({ home }: ChatPlace): string => join(home, '.state', 'toolcrib', 'chat');

/** The paths of all sessions, in the order in which they were made. */
export function sessionFiles(place: ChatPlace): string[] {
  const folder = join(stateOf(place), 'sessions');
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return found
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(folder, name));
}

/** Every line of a session; throws when one of them is no JSON. */
export const linesOf = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

type Json = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Calls without a result and results without a call, and users that speak twice: what providers refuse. */
export function problemsOf({ wire, body }: FakeRequest): string[] {
  const problems: string[] = [];
  let open: unknown[] = [];
  let before: unknown;
  const answer = (id: unknown) => {
    if (!open.includes(id)) problems.push(`a result without a call: ${String(id)}`);
    open = open.filter((one) => one !== id);
    before = undefined;
  };
  const next = (role: unknown) => {
    if (open.length > 0) problems.push(`calls without a result: ${open.join()}`);
    if (role === before) problems.push(`twice in a row: ${String(role)}`);
    before = role;
  };
  for (const item of listOf(wire === 'responses' ? body['input'] : body['messages'])) {
    const content = listOf(item['content']);
    const results = content.filter(({ type }) => type === 'tool_result');
    if (item['role'] === 'tool') answer(item['tool_call_id']);
    else if (item['type'] === 'function_call') open.push(item['call_id']);
    else if (item['type'] === 'function_call_output') answer(item['call_id']);
    else {
      for (const result of results) answer(result['tool_use_id']);
      next(item['role']);
    }
    for (const call of listOf(item['tool_calls'])) open.push(call['id']);
    for (const { type, id } of content) if (type === 'tool_use') open.push(id);
  }
  if (open.length > 0) problems.push(`calls without a result at the end: ${open.join()}`);
  return problems;
}
