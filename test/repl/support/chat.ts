import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Wire } from '../../../src/repl/message.ts';
import { temporaryFolder } from '../../tools/files/folder.ts';
import { program } from '../../support/server.ts';
import { startFakeModel, type FakeModel } from './fake-model.ts';
import { startInTerminal, type Pty, type PtyOptions } from './pty.ts';

export interface ChatPlace {
  /** The project. */
  readonly cwd: string;
  /** A home folder of its own: configuration, sessions and all. */
  readonly home: string;
  readonly env: Record<string, string>;
  readonly model: FakeModel;
  /** Written to chat.yaml: added to the endpoint of the fake model. */
  configure(text: string): void;
}

export interface PlaceOptions {
  readonly wire?: Wire;
  /** More of chat.yaml. */
  readonly config?: string;
  /** The fake model's window. */
  readonly window?: number;
}

/** A project, a home folder and a fake model that is the configured one. */
export async function chatPlace({
  wire = 'chat',
  config = '',
  window = 100_000,
}: PlaceOptions = {}): Promise<ChatPlace> {
  const folder = await temporaryFolder();
  const [cwd, home] = [join(folder, 'project'), join(folder, 'home')];
  const settings = join(home, '.config', 'toolcrib');
  for (const path of [cwd, settings]) mkdirSync(path, { recursive: true });
  const model = await startFakeModel();
  onTestFinished(() => model.close());
  const baseUrl = wire === 'anthropic' ? model.url : `${model.url}/v1`;
  const base = `endpoints:\n  fake: { wire: ${wire}, baseUrl: "${baseUrl}", local: true }\nmodel: test\nmodels:\n  test: { model: fake/fake-model, contextWindow: ${window} }\n`;
  const configure = (text: string) => writeFileSync(join(settings, 'chat.yaml'), `${base}${text}`);
  configure(config);
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    HOME: home,
    SHELL: '/bin/sh',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, '.state'),
    // Compiled code and found programs are the same for all: a start takes half as long with them.
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  };
  return { cwd, home, env, model, configure };
}

/** `toolcrib chat` in a terminal, so wide that what it says is seldom broken. */
export function openChat(
  { cwd, env }: ChatPlace,
  args: readonly string[] = [],
  size: Pick<PtyOptions, 'cols' | 'rows'> = { cols: 200 },
): Pty {
  const cleared = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  return startInTerminal([process.execPath, program, 'chat', ...args], {
    cwd,
    ...size,
    env: { ...cleared, ...env },
  });
}

/** Leaves a chat, which has nothing to complain of. */
export async function leave(chat: Pty): Promise<void> {
  chat.type('/exit\r');
  expect(await chat.exit).toBe(0);
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `toolcrib chat` without a terminal, until it ends. */
export async function runChat({ cwd, env }: ChatPlace, args: readonly string[], input = ''): Promise<Ran> {
  const child = spawn(process.execPath, [program, 'chat', ...args], { cwd, env });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}
