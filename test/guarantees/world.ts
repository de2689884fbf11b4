import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** A project with a neighbour, and a person with a home of their own, who is nobody's but this test's. */
export interface World {
  /** The only root. */
  readonly project: string;
  /** A folder beside it, with `secret.txt`. */
  readonly outside: string;
  readonly home: string;
  /** The state folder of toolcrib. */
  readonly state: string;
  /** The first folder of the search path. */
  readonly bin: string;
  readonly env: Readonly<Record<string, string>>;
  open(options?: SessionOptions): Promise<Session>;
  /** Writes the operator's file. */
  configure(settings: object): void;
  /** Writes a file of the project. */
  write(path: string, content: string | Buffer, mode?: number): string;
  read(path: string): string;
  bytes(path: string): Buffer;
  has(path: string): boolean;
  git(...args: string[]): string;
  /** The text of a shell script that leaves a mark when it runs. */
  trap(): string;
  /** Sees if a trap was run since the last look. */
  sprung(): boolean;
  /** Everything in the project, beside it and at home, with its mode. */
  snapshot(): Record<string, string>;
  /** Closes its servers, and removes all of it. */
  end(): Promise<void>;
}

/** A program that leaves its argument each time it runs, and a script that runs it. */
export const leavesAMark = {
  'run.mjs': "import { appendFileSync } from 'node:fs';\nappendFileSync('ran', process.argv[2] ?? 'ran');\n",
  'package.json': JSON.stringify({ name: 'shop', scripts: { hi: 'node run.mjs script' } }),
  '.gitignore': 'ran\n',
};

/** Text that lies outside of the project. */
export const secretText = 'the secret of the neighbour';

/** A repository with one commit: README.md, src/a.txt. End it. */
export function makeWorld(files: Readonly<Record<string, string>> = {}): World {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-guarantee-')));
  const inside = (...path: string[]) => join(top, ...path);
  const [project, outside, home] = [inside('project'), inside('outside'), inside('home')];
  for (const name of ['project', 'outside', 'home', 'bin', 'config/toolcrib', 'marks'])
    mkdirSync(inside(name), { recursive: true, mode: 0o700 });
  for (const name of ['git', 'node', 'npm', 'sh']) linkProgram(inside('bin'), name);
  const env = {
    PATH: [inside('bin'), '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    // No login shell: what that starts is the user's own.
    SHELL: '/nowhere',
    LANG: 'C.UTF-8',
    TMPDIR: tmpdir(),
    XDG_CONFIG_HOME: inside('config'),
    XDG_STATE_HOME: inside('state'),
    XDG_CACHE_HOME: inside('cache'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const sessions: Session[] = [];
  const world: World = {
    project,
    outside,
    home,
    state: inside('state'),
    bin: inside('bin'),
    env,
    async open(options = {}) {
      const session = await openSession({ ...options, project, env: { ...env, ...options.env } });
      sessions.push(session);
      return session;
    },
    configure: (settings) =>
      writeFileSync(inside('config', 'toolcrib', 'config.json'), JSON.stringify(settings)),
    write(path, content, mode) {
      const file = join(project, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      if (mode !== undefined) chmodSync(file, mode);
      return file;
    },
    read: (path) => readFileSync(join(project, path), 'utf8'),
    bytes: (path) => readFileSync(join(project, path)),
    has: (path) => existsSync(join(project, path)),
    git: (...args) => git(project, args, env),
    trap: () => `#!/bin/sh\necho ran >> '${inside('marks', 'ran')}'\ncat\n`,
    sprung() {
      const ran = existsSync(inside('marks', 'ran'));
      rmSync(inside('marks', 'ran'), { force: true });
      return ran;
    },
    snapshot: () => Object.assign({}, ...[project, outside, home].map(contentOf)) as Record<string, string>,
    async end() {
      await Promise.all(sessions.map((session) => session.close()));
      rmSync(top, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  writeFileSync(join(outside, 'secret.txt'), `${secretText}\n`);
  for (const [path, content] of Object.entries({
    'README.md': '# Example\n',
    'src/a.txt': 'one\ntwo\nthree\n',
    ...files,
  }))
    world.write(path, content);
  world.git('init', '--quiet', '--template=', '--initial-branch=main');
  world.git('config', 'user.name', 'Ada');
  world.git('config', 'user.email', 'ada@example.org');
  world.git('add', '.');
  world.git('commit', '--quiet', '--message=First commit');
  return world;
}

/** Another repository, with one commit that holds a file. */
export function makeRepository(folder: string, env: Readonly<Record<string, string>>, content: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'file.txt'), content);
  git(folder, ['init', '--quiet', '--template=', '--initial-branch=main'], env);
  git(folder, ['add', '.'], env);
  const identity = ['-c', 'user.name=Bob', '-c', 'user.email=bob@example.org'];
  git(folder, [...identity, 'commit', '--quiet', `--message=${content}`], env);
}

const git = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>>): string =>
  execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

function linkProgram(bin: string, name: string): void {
  const folders = [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)];
  const file = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (file !== undefined) symlinkSync(file, join(bin, name));
}

/** Every file below a folder, with its mode and a digest of its content. */
export function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string) => {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    // A program may be removing what it has made.
    if (!facts) return;
    const mode = facts.mode.toString(8);
    if (facts.isDirectory()) {
      found[path] = mode;
      for (const name of readdirSync(path)) visit(join(path, name));
    } else if (facts.isSymbolicLink()) found[path] = readlinkSync(path);
    else if (facts.isFile())
      found[path] = `${mode} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`;
    else found[path] = 'special';
  };
  visit(folder);
  return found;
}
