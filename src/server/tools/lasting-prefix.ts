import { basename } from 'node:path';
import type { Lasting } from '../../core/tool.ts';

/** Programs that run what they are given: an answer about one of their command lines says nothing about the next. */
const interpreters: ReadonlySet<string> = new Set(
  [
    'cmd powershell pwsh node nodejs deno bun tsx py perl ruby php lua r rscript julia osascript wsl env',
    'busybox toybox xargs find fd ssh sudo doas su nohup setsid chroot flock strace time timeout nice',
    'watch parallel entr tmux screen script expect awk gawk sed make gdb lldb',
  ].flatMap((line) => line.split(' ')),
);

/** Whether a program runs other programs, or code, that its arguments give. */
export function runsWhatItIsGiven(program: string): boolean {
  const name = basename(program)
    .toLowerCase()
    .replace(/\.exe$/, '');
  return interpreters.has(name) || /^(?:[a-z]*sh|python[\d.]*|pypy[\d.]*)$/.test(name);
}

/** Words after which the next one says what is really done: `npm run build`, `docker compose up`. */
const leadsOn: ReadonlySet<string> = new Set(['run', 'exec', 'x', 'dlx', 'compose', 'tool']);

/** The program and its first words, when "always" can be said about them. */
export function prefixOf(program: string, args: readonly string[]): Lasting | undefined {
  if (runsWhatItIsGiven(program)) return undefined;
  // `poetry run python …` would be any code as well.
  const isWord = (arg: string) => /^@?[a-z][\w:.@/-]*$/i.test(arg) && !runsWhatItIsGiven(arg);
  const last = args.findIndex((arg) => !leadsOn.has(arg));
  const words = args.slice(0, last + 1);
  return last >= 0 && words.every(isWord) ? { kind: 'prefix', program, words } : undefined;
}
