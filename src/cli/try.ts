import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { relative } from 'node:path';
import { connect } from './connect.ts';
import { ownCommand } from './own-command.ts';
import {
  asArguments,
  checkRoots,
  parseCommandLine,
  serveOptions,
  settingsOf,
  workingFolder,
} from './usage.ts';

type Client = Awaited<ReturnType<typeof connect>>;
/** `toolcrib try`: the main job once, as a host does it, on the current folder; then the entry for a host. */
export async function tryCommand(args: string[]): Promise<number> {
  const { values } = parseCommandLine({ args, options: serveOptions });
  settingsOf(values);
  await checkRoots(values.root ?? []);
  const root = values.root ?? [workingFolder()];
  const startedAt = performance.now();
  const client = await connect(asArguments({ ...values, root }));
  try {
    const { tools } = await client.listTools();
    say(
      `toolcrib serves ${root.join(', ')}: ${tools.length} tools, ${since(startedAt)} after it was started.\n`,
    );
    const names = new Set(tools.map(({ name }) => name));
    await show(client, { name: 'list_programs', arguments: {} });
    await show(client, await firstLook(root[0] ?? '.', names));
    await show(client, { name: 'grep', arguments: { pattern: 'TODO|function|def |import ', limit: 5 } });
    const file = await someFile(root[0] ?? '.');
    if (file) await show(client, { name: 'read_file', arguments: { path: file, limit: 8 } });
    showEntry(root);
    return 0;
  } finally {
    await client.close();
  }
}

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** git_status in a repository; elsewhere what is there. */
async function firstLook(root: string, names: ReadonlySet<string>): Promise<Call> {
  const entries: string[] = await readdir(root).catch(() => []);
  if (names.has('git_status') && entries.includes('.git')) return { name: 'git_status', arguments: {} };
  return { name: 'list_files', arguments: {} };
}

async function someFile(root: string): Promise<string | undefined> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return (
    files.find((name) => /^readme/i.test(name)) ??
    files.find((name) => /\.(?:md|txt|json|ts|js|py|toml)$/.test(name)) ??
    files[0]
  );
}

async function show(client: Client, call: Call): Promise<void> {
  const startedAt = performance.now();
  const { content, isError } = await client.callTool(call);
  const took = since(startedAt);
  const given = Object.entries(call.arguments).map(([key, value]) => `${key}=${String(value)}`);
  say(`> ${[call.name, ...given].join(' ')}  (${took}${isError ? ', an error' : ''})`);
  const text = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  const lines = text.split('\n');
  for (const line of lines.slice(0, 12)) say(`  ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`);
  if (lines.length > 12) say(`  … ${lines.length - 12} more lines`);
  say('');
}

function showEntry(roots: readonly string[]): void {
  const { command, script } = ownCommand();
  // A whole home folder is not what anybody wants to open to a model.
  const wide = roots.some((root) => !relative(root, homedir()).startsWith('..'));
  const shown = wide ? ['/path/to/your/project'] : roots;
  const args = [script, 'serve', ...shown.flatMap((root) => ['--root', root])];
  say('To use it, paste this into the configuration of your host (README.md says where):\n');
  say(JSON.stringify({ mcpServers: { toolcrib: { command, args } } }, null, 2));
}

const since = (start: number): string => `${Math.round(performance.now() - start)} ms`;
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
