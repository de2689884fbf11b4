// The two sides of the day: tools over MCP, and bash with the edit tool of a coding agent. Both count turns and tokens.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

const program = process.env.TOOLCRIB ?? fileURLToPath(new URL('../../dist/toolcrib.cjs', import.meta.url));
/** What comes sooner is taken for the client's own answer, as nobody reads that fast. */
const readingMs = 450;

/** UNCUT=1: what the shell's side leaves out by knowing beforehand what is worth seeing. */
const uncut = process.env.UNCUT === '1';
const cut = /(?<= 2>&1) \| (?:tail|grep) (?:'[^']*'|[^'|&;])*/g;

/** A home of its own, so that neither side meets the settings of who runs the bench. */
export function environmentOf(home) {
  const { PATH, LANG = 'C.UTF-8', TMPDIR } = process.env;
  const own = {
    NO_COLOR: '1',
    TERM: 'dumb',
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  return { PATH, LANG, ...(TMPDIR && { TMPDIR }), ...own, npm_config_update_notifier: 'false' };
}

/** What both sides have in common: what was answered in a task, in how many turns, and with how many questions. */
class Side {
  answers = [];
  turns = 0;
  questions = [];

  constructor(folder) {
    this.folder = folder;
  }

  /** One turn of a model: what it asks for at once counts as one call. */
  async turn(...asked) {
    this.turns++;
    const texts = [];
    for (const one of asked) {
      const text = await this.answer(one);
      this.answers.push({ asked: one, text });
      texts.push(text);
    }
    return texts.join('\n');
  }

  /** What has been done since the last time. */
  count() {
    const { answers, turns, questions } = this;
    Object.assign(this, { answers: [], turns: 0, questions: [] });
    const text = answers.map((one) => one.text).join('\n');
    return {
      answers,
      text,
      calls: turns,
      tokens: answers.reduce((sum, one) => sum + countTokens(one.text), 0),
      questions,
    };
  }

  read(path) {
    return readFileSync(join(this.folder, path), 'utf8');
  }
}

/** Tools of a server, and a person who says yes to each question. */
export class Tools extends Side {
  static async start(folder, env, args = []) {
    const side = new Tools(folder);
    side.client = new Client(
      { name: 'bench', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    side.client.setRequestHandler('elicitation/create', async ({ params }) => {
      side.questions.push(params.message);
      await setTimeout(readingMs);
      return { action: 'accept', content: {} };
    });
    await side.client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program, 'serve', '--root', folder, ...args],
        env,
        cwd: folder,
        stderr: 'ignore',
      }),
    );
    return side;
  }

  async answer([name, given]) {
    try {
      const { content } = await this.client.callTool({ name, arguments: given }, { timeout: 120_000 });
      return content.map((part) => part.text ?? `[${part.type}]`).join('\n');
    } catch (error) {
      // What a host would show the model.
      return `[error] ${error.message}`;
    }
  }

  close() {
    return this.client.close();
  }
}

/** A call of the edit tool of a coding agent. */
export const edit = (path, old_string, new_string) => ({ path, old_string, new_string });
/** A file written by it. */
export const write = (path, content) => ({ path, content });

/** Bash, and an edit tool whose answer is one word. */
export class Shell extends Side {
  constructor(folder, env) {
    super(folder);
    this.env = env;
  }

  async answer(asked) {
    if (typeof asked === 'string')
      return bash(uncut ? asked.replaceAll(cut, '') : asked, this.folder, this.env);
    const path = join(this.folder, asked.path);
    await mkdir(dirname(path), { recursive: true });
    const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const parts = before.split(asked.old_string);
    if (asked.content === undefined && parts.length !== 2)
      return `old_string occurs ${parts.length - 1} times in ${asked.path}`;
    writeFileSync(path, asked.content ?? parts.join(asked.new_string));
    return 'edited';
  }
}

/** What a command prints, both streams as they come. */
function bash(command, cwd, env) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', `exec 2>&1\n${command}`], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject).on('close', () => resolve(text.trimEnd()));
  });
}
