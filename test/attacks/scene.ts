import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { contentOf } from '../guarantees/world.ts';
import { inherited, type ServerOptions } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** Programs that are put in a recording wrapper where they are installed; the others are played. */
const wrapped = ['git', 'make', 'cmake', 'ctest', 'npm', 'node', 'python3', 'sqlite3', 'psql', 'mysql'];
const played = ['docker', 'mvn', 'gradle', 'cargo', 'go', 'dotnet'];

export interface Scene {
  /** The only root: a repository with a project of every kind. */
  readonly root: string;
  /** A folder beside it, with a file `secret.txt` and a repository. */
  readonly outside: string;
  readonly home: string;
  /** The folder of the programs that record how they are called. */
  readonly bin: string;
  /** The options to start a server with. */
  options(args?: readonly string[], env?: Record<string, string>): ServerOptions;
  write(path: string, content: string): string;
  /** The programs that were started in the root since the last look, with their arguments. */
  started(): string[];
  /** Everything in the root, outside and at home, as it is now. */
  snapshot(): Record<string, string>;
  /** Removes all of it. */
  end(): void;
}

/** Text that nobody may be shown. */
export const secretText = 'the secret of the neighbour';

/** A root, a neighbour, a home and programs that write down what they are asked, unless the real ones are. End it. */
export function createScene({ records = true } = {}): Scene {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-scene-')));
  const folder = (name: string) => {
    mkdirSync(join(top, name));
    return join(top, name);
  };
  const [root, outside, home, bin, state] = ['root', 'outside', 'home', 'bin', 'state'].map(folder) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const log = join(top, 'log');
  if (records) for (const name of [...wrapped, ...played]) record(bin, name, log);
  const write = (path: string, content: string) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const git = (cwd: string, ...args: string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    const ended = spawnSync('git', [...identity, ...args], { cwd, encoding: 'utf8' });
    if (ended.status !== 0) throw new Error(ended.stderr);
  };
  writeFileSync(join(home, '.bashrc'), '# mine\n');
  mkdirSync(join(home, '.ssh'));
  writeFileSync(join(home, '.ssh', 'id_rsa'), secretText);
  write('README.md', '# Example\n');
  write('src/a.txt', 'one\ntwo\n');
  write('package.json', '{"name":"p","version":"1.0.0","scripts":{"test":"touch ran"}}');
  write('Makefile', 'all:\n\ttouch ran\n');
  write('CMakeLists.txt', 'file(TOUCH ran)\n');
  write('evil.sh', '#!/bin/sh\ntouch ran\n');
  chmodSync(join(root, 'evil.sh'), 0o755);
  writeFileSync(join(outside, 'secret.txt'), secretText);
  for (const repository of [root, outside]) {
    git(repository, 'init', '--quiet', '--template=', '--initial-branch=main');
    git(repository, 'add', '.');
    git(repository, 'commit', '--quiet', '--message=First');
  }
  return {
    root,
    outside,
    home,
    bin,
    write,
    options: (args = [], env = {}) => ({
      roots: [root],
      args: ['--no-checkpoints', ...args],
      env: {
        ...inherited(),
        PATH: `${bin}:/usr/bin:/bin`,
        // No login shell: what that starts is the user's own.
        SHELL: '/nowhere',
        HOME: home,
        XDG_STATE_HOME: state,
        XDG_CACHE_HOME: join(state, 'cache'),
        XDG_CONFIG_HOME: join(home, '.config'),
        ...env,
      },
    }),
    started() {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
      writeFileSync(log, '');
      // Elsewhere they are asked for their versions.
      return lines.filter((line) => line.startsWith(`${root}|`)).map((line) => line.slice(root.length + 1));
    },
    snapshot: () => Object.assign({}, ...[root, outside, home].map(contentOf)) as Record<string, string>,
    end: () => rmSync(top, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** The version that a program of the scene prints. */
const plays = `case "$*" in
*compose*version*) echo 2.36.0 ;;
*version*) echo 'Docker version 28.2.2, build e6534b4' ;;
esac`;

/** A program that writes down where it is and what it is asked, and then is the real one, or nothing. */
function record(bin: string, name: string, log: string): void {
  const real = played.includes(name)
    ? undefined
    : ['/usr/bin', '/usr/local/bin', dirname(process.execPath)]
        .map((folder) => join(folder, name))
        .find((path) => existsSync(path));
  if (real === undefined && !played.includes(name)) return;
  const file = join(bin, name);
  const rest = real === undefined ? plays : `exec '${real}' "$@"`;
  writeFileSync(file, `#!/bin/sh\nprintf '%s|${name} %s\\n' "$PWD" "$*" >> '${log}'\n${rest}\n`);
  chmodSync(file, 0o755);
}

/** The questions to programs before it is decided if they are run: they change nothing. */
const isQuestion = (line: string): boolean =>
  /^(?:node \S*\/)?npm prefix |^git .* (?:config|ls-files|rev-parse|version|check-attr) /.test(line);

/** A value as JSON, short enough for the name of a test. */
export function inShort(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length < 100 ? text : `${text.slice(0, 80)}… (${text.length})`;
}

export interface Refusal {
  readonly name: string;
  readonly given: Record<string, unknown>;
  readonly says: RegExp;
  /** True when programs may be asked something before. */
  readonly asks?: boolean;
}

/**
 * Makes a call that has to be refused: with this answer, nothing started in the root, and nothing changed there, beside
 * it, or at home.
 */
export async function refused(
  { client, scene }: { client: Client; scene: Scene },
  { name, given, says, asks = false }: Refusal,
): Promise<void> {
  const before = scene.snapshot();
  scene.started();
  const result = await client.callTool({ name, arguments: given });
  const text = textOf(result);
  expect(text).toMatch(says);
  expect(result.isError, text).toBe(true);
  expect(text).not.toContain(secretText);
  expect(scene.started().filter((line) => !asks || !isQuestion(line))).toEqual([]);
  expect(scene.snapshot()).toEqual(before);
}
