import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder, gone after the test. Real path: a temporary folder may lie behind a link. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export interface Repository {
  folder: string;
  git(...args: string[]): string;
  write(path: string, content: string): string;
  /** An executable script that leaves a mark when it runs. */
  trap(name: string): { script: string; mark: string };
}

const identity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
};

/** A real repository with one commit: README.md, src/a.txt. */
export function temporaryRepository(folder = temporaryFolder()): Repository {
  const repository: Repository = {
    folder,
    git: (...args) =>
      execFileSync('git', args, {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, ...identity, GIT_CONFIG_NOSYSTEM: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    write(path, content) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    trap(name) {
      const mark = join(folder, '..', `${name}-${process.pid}-ran`);
      onTestFinished(() => rmSync(mark, { force: true }));
      const script = join(folder, '.git', `${name}.sh`);
      writeFileSync(script, `#!/bin/sh\necho ran >> '${mark}'\ncat\n`);
      chmodSync(script, 0o755);
      return { script, mark };
    },
  };
  mkdirSync(folder, { recursive: true });
  repository.git('init', '--quiet', '--initial-branch=main');
  repository.git('config', 'user.name', 'Ada');
  repository.git('config', 'user.email', 'ada@example.org');
  repository.write('README.md', '# Example\n\nA line.\n');
  repository.write('src/a.txt', 'one\ntwo\nthree\n');
  repository.git('add', '.');
  repository.git('commit', '--quiet', '--message=First commit');
  return repository;
}
