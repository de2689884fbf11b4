import { readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settings } from '../core/settings.ts';
import { thisHost } from '../machine/host.ts';
import { userFolder, unkeptState } from '../machine/user-folders.ts';
import { stateFolder } from '../store/own-files.ts';
import type { EarlyAnswers } from '../server/start/start-cache.ts';
import { trackDependencies, type DependencyTracker } from '../server/start/dependency-tracker.ts';
import type { Listening } from '../server/wire/http/guard.ts';
import type { Environment } from '../machine/environment.ts';
import { detectEnvironment } from '../server/environment/detect-environment.ts';
import type { Transport } from '../server/wire/stdio.ts';
import type { Trace } from '../server/client/trace.ts';
import { configFile } from './config.ts';
import { ownProgramFolder } from './here.ts';
import { machineHere } from './machine-here.ts';
import { servedSettings } from './served-settings.ts';
import { ToolcribError } from '../core/errors.ts';
import {
  exitCodeOf,
  parseCommandLine,
  serveOptions,
  UsageError,
  type ServeValues,
  type ValuesOf,
} from './usage.ts';

/** The options that only `serve` has, and only over HTTP. */
const httpOptions = {
  http: { type: 'boolean' },
  host: { type: 'string' },
  port: { type: 'string' },
  'token-file': { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
} as const;

/**
 * Runs `toolcrib serve` until the host closes our input or a signal comes. Continues after the requests that
 * were answered early.
 */
export async function serveCommand(args: string[], opening?: EarlyAnswers): Promise<number> {
  return exitCodeOf(async () => {
    // This option is not in the help: our own host writes its key into a pipe, where no other process can see
    // it.
    const keyed = args.find((arg) => arg.startsWith(keyOption));
    const tracker = trackDependencies(thisHost());
    tracker.noteFile(configFile());
    const { values } = parseCommandLine({
      args: args.filter((arg) => arg !== keyed),
      options: { ...serveOptions, ...httpOptions, trace: { type: 'string' } },
    });
    const configured = await servedSettings(values);
    noteSettings(tracker, configured);
    const http = await listeningIn(values);
    // Our own host asks its user, whatever the operator has set for other hosts.
    const settings: Settings = keyed === undefined ? configured : { ...configured, questions: 'server' };
    const key = keyed === undefined ? undefined : keyIn(Number(keyed.slice(keyOption.length)));
    const environment = await detectEnvironment(settings, tracker, ownProgramFolder());
    printProblems(environment);
    try {
      const trace = await traceInto(values.trace, settings);
      if (http) {
        const { serveHttp } = await import('../server/wire/http/serve-http.ts');
        await serveHttp(settings, http, environment, trace);
      } else {
        const { serve } = await import('../server/wire/stdio.ts');
        await serve(settings, { hostKey: key, opening, trace, tracker }, environment);
      }
      return 0;
    } catch (error) {
      throw error instanceof Error ? startProblem(error, http, values.trace) : error;
    }
  });
}

/**
 * Serves a client in this process, with the options of `serve`. Resolves with the function that ends the
 * server. Throws UsageError.
 */
export async function serveHere(values: ServeValues, transport: Transport): Promise<() => Promise<unknown>> {
  const settings = await servedSettings(values);
  const environment = await machineHere(settings);
  printProblems(environment);
  const { serveInProcess } = await import('../server/wire/stdio.ts');
  return serveInProcess(settings, transport, environment);
}

function printProblems({ problems, host }: Environment): void {
  const unkept = unkeptState(host);
  for (const problem of unkept === undefined ? problems : [...problems, unkept])
    process.stderr.write(`toolcrib: ${problem}\n`);
}

/** Opens the trace of messages, if there is a file for it. Throws the system's error. */
async function traceInto(file: string | undefined, settings: Settings): Promise<Trace | undefined> {
  if (file === undefined) return undefined;
  const [{ createTrace }, { maskOf }] = await Promise.all([
    import('../server/client/trace.ts'),
    import('../server/create-session.ts'),
  ]);
  return createTrace(file, maskOf(thisHost(), settings));
}

type HttpValues = ValuesOf<typeof httpOptions>;

/**
 * The address to listen at; undefined without --http. Throws UsageError, also for a file of tokens that
 * others can read.
 */
async function listeningIn(values: HttpValues): Promise<Listening | undefined> {
  const { http, host = '127.0.0.1', port = '7311', 'token-file': file, 'allow-host': names = [] } = values;
  const option = Object.keys(httpOptions).find((name) => values[name as keyof HttpValues] !== undefined);
  if (!http && option !== undefined) throw new UsageError(`--${option} belongs to --http.`);
  if (!http) return undefined;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    throw new UsageError(`--port ${port}: a number up to 65535 is expected; 0 is any that is free.`);
  if (host === '') throw new UsageError('--host: an address is expected; 127.0.0.1 is usual.');
  const name = names.find((each) => !isHostName(each));
  if (name !== undefined)
    throw new UsageError(`--allow-host ${name}: a name alone is expected, without scheme, port or *.`);
  const { ownToken, readTokens } = await import('../server/wire/http/tokens.ts');
  try {
    const tokens = file === undefined ? ownToken(userFolder('state', thisHost())) : readTokens(file);
    return { host, port: Number(port), tokens, names: names.map((name) => name.toLowerCase()) };
  } catch (error) {
    throw error instanceof ToolcribError ? new UsageError(error.message) : error;
  }
}

/**
 * True for the name of a host or the origin of an extension. `moz-extension://*` is that of any extension of
 * Firefox, because each installation has a name of its own.
 */
const isHostName = (name: string): boolean =>
  /^(?!https?:)[a-z][a-z\d+.-]*:\/\/\*$/i.test(name) || isPlainName(name);
const isPlainName = (name: string): boolean =>
  !name.includes('*') &&
  URL.canParse(`http://${name}`) &&
  new URL(`http://${name}`).hostname === name.toLowerCase();

/** Explains a system error about the file of the trace, or about the address to listen at. */
function startProblem(error: Error, http: Listening | undefined, trace: string | undefined): Error {
  const { code, path } = error as NodeJS.ErrnoException;
  if (trace !== undefined && path === trace)
    return new UsageError(`--trace ${trace}: it cannot be written (${code}).`);
  if (!http) return error;
  const { host, port } = http;
  if (code === 'EADDRINUSE') return new UsageError(`--port ${port}: it is taken; 0 is any that is free.`);
  return code === undefined
    ? error
    : new UsageError(`--host ${host} --port ${port}: cannot be listened at (${code}).`);
}

/** Notes what a start depends on besides programs. */
function noteSettings({ host, noteFile, noteFolder }: DependencyTracker, { roots, folders }: Settings): void {
  for (const folder of [...roots, ...Object.keys(folders)]) noteFolder(resolve(folder));
  for (const root of roots) noteFile(resolve(root, '.toolcrib.json'));
  const state = stateFolder(host.platform, host.env, host.home);
  if (state !== undefined) noteFile(join(state, 'trust'));
}

/**
 * The option with the descriptor of a pipe, such as standard input, whose first line holds the key of the
 * host that asks its user.
 */
const keyOption = '--key-fd=';

function keyIn(pipe: number): string {
  const byte = Buffer.alloc(1);
  let line = '';
  // Bytes are read one by one, because what follows on standard input is for the server.
  while (line.length < longestLine && readSync(pipe, byte) === 1 && byte[0] !== 10)
    line += byte.toString('latin1');
  const key = /[0-9a-f]{64}/.exec(line)?.[0];
  if (key === undefined) throw new UsageError(`${keyOption}${pipe}: there is no key in it.`);
  return key;
}

const longestLine = 1000;
