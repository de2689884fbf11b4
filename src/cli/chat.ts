import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { version } from '../machine/version.ts';
import type { ChatOptions } from '../repl/options.ts';
import { harmless, wrapped } from '../repl/prompt/read-files.ts';
import { ChatError, chatInTerminal, chatOnce, printable } from '../repl/start.ts';
import { inert } from '../repl/terminal/paste.ts';
import { answerReader } from '../repl/toolbox/check-arguments.ts';
import type { UserInput } from '../repl/turn/turn.ts';
import {
  ownCommand,
  asArguments,
  checkRoots,
  oneOf,
  parseCommandLine,
  runCommand,
  settingsOf,
  UsageError,
  workingFolder,
  type ValuesOf,
} from './usage.ts';

// The exports that the library uses.
export { answerOnce } from '../repl/start.ts';
export { eventStream } from '../repl/turn/event-stream.ts';
export { version } from '../machine/version.ts';
export { asArguments } from './usage.ts';

export const options = {
  print: { type: 'boolean', short: 'p' },
  file: { type: 'string', short: 'f', multiple: true },
  output: { type: 'string' },
  schema: { type: 'string' },
  'max-turns': { type: 'string' },
  model: { type: 'string', short: 'm' },
  mode: { type: 'string' },
  yolo: { type: 'boolean' },
  profile: { type: 'string' },
  var: { type: 'string', multiple: true },
  root: { type: 'string', multiple: true },
  continue: { type: 'boolean', short: 'c' },
  resume: { type: 'string', short: 'r' },
  temporary: { type: 'boolean' },
  'no-session': { type: 'boolean' },
  save: { type: 'boolean' },
  allow: { type: 'string', multiple: true },
  ask: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  mcp: { type: 'string', multiple: true },
  'no-toolcrib': { type: 'boolean' },
  'read-only': { type: 'boolean' },
  toolsets: { type: 'string' },
  rule: { type: 'string', multiple: true },
  'no-checkpoints': { type: 'boolean' },
  record: { type: 'string' },
  replay: { type: 'string' },
  trace: { type: 'string' },
} as const;

type ChatValues = ValuesOf<typeof options>;

const exclusive: readonly (readonly [keyof ChatValues, keyof ChatValues])[] = [
  ['yolo', 'mode'],
  ['continue', 'resume'],
  ['no-session', 'continue'],
  ['no-session', 'resume'],
  ['no-session', 'temporary'],
  ['no-session', 'save'],
  ['record', 'replay'],
];

/** Runs `toolcrib chat`: the REPL, or with -p one answer. Its help lists the exit codes. */
export const chatCommand = (args: string[]): Promise<number> => runCommand(() => chat(args));

async function chat(args: string[]): Promise<number> {
  if (args.length === 1 && /^(?:--version|-v)$/.test(args[0] ?? '')) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const { values, positionals } = read(args);
  await checkRoots(values.root ?? []);
  try {
    const options = await optionsOf(values);
    const prompt = positionals.join(' ');
    if (!values.print && !values.file)
      return await chatInTerminal(options, prompt === '' ? undefined : prompt);
    // Standard input is read last, so that a wrong command line is reported before anybody waits for it.
    const formats = ['text', 'json', 'stream-json'] as const;
    const option = `--output ${values.output}`;
    const output = oneOf(formats, values.output ?? 'text', { option, noun: 'way' });
    return await chatOnce(options, { prompts: await promptsFrom(values, prompt), output });
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    const text = printable(error.message);
    if (error.code === 'USAGE' || error.code === 'CONFIG_INVALID') throw new UsageError(text);
    process.stderr.write(`toolcrib: ${error.code}: ${text}\n`);
    return error.code === 'INTERRUPTED' ? 130 : 1;
  }
}

function read(args: string[]) {
  // The value of --resume is optional, which parseArgs does not support.
  const alone = args.findIndex((arg) => arg === '--resume' || arg === '-r');
  const next = args[alone + 1];
  const picks = alone >= 0 && (next === undefined || next.startsWith('-'));
  return parseCommandLine({
    args: picks ? args.with(alone, '--resume=') : args,
    options,
    allowPositionals: true,
  });
}

/** Checks that options go together. Throws UsageError where they do not. */
function checkTogether(values: ChatValues): void {
  for (const [one, other] of exclusive)
    if (values[one] !== undefined && values[other] !== undefined)
      throw new UsageError(`--${one} and --${other}: only one of them.`);
  const once = values.print === true || values.file !== undefined;
  for (const name of ['output', 'schema', 'save'] as const)
    if (values[name] !== undefined && !once)
      throw new UsageError(`--${name} goes with -p: toolcrib chat -p "…" --${name} …`);
  if (values.resume === '' && (once || !process.stdin.isTTY))
    throw new UsageError(
      '--resume needs an id or name where nobody can pick one; --continue takes the latest.',
    );
}

