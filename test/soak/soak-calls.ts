import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../journeys/home.ts';
import { temporaryRepository } from '../support/repository.ts';

/** A number from 0 up to 1, the same row of them for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: () => number, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T;

/** Calls a tool; resolves with the text of its answer. */
export type Call = (name: string, given: object, impatient?: Impatient) => Promise<string>;

/** The way in which a caller gives up: by a cancellation after some milliseconds, or by its time limit. */
export type Impatient = { readonly cancelAfterMs: number } | { readonly timeoutMs: number };

interface Step {
  readonly name: string;
  readonly given: object;
  /** The pattern of its answer. */
  readonly says: RegExp;
  readonly impatient?: Impatient;
}

const files = 20;
/** A program with children, one of which leaves its group; nothing of it ends by itself. */
const family = `#!/bin/sh
sleep 300 &
setsid sleep 300 &
wait
`;
/** The same as a script of npm, which has a shell and a process of its own above that. */
const scripts = { grand: './family.sh', quick: 'echo quick' };

/** Makes the project that the calls are about. */
export function makeSoakProject({ project }: Home): void {
  const repository = temporaryRepository(project);
  mkdirSync(join(project, 'docs'));
  for (let at = 0; at < files; at++)
    repository.write(`docs/${at}.txt`, `page ${at}\n${'some words of text\n'.repeat(50)}`);
  repository.write('package.json', JSON.stringify({ name: 'soak', scripts }));
  writeFileSync(join(project, 'family.sh'), family);
  chmodSync(join(project, 'family.sh'), 0o755);
  repository.git('add', '.');
  repository.git('commit', '--quiet', '--message=All of it');
}

/** The calls of one client: single, most of them cheap, as often as their number. Its files are its own. */
export function stepsOf(random: () => number, client: string) {
  let made = 0;
  const page = () => Math.floor(random() * files);
  const soon = (): Impatient => ({ cancelAfterMs: Math.floor(random() * 30) });
  const command = (program: string, ...args: string[]) => ({ command: program, args });
  const makeFile = () => {
    const name = `made/${client}-${made % 5}.txt`;
    made += 1;
    return write(name, `text ${made}\n`);
  };
  const kinds: readonly (readonly [weight: number, make: () => Step])[] = [
    [25, () => readPage(page())],
    [6, () => ({ name: 'list_files', given: { path: 'docs' }, says: /0\.txt/ })],
    [4, () => ({ name: 'list_files', given: { glob: 'docs/*.txt' }, says: /docs\/0\.txt/ })],
    [5, () => ({ name: 'grep', given: { pattern: `page ${page()}`, path: 'docs' }, says: /docs\/\d+\.txt/ })],
    [12, () => makeFile()],
    [6, () => ({ name: 'git_status', given: {}, says: /^on main at \w+; / })],
    [4, () => ({ name: 'git_log', given: { limit: 3 }, says: /First commit/ })],
    [2, () => ({ name: 'git_diff', given: {}, says: /^/ })],
    [6, () => ({ name: 'npm_scripts', given: {}, says: /quick/ })],
    [6, () => ({ name: 'read_output', given: {}, says: /^/ })],
    [4, () => ({ name: 'undo', given: {}, says: /^/ })],
    [3, () => ({ name: 'read_output', given: { id: 'none' }, says: /^NOT_FOUND/ })],
    [3, () => ({ name: 'read_file', given: { path: '../../etc/passwd' }, says: /^PATH_OUTSIDE_ROOTS/ })],
    [3, () => ({ name: 'read_file', given: { pfad: 'a' }, says: /^ARG_INVALID/ })],
    [2, () => ({ name: 'git_reset_hard', given: { ref: 'HEAD' }, says: /^NEEDS_CONFIRM|can lose work/ })],
    [3, () => ({ name: 'run', given: command('echo', 'hi'), says: /^hi/ })],
    [2, () => ({ name: 'run', given: command('seq', '5000'), says: /read_output/ })],
    [1, () => ({ name: 'git_log', given: {}, says: /^/, impatient: soon() })],
    [1, () => ({ name: 'grep', given: { pattern: 'e' }, says: /^/, impatient: soon() })],
    [0.6, () => ({ name: 'run', given: command('./family.sh'), says: /^/, impatient: soon() })],
    [0.3, () => ({ name: 'run', given: command('sleep', '9'), says: /^/, impatient: { timeoutMs: 100 } })],
    [0.15, () => ({ name: 'npm_run', given: { task: 'grand' }, says: /^/, impatient: { timeoutMs: 700 } })],
    [0.1, () => ({ name: 'npm_run', given: { task: 'quick' }, says: /quick/ })],
  ];
  const all = kinds.reduce((sum, [weight]) => sum + weight, 0);
  return (): Step => {
    let at = random() * all;
    const chosen = kinds.find(([weight]) => {
      at -= weight;
      return at < 0;
    });
    return (chosen ?? kinds[0]!)[1]();
  };
}

const readPage = (at: number): Step => ({
  name: 'read_file',
  given: { path: `docs/${at}.txt` },
  says: new RegExp(`^1\\tpage ${at}\\n`),
});
/** Files that one client writes, call after call; a second writer at the same time is refused. */
const write = (path: string, content: string): Step => ({
  name: 'write_file',
  given: { path, content },
  says: /^(?:Wrote|Nothing|FILE_CHANGED|NOT_READ)|unchanged|same/,
});

/** Several calls that belong together: each hands the next what it needs. */
export const chains: readonly ((call: Call, client: string, random: () => number) => Promise<unknown>)[] = [
  async function editAndUndo(call, client) {
    const path = `made/edited-${client}.txt`;
    await call('write_file', { path, content: 'one\ntwo\n' });
    const edited = await call('edit_file', { path, old_string: 'one', new_string: 'three' });
    const change = /change ([\w-]+)/.exec(edited)?.[1];
    await call('undo', { since: change ?? 'none' });
    await call('move_path', { from: path, to: `${path}.moved` });
    await call('delete_path', { path: `${path}.moved` });
  },
  async function wholeJob(call) {
    const argv = { command: 'sh', args: ['-c', 'echo ready; cat; sleep 300'] };
    const id = jobIn(await call('run', { ...argv, background: true }));
    await call('read_output', { id, wait_for: 'ready' });
    await call('control_job', { id, action: 'send', text: 'hello\n', end: true });
    await call('read_output', { id, wait_for: 'hello' });
    await call('read_output', { id, start_line: 1 });
    await call('control_job', { id, action: 'stop' });
  },
  async function longCall(call, _, random) {
    // Longer than a call may take: it becomes a job.
    const argv = { command: 'sleep', args: [`30${String(random()).slice(2, 8)}`] };
    const id = jobIn(await call('run', argv));
    await call('run', argv, { cancelAfterMs: 20 });
    await call('control_job', { id, action: 'stop' });
  },
  async function longOutput(call, _, random) {
    const said = await call('run', { command: 'seq', args: [String(20_000 + random() * 20_000)] });
    const id = /\bread_output id=([\w-]+)/.exec(said)?.[1] ?? 'none';
    await call('read_output', { id, tail: 5 });
    await call('read_output', { id, pattern: '^19999$' });
  },
];

const jobIn = (text: string): string => /^([\w-]+-\d+) is running/.exec(text)?.[1] ?? 'none';
