import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../../src/repl/config/server-config.ts';
import type { ImagePart } from '../../../src/repl/message.ts';
import { createToolbox, type Toolbox, type ToolboxOptions } from '../../../src/repl/toolbox/toolbox.ts';

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
export const installed = (path: string): string =>
  fileURLToPath(new URL(`../../../node_modules/${path}`, import.meta.url));

type Stdio = Extract<ServerConfig, { kind: 'stdio' }>;
type Http = Extract<ServerConfig, { kind: 'http' }>;

/** A server that is a program of Node. */
export const nodeServer = (name: string, args: readonly string[], more: Partial<Stdio> = {}): Stdio => ({
  name,
  kind: 'stdio',
  command: process.execPath,
  args,
  env: {},
  trust: true,
  protocol: '2025-11-25',
  timeoutMs: 60_000,
  source: 'user',
  ...more,
});

export const httpServer = (name: string, url: string, more: Partial<Http> = {}): Http => ({
  name,
  kind: 'http',
  url,
  headers: {},
  trust: false,
  protocol: 'auto',
  timeoutMs: 60_000,
  source: 'user',
  ...more,
});

/** The server of test/repl/fixtures, under the name `fix`. */
export const fixtureServer = (flags: readonly string[] = [], more: Partial<Stdio> = {}): Stdio =>
  nodeServer('fix', [fixture('mcp-server.mjs'), ...flags], more);

export interface Opened {
  readonly box: Toolbox;
  readonly warnings: string[];
  readonly logged: string[];
  /** Calls a tool by its whole name. */
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; progress?: (message: string) => void },
  ): Promise<{ text: string; images: readonly ImagePart[]; isError: boolean }>;
}

export const toolNamed = (box: Toolbox, name: string) => box.tools().find((tool) => tool.name === name);

/** A toolbox with these servers, connected; closed when the test ends. */
export async function openToolbox(
  servers: readonly ServerConfig[],
  more: Partial<ToolboxOptions> = {},
): Promise<Opened> {
  const warnings: string[] = [];
  const logged: string[] = [];
  const box = createToolbox({
    servers,
    roots: () => [],
    elicit: async () => ({ action: 'decline' }),
    warn: (text) => warnings.push(text),
    log: (text) => logged.push(text),
    env: process.env,
    clientInfo: { name: 'test', version: '1' },
    ...more,
  });
  onTestFinished(() => box.close());
  box.connect();
  await box.ready();
  return {
    box,
    warnings,
    logged,
    async call(name, args = {}, { signal = new AbortController().signal, progress } = {}) {
      const tool = toolNamed(box, name);
      if (!tool) throw new Error(`no tool ${name} among ${box.tools().map((one) => one.name)}`);
      return tool.call(args, progress ? { signal, progress } : { signal });
    },
  };
}

/** Whether a process still runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
