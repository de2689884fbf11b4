import { statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPlain } from '../folders.ts';
import type { Run } from '../processes/process.ts';

/** Texts by the paths of their files. */
export type Files = Readonly<Record<string, string>>;

/** More than a report of test results has. */
const mostBytes = 16 * 1024 * 1024;
const mostFiles = 2000;

/** A folder for the reports of one call. */
export interface ReportFolder {
  readonly path: string;
  read(): Promise<Files>;
  remove(): Promise<void>;
}

export async function reportFolder(): Promise<ReportFolder> {
  const path = await mkdtemp(join(tmpdir(), 'toolcrib-report-'));
  return {
    path,
    read: async () => textsOf((await readdir(path)).map((name) => join(path, name))),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Text of the files below a folder that match one of the globs and were changed since then, in milliseconds. */
export async function changedFiles(
  { run, ripgrep }: { readonly run: Run; readonly ripgrep: string },
  folder: string,
  globs: readonly string[],
  since: number,
): Promise<Files> {
  // Reports lie in folders that are ignored.
  const argv = ['--no-config', '--files', '--no-ignore', '--hidden', '--null'];
  const wanted = globs.flatMap((glob) => ['--glob', glob]);
  const { stdout } = await run({ program: ripgrep, argv: [...argv, ...wanted], cwd: folder, env: {} });
  const paths = stdout.bytes.toString().split('\0').filter(Boolean).slice(0, mostFiles);
  return textsOf(paths.map((path) => join(folder, path)).filter((path) => changedAt(path) >= since));
}

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** What is no plain file, or too large, is as good as not written. */
const textsOf = (paths: readonly string[]): Files =>
  Object.fromEntries(
    paths.flatMap((path) => {
      const text = readPlain(path, ({ size }) => size <= mostBytes)?.toString();
      return text === undefined ? [] : [[path, text]];
    }),
  );
