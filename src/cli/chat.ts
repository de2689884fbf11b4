import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { version } from '../server/version.ts';
import type { ChatOptions, SessionChoice } from '../repl/options.ts';
import type { Output } from '../repl/one-shot.ts';
import type { Said } from '../repl/turn/send.ts';
import { asArguments, checkRoots, parseCommandLine, settingsOf, UsageError, workingFolder } from './usage.ts';
import { ownCommand } from './own-command.ts';

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

type Values = ReturnType<typeof read>['values'];

const modes = ['plan', 'ask', 'auto'] as const;
const outputs: readonly Output[] = ['text', 'json', 'stream-json'];

/** `toolcrib chat`: the REPL, or with -p one answer. Exit codes are those of its help. */
export async function chatCommand(args: string[]): Promise<number> {
  if (args.length === 1 && /^(?:--version|-v)$/.test(args[0] ?? '')) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const { values, positionals } = read(args);
  await checkRoots(values.root ?? []);
  const start = await import('../repl/start.ts');
  try {
    const chat = await optionsOf(values);
    const given = positionals.join(' ');
    if (!values.print && !values.file) {
      for (const name of ['output', 'schema', 'save'] as const)
        if (values[name] !== undefined)
          throw new UsageError(`--${name} goes with -p: toolcrib chat -p "…" --${name} …`);
      return await start.chatInTerminal(chat, given === '' ? undefined : given);
    }
    // Standard input last: what is wrong with the command line is said before anybody waits for it.
    const output = outputOf(values.output);
    return await start.chatOnce(chat, { prompts: await promptsFrom(values, given), output });
  } catch (error) {
    if (!(error instanceof start.ChatError)) throw error;
    const text = start.printable(error.message);
    if (error.code === 'USAGE' || error.code === 'CONFIG_INVALID') throw new UsageError(text);
    process.stderr.write(`toolcrib: ${error.code}: ${text}\n`);
    return error.code === 'INTERRUPTED' ? 130 : 1;
  }
}

function read(args: string[]) {
  // --resume may stand alone; parseArgs knows no optional values.
  const alone = args.findIndex((arg) => arg === '--resume' || arg === '-r');
  const next = args[alone + 1];
  const picks = alone >= 0 && (next === undefined || next.startsWith('-'));
  return parseCommandLine({
    args: picks ? args.with(alone, '--resume=') : args,
    options,
    allowPositionals: true,
  });
}

async function optionsOf(values: Values): Promise<ChatOptions> {
  const { readNamed } = await import('../repl/start.ts');
  if (values.mcp) {
    // What is in them is taken later, beside the prompt.
    const { readMcpConfig } = await import('../repl/config/mcp-config.ts');
    for (const file of values.mcp) await readMcpConfig(resolve(file), { env: process.env, needed: true });
  }
  const { toolsets = [], rules = [] } = settingsOf(values);
  if (!values['no-toolcrib'] && toolsets.length + rules.length > 0) {
    const { checkRules, checkToolsets } = await import('./toolsets.ts');
    await checkToolsets(toolsets);
    await checkRules(rules);
  }
  if (values.record !== undefined && values.replay !== undefined)
    throw new UsageError('--record and --replay: only one of them.');
  const { command, script } = ownCommand();
  const cwd = workingFolder();
  const served = asArguments({ ...values, root: undefined });
  const { maxTurns, mode } = { maxTurns: turnsOf(values['max-turns']), mode: modeOf(values) };
  return {
    cwd,
    env: process.env,
    home: homedir(),
    platform: process.platform,
    version,
    ownServer: values['no-toolcrib'] ? undefined : { command, args: [script, 'serve', ...served] },
    roots: (values.root ?? [cwd]).map((root) => resolve(root)),
    rootsGiven: values.root !== undefined,
    variables: variablesOf(values.var ?? []),
    rules: { allow: values.allow ?? [], ask: values.ask ?? [], deny: values.deny ?? [] },
    mcpFiles: (values.mcp ?? []).map((file) => resolve(file)),
    session: sessionOf(values),
    temporary: values.temporary ?? false,
    ...(values.model === undefined ? {} : { model: values.model }),
    ...(mode === undefined ? {} : { mode }),
    ...(values.profile === undefined ? {} : { profile: values.profile }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(values.schema === undefined
      ? {}
      : { schema: await schemaOf(values.schema, await readNamed(values.schema)) }),
    ...(values.record === undefined ? {} : { record: resolve(values.record) }),
    ...(values.replay === undefined ? {} : { replay: resolve(values.replay) }),
    ...(values.trace === undefined ? {} : { trace: resolve(values.trace) }),
  };
}

function modeOf({ mode, yolo }: Values): ChatOptions['mode'] {
  if (yolo && mode !== undefined) throw new UsageError('--yolo and --mode: only one of them.');
  if (yolo) return 'yolo';
  if (mode === undefined) return undefined;
  const found = modes.find((one) => one === mode);
  if (!found)
    throw new UsageError(`--mode ${mode}: plan, ask or auto is expected (--yolo stands by itself).`);
  return found;
}

function sessionOf(values: Values): SessionChoice {
  const once = values.print === true || values.file !== undefined;
  if (values.continue && values.resume !== undefined)
    throw new UsageError('--continue and --resume: only one of them.');
  if (
    values['no-session'] &&
    (values.continue || values.resume !== undefined || values.temporary || values.save)
  )
    throw new UsageError(
      '--no-session keeps nothing: it goes with no --continue, --resume, --temporary or --save.',
    );
  if (values.continue) return { kind: 'latest' };
  if (values.resume !== undefined) {
    if (values.resume === '' && once)
      throw new UsageError(
        '--resume needs the id or name of a session with -p; --continue takes the latest.',
      );
    return { kind: 'resume', ...(values.resume === '' ? {} : { which: values.resume }) };
  }
  const keeps = !once || values.save || values.temporary;
  return { kind: values['no-session'] || !keeps ? 'none' : 'new' };
}

function turnsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`--max-turns ${text}: a number from 1 to 9999 is expected.`);
}

function variablesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new UsageError(`--var ${text}: name=value is expected.`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

function outputOf(text = 'text'): Output {
  const found = outputs.find((one) => one === text);
  if (!found) throw new UsageError(`--output ${text}: ${outputs.join(', ')} are the ways.`);
  return found;
}

async function schemaOf(file: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  const { answerReader } = await import('../repl/toolbox/check-arguments.ts');
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) {
      const found = schema as Record<string, unknown>;
      await answerReader(found);
      return found;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    // It quotes the file, with its line ends.
    throw new UsageError(`--schema ${file}: ${why.replaceAll(/\s+/g, ' ')}`);
  }
  throw new UsageError(`--schema ${file}: a JSON Schema object is expected.`);
}

/** What is to be said: what came through the pipe, then the prompt; or the prompts of files. */
async function promptsFrom(values: Values, given: string): Promise<Said[]> {
  const [{ readNamed }, { promptsOf }, { harmless, wrapped }, { inert }] = await Promise.all([
    import('../repl/start.ts'),
    import('../repl/prompts-of.ts'),
    import('../repl/prompt/elements.ts'),
    import('../repl/text/inert.ts'),
  ]);
  const files = await Promise.all((values.file ?? []).map(async (file) => promptsOf(await readNamed(file))));
  const piped = process.stdin.isTTY || values.file ? '' : await readPiped(given !== '');
  // Somebody else may have written what was piped in.
  const text = [
    ...(piped === '' ? [] : [inert(given === '' ? harmless(piped) : wrapped('stdin', {}, piped))]),
    given,
  ]
    .join('\n\n')
    .trim();
  const prompts = [...files.flat().map((prompt) => ({ text: prompt })), ...(text === '' ? [] : [{ text }])];
  if (prompts.length === 0)
    throw new UsageError('-p: there is no prompt. toolcrib chat -p "question", or pipe it in.');
  return prompts;
}

/** A prompt longer than this is a mistake. */
const mostBytes = 10_000_000;
const patienceMs = 3000;

async function readPiped(hasPrompt: boolean): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Whoever starts us with a pipe that nobody closes would wait for ever and not know why.
  const hint = setTimeout(
    () => process.stderr.write('toolcrib: reading standard input until it ends; </dev/null leaves it out\n'),
    patienceMs,
  );
  if (!hasPrompt) clearTimeout(hint);
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) throw new UsageError('standard input holds more than 10 MB.');
    parts.push(part);
  }
  clearTimeout(hint);
  return Buffer.concat(parts).toString('utf8').trimEnd();
}
