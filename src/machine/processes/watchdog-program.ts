import type { linuxFamily } from './process-family.ts';

/**
 * What the watchdog does: it reads which programs are running, and ends them when nothing more can come, because the
 * server is gone. Its text is run in a process of its own, so it uses nothing but Node and its parameters.
 *
 * The variable FIRST has the platform, the name of the mark, and what runs already: it knows of that though the server
 * dies while it starts. The rest comes by its input, line by line: `+ mark` announces a program, `= mark pid` says that
 * it runs, `- mark` that it has ended.
 */
export function watch(family: typeof linuxFamily): void {
  const { readdir, readFile } = process.getBuiltinModule('node:fs/promises');
  const { execFile } = process.getBuiltinModule('node:child_process');
  const graceMs = 300;
  const longestMs = 5000;
  const pollMs = 40;
  /** A program that was just being started when the server died has no mark yet. */
  const looksAtLeast = 4;

  const running = new Map<string, number>();
  const [begin = '', ...first] = (process.env['FIRST'] ?? '').split('\n');
  const [platform = '', variable = ''] = begin.split(' ');
  let rest = '';

  function take(line: string): void {
    const [kind = '', mark = '', pid = '0'] = line.split(' ');
    if (kind === '-') running.delete(mark);
    else running.set(mark, Number(pid));
  }

  const output = (file: string, args: string[]) =>
    new Promise<string>((resolve) => {
      execFile(file, args, { timeout: 2000, windowsHide: true }, (_error, stdout) => resolve(stdout));
    });

  async function unixFamily(groups: readonly number[], known: ReadonlyMap<number, string>) {
    const rows = (await output('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,state=']))
      .split('\n')
      .map((row) => row.trim().split(/\s+/))
      .filter(([, , , state]) => state !== undefined && !state.startsWith('Z'));
    const found = new Map<number, string>();
    const isOurs = ([pid, parent, group]: string[]) =>
      groups.includes(Number(group)) || known.has(Number(pid)) || found.has(Number(parent));
    for (let before = -1; before !== found.size;) {
      before = found.size;
      for (const row of rows) if (isOurs(row)) found.set(Number(row[0]), '');
    }
    return found;
  }

  function signal(pid: number, name: NodeJS.Signals): void {
    try {
      process.kill(pid, name);
    } catch {
      // It has already ended, which is what was wanted.
    }
  }

  async function endAll(): Promise<void> {
    if (running.size === 0) return;
    const groups = [...running.values()].filter((pid) => pid > 1);
    if (platform === 'win32') {
      const root = process.env['SystemRoot'] ?? 'C:\\Windows';
      const end = (pid: number) =>
        output(`${root}\\System32\\taskkill.exe`, ['/PID', String(pid), '/T', '/F']);
      await Promise.all(groups.map(end));
      return;
    }
    const marks = [...running.keys()].map((mark) => `${variable}=${mark}`);
    const asked = new Set<number>();
    const startedAt = Date.now();
    let known = new Map<number, string>();
    let killed = false;
    for (let looks = 0; Date.now() - startedAt < longestMs; looks++) {
      let seen = true;
      try {
        known =
          platform === 'linux'
            ? await family({ readdir, readFile }, { marks, groups, known })
            : await unixFamily(groups, known);
      } catch {
        // Too many open files: those that were found before are taken to be there.
        seen = false;
      }
      const isLate = Date.now() - startedAt > graceMs;
      if (seen && known.size === 0 && looks >= looksAtLeast) return;
      if (isLate && !killed) for (const group of groups) signal(-group, 'SIGKILL');
      killed = isLate;
      for (const pid of known.keys()) {
        if (isLate) signal(pid, 'SIGKILL');
        else if (!asked.has(pid)) signal(pid, 'SIGTERM');
        asked.add(pid);
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  // Whoever ends the server by its group or by a signal to all must not end this first.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
  let ending = false;
  const theEnd = () => {
    if (ending) return;
    ending = true;
    void endAll().finally(() => process.exit());
  };
  for (const line of first) take(line);
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  process.stdin.once('end', theEnd).once('error', theEnd).once('close', theEnd);
}