async function optionsOf(values: ChatValues): Promise<ChatOptions> {
  checkTogether(values);
  const { model, mode, profile, schema, record, replay, trace, root, temporary = false } = values;
  const mcpFiles = (values.mcp ?? []).map((file) => resolve(file));
  if (mcpFiles.length > 0) {
    // Their contents are used later, beside the prompt.
    const { readMcpConfig } = await import('../repl/config/mcp-config.ts');
    for (const file of mcpFiles) await readMcpConfig(file, { env: process.env, needed: true });
  }
  const settings = settingsOf(values);
  if (!values['no-toolcrib'] && (values.toolsets ?? values.rule)) {
    const { checkNames } = await import('./served-settings.ts');
    await checkNames(settings);
  }
  const { command, script } = ownCommand();
  const cwd = workingFolder();
  const served = asArguments({ ...values, root: undefined });
  const named = { option: `--mode ${mode}`, noun: 'mode (--yolo stands by itself)' };
  return {
    cwd,
    env: process.env,
    home: homedir(),
    version,
    ownServer: values['no-toolcrib'] ? undefined : { command, args: [script, 'serve', ...served] },
    roots: root?.map((folder) => resolve(folder)),
    variables: variablesOf(values.var ?? []),
    rules: { allow: values.allow ?? [], ask: values.ask ?? [], deny: values.deny ?? [] },
    mcpFiles,
    session: sessionOf(values),
    temporary,
    model,
    mode: values.yolo ? 'yolo' : mode === undefined ? undefined : oneOf(['plan', 'ask', 'auto'], mode, named),
    profile,
    maxTurns: turnsOf(values['max-turns']),
    schema: schema === undefined ? undefined : await schemaOf(schema),
    record: record && resolve(record),
    replay: replay && resolve(replay),
    trace: trace && resolve(trace),
  };
}

function sessionOf(values: ChatValues): ChatOptions['session'] {
  const { resume: which } = values;
  if (values.continue) return 'latest';
  if (which !== undefined) return { which };
  const once = values.print === true || values.file !== undefined;
  const keeps = !once || values.save || values.temporary;
  return values['no-session'] || !keeps ? 'none' : 'new';
}

function turnsOf(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,3}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError(`--max-turns ${text}: a number from 1 to 9999 is expected.`);
}

function variablesOf(texts: readonly string[]): Record<string, string> {
  const wrong = texts.find((text) => text.indexOf('=') < 1);
  if (wrong !== undefined) throw new UsageError(`--var ${wrong}: name=value is expected.`);
  return Object.fromEntries(texts.map((text) => text.split(/=(.*)/s, 2)));
}

async function schemaOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const schema = JSON.parse(await readNamed(file)) as Readonly<Record<string, unknown>>;
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw new TypeError('a JSON Schema object is expected');
    await answerReader(schema);
    return schema;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // The message quotes the file, with its line ends.
    throw new UsageError(`--schema ${file}: ${why.replaceAll(/\s+/g, ' ')}`);
  }
}

/** Reads the text of a file that is named on the command line. */
const readNamed = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path}: cannot be read (${error.code ?? error.message}).`);
  });

/** Milliseconds of waiting for standard input after which a hint is printed. */
const hintAfterMs = 3000;

/** The prompts: piped input before the prompt of the command line, or the prompts of files, one a line. */
async function promptsFrom(values: ChatValues, prompt: string): Promise<UserInput[]> {
  const files = await Promise.all((values.file ?? []).map((file) => readNamed(file)));
  // A backslash at the end continues the line, as when it is typed.
  const lines = files.flatMap((text) => text.split(/(?<!\\)\r?\n/));
  const prompts = lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => line.replaceAll(/\\(\r?\n)/g, '$1'));
  // With a pipe that nobody closes, a person would wait for ever and not know why.
  const hint = setTimeout(
    () => process.stderr.write('toolcrib: reading standard input until it ends; </dev/null leaves it out\n'),
    hintAfterMs,
  );
  const piped = process.stdin.isTTY || values.file ? '' : (await textOf(process.stdin)).trimEnd();
  clearTimeout(hint);
  // Somebody else may have written the piped input.
  const before = inert(prompt === '' ? harmless(piped) : wrapped('stdin', {}, piped));
  const last = piped === '' ? prompt : `${before}\n\n${prompt}`;
  const all = [...prompts, last.trim()].filter((text) => text !== '');
  if (all.length === 0)
    throw new UsageError('-p: there is no prompt. toolcrib chat -p "question", or pipe it in.');
  return all.map((text) => ({ text }));
}
