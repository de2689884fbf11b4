import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  Client,
  ReadBuffer,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { replyTo } from '../support/person.ts';
import { tscCmd } from '../machine/recorded/windows-shims.ts';

/** The settings of scripts/windows/: where programs are started, and drive C as a folder of this computer. */
const { WINDOWS_BRIDGE: bridge = '', WINDOWS_DRIVE: drive = '' } = process.env;

export interface Ended {
  /** 3221226505 and the like stand for exceptions, as 0xC0000409. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program of Windows, with pipes of Windows. */
export interface Running {
  write(text: string): void;
  endInput(): void;
  onOutput(listener: (text: string) => void): void;
  /** Resolves when it has ended and its pipes are closed; rejects when it could not be started. */
  readonly ended: Promise<Ended>;
}

interface StartOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

type FromBridge = Partial<Ended> & { readonly error?: string };

export function start(words: readonly string[], options: StartOptions): Running {
  const [port, key] = bridge.split(' ');
  const socket = connect(Number(port), '127.0.0.1');
  const send = (message: object) => socket.write(`${JSON.stringify(message)}\n`);
  const said = { stdout: '', stderr: '' };
  const listeners: ((text: string) => void)[] = [];
  send({ key, words, ...options });
  const ended = new Promise<Ended>((resolve, reject) => {
    socket.once('error', reject);
    const lines = createInterface({ input: socket });
    lines.on('line', (line) => {
      const { stdout = '', stderr = '', code, error } = JSON.parse(line) as FromBridge;
      said.stdout += stdout;
      said.stderr += stderr;
      if (stdout) for (const listener of listeners) listener(stdout);
      if (error !== undefined) reject(new Error(error));
      if (code !== undefined) resolve({ code, ...said });
    });
    lines.once('close', () => reject(new Error(`Wine has ended; ${words.join(' ')} said ${said.stderr}`)));
  });
  return {
    write: (text) => send({ stdin: text }),
    endInput: () => socket.end(),
    onOutput: (listener) => listeners.push(listener),
    ended,
  };
}

/** The standard streams of a program as a client of MCP has them. */
class PipeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #running: Running;
  readonly #buffer = new ReadBuffer();

  constructor(running: Running) {
    this.#running = running;
  }

  async start(): Promise<void> {
    this.#running.onOutput((text) => {
      this.#buffer.append(Buffer.from(text));
      for (let next = this.#buffer.readMessage(); next; next = this.#buffer.readMessage())
        this.onmessage?.(next);
    });
    const closed = () => this.onclose?.();
    this.#running.ended.then(closed, closed);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#running.write(serializeMessage(message));
  }

  /** Ends the server as hosts do: what is left of it after that is a fault of its own. */
  async close(): Promise<void> {
    this.#running.endInput();
    await this.#running.ended.catch(() => {});
  }
}

/** A person's computer with Windows: Node, npm, a few programs, toolcrib, and a project `shop`. */
export interface Computer {
  /** Paths of Windows. */
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** The same below a folder of this computer. */
  readonly at: (path: string) => string;
  /** Files below a folder of it; none when it is not there. */
  files(path: string): string[];
  toolcrib(...words: string[]): Running;
  /** A client whose person says yes, and the server it talks to. */
  open(...words: string[]): Promise<{ client: Client; server: Running }>;
  /** Command lines of running programs in which the text stands. */
  running(text: string): string[];
  end(): void;
}

/** The exception that Node 20 to 24 ends with now and then under Wine, before it has run a line of ours. */
const titleless = 0xc0000409;

export function makeComputer(node: string, files: Readonly<Record<string, string>>): Computer {
  const top = mkdtempSync(join(drive, 'Ada Lövelace '));
  const at = (path: string) => join(top, ...path.split('\\'));
  const onWindows = (...path: string[]) => ['C:', basename(top), ...path].join('\\');
  const [home, project] = [onWindows('home'), onWindows('shop')];
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  for (const folder of ['home\\AppData\\Local\\Temp', 'unix', 'shop'])
    mkdirSync(at(folder), { recursive: true });
  for (const [path, text] of Object.entries(files)) write(path, text);
  install(at);
  const folders = [
    `C:\\${node}`,
    'C:\\tools',
    onWindows('home\\AppData\\Roaming\\npm'),
    onWindows('tools'),
    'C:\\windows\\system32',
  ];
  const env = {
    Path: folders.join(';'),
    USERPROFILE: home,
    APPDATA: `${home}\\AppData\\Roaming`,
    LOCALAPPDATA: `${home}\\AppData\\Local`,
    TEMP: `${home}\\AppData\\Local\\Temp`,
    TMP: `${home}\\AppData\\Local\\Temp`,
    // As Git's shell sets it. Nothing of ours belongs there.
    HOME: onWindows('unix'),
    XDG_CONFIG_HOME: onWindows('unix', 'config'),
  };
  const toolcrib = (...words: string[]) =>
    start([`C:\\${node}\\node.exe`, onWindows('toolcrib\\dist\\toolcrib.cjs'), ...words], {
      cwd: project,
      env,
    });
  const open = async (...words: string[]): Promise<{ client: Client; server: Running }> => {
    const server = toolcrib('serve', '--root', project, ...words);
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {} } } },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => replyTo(() => 'yes', params));
    try {
      await client.connect(new PipeTransport(server), { timeout: 60_000 });
      return { client, server };
    } catch (error) {
      if ((await server.ended).code === titleless) return open(...words);
      throw error;
    }
  };
  return {
    home,
    project,
    env,
    at,
    toolcrib,
    open,
    files: (path) => filesIn(at(path)),
    running: (text) => commandLines().filter((line) => line.includes(text)),
    end: () => rmSync(top, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}

/** The files that `npm install --global` would have made of the built package, and of typescript. */
function install(at: (path: string) => string): void {
  const here = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const packaged = (name: string) => join(drive, 'packages', name);
  cpSync(here('dist'), at('toolcrib\\dist'), { recursive: true });
  cpSync(here('package.json'), at('toolcrib\\package.json'));
  const modules = at('toolcrib\\node_modules\\@vscode');
  cpSync(here('node_modules/@vscode/ripgrep'), join(modules, 'ripgrep'), { recursive: true });
  cpSync(packaged('@vscode/ripgrep-win32-x64'), join(modules, 'ripgrep-win32-x64'), { recursive: true });
  const global = at('home\\AppData\\Roaming\\npm');
  cpSync(packaged('typescript'), join(global, 'node_modules/typescript'), { recursive: true });
  writeFileSync(join(global, 'tsc.cmd'), tscCmd);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return []; // There is no such folder.
  }
}

/** Of all processes here, those of Wine among them. */
const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // It has ended meanwhile.
      }
    });
