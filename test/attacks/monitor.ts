import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Calls of the system that start a program or change something on a disk. */
const watched =
  'execve,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,truncate,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,fchownat,lchown,utimensat,setxattr';

/** `strace` before a command, writing what it and all its children do into a file. */
export const underWatch = (
  trace: string,
  command: readonly string[],
): { command: string; args: string[] } => ({
  command: 'strace',
  args: ['-f', '-qq', '-s', '300', '-e', `trace=${watched}`, '-o', trace, ...command],
});

/** The acts between two looks. */
export interface Seen {
  /** Names of programs that were started. */
  readonly started: readonly string[];
  /** Lines about files that were written, made, renamed or removed, with their paths. */
  readonly wrote: readonly { readonly path: string; readonly line: string }[];
}

/** Looks at a trace piece by piece; strace writes each line at once. */
export function watchTrace(trace: string): () => Seen {
  let from = 0;
  return () => {
    const text = readFileSync(trace, 'utf8').slice(from);
    // The last line may still be written.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    from += whole.length;
    return seenIn(whole.split('\n'));
  };
}

const changes =
  /^\d+\s+(?:open\w*\(.*(?:O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)|(?:creat|rename|unlink|rmdir|mkdir|truncate|link|symlink|mknod|chmod|fchmodat|\w*chown|utimensat|setxattr))/;

// What failed did nothing.
const seenIn = (lines: readonly string[]): Seen => ({
  started: lines.flatMap((line) => {
    const path = / = -1 /.test(line) ? undefined : /execve\("([^"]+)"/.exec(line)?.[1];
    return path === undefined ? [] : [basename(path)];
  }),
  wrote: lines
    .filter((line) => changes.test(line) && !/ = -1 /.test(line))
    .map((line) => ({ line, path: /"([^"]+)"/.exec(line)?.[1] ?? '' })),
});
