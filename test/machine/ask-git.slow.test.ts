import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { askGit, GitFailure, type Git } from '../../src/machine/history/ask-git.ts';
import { createProcesses, type Run } from '../../src/machine/processes/process.ts';
import { isRunning } from '../support/is-running.ts';
import { keptTree } from '../support/kept-tree.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { until } from '../support/until.ts';
import { findGit } from './find-git.ts';

const processes = createProcesses('linux');

/** Asks a git for a folder that stands for a shadow repository. */
function asking(git: Git, run: Run = processes.run, top = temporaryFolder()) {
  const folder = temporaryFolder();
  execFileSync('git', ['init', '--quiet', '--bare', folder]);
  return askGit({ run, git: () => Promise.resolve(git) }, { folder, top }, []);
}

/** A shell script in the place of git. */
function script(text: string, name = 'git'): Git {
  const program = join(temporaryFolder(), name);
  mkdirSync(join(program, '..'), { recursive: true });
  writeFileSync(program, `#!/bin/sh\n${text}\n`);
  chmodSync(program, 0o755);
  return { program, leading: [], env: { PATH: '/usr/bin:/bin' } };
}

const failureOf = (asked: Promise<string>) =>
  asked.then(
    (printed) => `printed ${printed}`,
    (error: unknown) => error,
  );

describe.skipIf(process.platform === 'win32')('git that simple-git starts', () => {
  it('fails with its own reason, or without a word, when its exit code is not 0', async () => {
    const failed = await failureOf(asking(script('echo half; echo fatal: broken >&2; exit 128'))(['x']));
    expect(failed).toBeInstanceOf(GitFailure);
    expect(failed).toHaveProperty('message', 'fatal: broken');
    const silent = await failureOf(asking(script('exit 1'))(['x']));
    expect(silent).toBeInstanceOf(GitFailure);
    expect(silent).toHaveProperty('message', 'git has failed');
  });

  it('has not answered when a signal has ended it, whatever it printed before', async () => {
    const killed = await failureOf(asking(script('echo half; kill -9 $$'))(['x']));
    expect(killed).toBeInstanceOf(Error);
    expect(killed).not.toBeInstanceOf(GitFailure);
  });

  it('has not answered when it prints without end', async () => {
    const endless = await failureOf(asking(script('exec yes'))(['x']));
    expect(endless).toHaveProperty('message', 'git printed too much');
  });

  it('is found in a folder with a blank, and gets every argument that leads to it', async () => {
    const git = script('for word; do echo "$word"; done', 'Program Files (x86)/git');
    const leading = ['one', '--two', 'th ree'];
    const printed = await asking({ ...git, leading })(['rev-parse', '--', '--template', '-c', 'alias.x=y']);
    const words = printed.split('\n');
    expect(words.slice(0, 4)).toEqual([...leading, '-C']);
    expect(words.slice(-6)).toEqual(['rev-parse', '--', '--template', '-c', 'alias.x=y', '']);
  });

  it('has an empty input where it is given none', async () => {
    expect(await asking(script('cat; echo end'))(['x'])).toBe('end\n');
  });

  it('is ended with the program that starts it, and with all that it starts', async () => {
    const pids = join(temporaryFolder(), 'pids');
    const wrapper = script(
      `trap '' INT TERM; sleep 600 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}; wait`,
    );
    const slow: Run = async (command) => {
      const stop = new AbortController();
      const running = processes.run({ ...command, signal: stop.signal });
      await until(() => existsSync(pids));
      stop.abort();
      return running;
    };
    expect(await failureOf(asking(wrapper, slow)(['x']))).toHaveProperty('message', 'git has cancelled');
    const started = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
    expect(started).toHaveLength(2);
    await until(() => !started.some(isRunning));
  });

  it('is ended by the time limit when a FIFO keeps it waiting', async () => {
    const repository = temporaryRepository();
    execFileSync('mkfifo', [join(repository.folder, '.gitignore')]);
    const git = { program: findGit(), leading: [], env: { PATH: process.env['PATH'] ?? '' } };
    const hasty: Run = (command) => processes.run({ ...command, timeoutMs: 1000 });
    const list = ['ls-files', '-z', '--others', '--exclude-standard'];
    const late = await failureOf(asking(git, hasty, repository.folder)(list));
    expect(late).toHaveProperty('message', 'git has timed out');
  });

  it('is ended with everything else when the server ends', async () => {
    const own = createProcesses('linux');
    const pids = join(temporaryFolder(), 'pids');
    const wrapper = script(`sleep 600 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}; wait`);
    const asked = failureOf(asking(wrapper, own.run)(['x']));
    await until(() => existsSync(pids));
    await own.endAll();
    const started = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
    await until(() => !started.some(isRunning));
    await asked;
  });
});

it('keeps every file of a tree whose names are longer than is written to a program at once', async () => {
  const tree = await keptTree();
  const names = Array.from({ length: 6000 }, (_, number) => `${'long'.repeat(50)}-${number}.txt`);
  for (const name of names) tree.write(name, '');
  tree.checkpoints.begin(tree.folder, tree.workspace);
  await until(() => tree.checkpoints.isReady(tree.folder, names, tree.workspace));
});
