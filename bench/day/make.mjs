// What the projects of the day are made with.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const installed = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Whether a program is on this machine. */
export const isHere = (program) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

/** Files by their paths. */
export function put(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    const at = join(folder, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
  }
}

/** git, always at the same dates, so that commits have the same names on both sides and at each run. */
export function repository(folder) {
  let commits = 0;
  const git = (...args) => {
    const at = new Date(Date.UTC(2026, 0, 5) + commits * 3_600_000).toISOString();
    const who = { NAME: 'Ada Byron', EMAIL: 'ada@example.org', DATE: at };
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_EDITOR: 'true' };
    for (const [key, value] of Object.entries(who)) {
      env[`GIT_AUTHOR_${key}`] = value;
      env[`GIT_COMMITTER_${key}`] = value;
    }
    return execFileSync('git', args, {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  git('init', '--quiet', '--initial-branch=main');
  return {
    git,
    commit(message, files = {}) {
      put(folder, files);
      commits++;
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', `--message=${message}`);
      return git('rev-parse', '--short', 'HEAD').trim();
    },
  };
}

/** Packages of this repository with all they need, as an installation leaves them. */
export function install(folder, names) {
  const seen = new Set();
  const add = (name) => {
    const from = join(installed, name);
    if (seen.has(name) || !existsSync(from)) return;
    seen.add(name);
    const at = join(folder, 'node_modules', name);
    mkdirSync(dirname(at), { recursive: true });
    cpSync(from, at, { recursive: true, verbatimSymlinks: true });
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(from);
    Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).forEach(add);
  };
  names.forEach(add);
  const bin = join(folder, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  for (const name of names) {
    const { bin: said = {} } = manifestOf(join(installed, name));
    const programs = typeof said === 'string' ? { [name]: said } : said;
    for (const [program, path] of Object.entries(programs))
      symlinkSync(join('..', name, path), join(bin, program));
  }
}

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
