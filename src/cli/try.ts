import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { ownCommandLine } from '../server/approvals/own-command.ts';
import type { CallRequest } from './call.ts';
import { connect } from './connect.ts';
import { parseCommandLine, serveOptions, workingFolder, type ServeValues } from './usage.ts';

/**
 * Runs `toolcrib try`: shows what a model can do in the current folder, through a real client, and how a host
 * gets it.
 */
export async function tryCommand(args: string[]): Promise<number> {
  const { values } = parseCommandLine({ args, options: serveOptions });
  const root = values.root ?? [workingFolder()];
  const startedAt = performance.now();
  const client = await connect({ ...values, root });
  try {
    const { tools } = await client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    const calls = [
      { name: 'project', arguments: {} },
      { name: 'grep', arguments: { pattern: definition, glob: sources, limit: 5 } },
    ];
    const count = `${tools.length} tools, ${since(startedAt)} after it was started`;
    printLine(`toolcrib serves ${root.join(', ')}: ${count}.\n`);
    for (const call of calls) if (names.has(call.name)) await show(client, call);
    if (names.has('edit_file') && names.has('undo')) await showEdit(root[0] ?? '.', { ...values });
    if (names.has('find_actions'))
      await show(client, { name: 'find_actions', arguments: { query: 'who changed this line' } });
  } finally {
    await client.close();
  }
  printLine(`To use it: ${ownCommandLine()} config HOST --write (claude-code, cursor, vscode, …)`);
  return 0;
}

/** The pattern of a definition in most languages. */
const definition =
  String.raw`^\s*(export |async |pub |public |static )*` +
  String.raw`(function|def|fn|func|class|interface) \w+`;
/** The files that have such definitions. */
const sources = '*.{ts,tsx,js,mjs,cjs,jsx,py,rb,go,rs,java,kt,c,h,cpp,cs,php,swift,sh}';

/** Shows an edit and its undo in a copy, so that nothing of the project is changed or enters the history. */
async function showEdit(root: string, values: ServeValues): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolcrib-try-')));
  try {
    const { name, text, line } = await smallFile(root);
    await writeFile(join(folder, name), text);
    const client = await connect({ ...values, root: [folder] });
    try {
      printLine(`In a copy of ${name}:\n`);
      const replacement = { path: name, old_string: line, new_string: `${line} (edited)` };
      await show(client, { name: 'edit_file', arguments: replacement });
      await show(client, { name: 'undo', arguments: { last: 1 } });
    } finally {
      await client.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The README of the folder if it has a line that can be edited, otherwise a text of our own. */
async function smallFile(root: string): Promise<{ name: string; text: string; line: string }> {
  const name = 'README.md';
  const text = await readFile(join(root, name), 'utf8').catch(() => '');
  // A short line with words that occurs once, so that the edit is unambiguous.
  const line = text
    .split(/\r?\n/, 100)
    .find((each) => /\w{3}/.test(each) && each.length < 100 && text.split(each).length === 2);
  if (line !== undefined) return { name, text, line };
  return { name: 'hello.txt', text: 'Hello, world\n', line: 'Hello, world' };
}

async function show(client: Client, call: CallRequest): Promise<void> {
  const startedAt = performance.now();
  const { content, isError } = await client.callTool(call);
  const took = since(startedAt);
  const args = Object.entries(call.arguments ?? {}).map(([key, value]) => `${key}=${String(value)}`);
  printLine(`> ${[call.name, ...args].join(' ')}  (${took}${isError ? ', an error' : ''})`);
  const text = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  const lines = text.trimEnd().split('\n');
  for (const line of lines.slice(0, 12))
    printLine(`  ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`);
  if (lines.length > 12) printLine(`  … ${lines.length - 12} more lines`);
  printLine('');
}

const since = (start: number): string => `${Math.round(performance.now() - start)} ms`;
const printLine = (line: string): boolean => process.stdout.write(`${line}\n`);
