import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { thisHost, type Host } from '../../src/machine/host.ts';
import type { Installation, ProgramFacts } from '../../src/machine/programs/installation.ts';
import { createProcesses, type Run } from '../../src/machine/processes/process.ts';
import { createVersionProbe } from '../../src/machine/programs/version-probe.ts';
import { isRunningIn } from '../support/is-running.ts';
import { temporaryFolder } from '../support/repository.ts';

const { run } = createProcesses(process.platform === 'darwin' ? 'darwin' : 'linux');
const path = {
  folders: [
    { folder: '/usr/bin', source: 'PATH' },
    { folder: '/bin', source: 'PATH' },
  ],
  skipped: [],
  stamp: '',
};

const facts = (id: string, environment: string[] = []): ProgramFacts => ({
  id,
  title: id,
  category: 'other',
  site: '',
  called: [id],
  install: {},
  environment,
  version: { args: ['--version'], pattern: 'version (\\d+\\.\\d+)' },
});

describe.skipIf(process.platform === 'win32')('the version probe', () => {
  let home: string;
  let host: Host;
  beforeEach(() => {
    home = temporaryFolder();
    host = {
      ...thisHost(),
      home,
      env: { HOME: home, SECRET: 's', JAVA_HOME: '/java', NODE_OPTIONS: '--require evil' },
    };
  });

  const install = (id: string, script: string, more: Partial<Installation> = {}): Installation => {
    mkdirSync(join(home, 'bin'), { recursive: true });
    const program = join(home, 'bin', id);
    writeFileSync(program, `#!/bin/sh\necho run >> ${home}/runs-${id}\n${script}\n`, { mode: 0o755 });
    return { id, program, leading: [], words: [], source: 'PATH', others: [], ...more };
  };
  const runsOf = (id: string) =>
    existsSync(join(home, `runs-${id}`)) ? readFileSync(join(home, `runs-${id}`), 'utf8').length / 4 : 0;
  /** It waits longer than usual: a busy machine may need more for anything. */
  const patient: Run = (command) => run({ ...command, timeoutMs: 60_000 });
  const probe = (withRun: Run = patient) =>
    createVersionProbe({ run: withRun, host, cacheFolder: join(home, 'cache') });

  it('finds the version on standard output, then on standard error, and else shows the output', async () => {
    const installed = [
      install('out', 'echo "out version 1.2"; echo "version 9.9" >&2'),
      install('err', 'echo "version 3.4" >&2; exit 1'),
      install('odd', 'echo "unknown option --version" >&2; exit 2'),
      install('mute', 'exit 3'),
      install('plugin', 'echo "no such command" >&2; exit 1', { words: ['compose'] }),
      { ...install('wrong', ''), program: join(home, 'bin/gone') },
    ];
    const known = installed.map(({ id }) => facts(id));
    expect(Object.fromEntries(await probe()(installed, known, path))).toEqual({
      out: { version: '1.2' },
      err: { version: '3.4' },
      odd: { note: 'answered: unknown option --version' },
      mute: { note: 'told no version (exit code 3)' },
      plugin: { note: 'without this plugin: it answered: no such command', broken: true },
      wrong: { note: expect.stringContaining('could not be started'), broken: true },
    });
  });

  it('ATTACK 34: asks in a folder that is empty before and after, with a scrubbed environment', async () => {
    const script = `{ pwd; ls -A | wc -l; echo "$@"; env; } > ${home}/seen; touch litter; echo version 1.0`;
    const tool = install('tool', script);
    await probe()([tool], [facts('tool', ['JAVA_HOME'])], path);
    const seen = readFileSync(join(home, 'seen'), 'utf8');
    const [folder = '', entries, args] = seen.split('\n');
    expect(folder).toBe(join(home, 'cache/probe/empty'));
    expect(readdirSync(folder)).toEqual([]);
    expect(entries?.trim()).toBe('0');
    expect(args).toBe('--version');
    expect(seen).toMatch(/^JAVA_HOME=\/java$/m);
    expect(seen).not.toMatch(/SECRET|evil/);
  });

  it('ATTACK 49: runs nothing but the fixed question, once, whoever asks and however often', async () => {
    const tool = install('tool', 'echo version 1.0');
    const one = probe();
    const answers = await Promise.all([1, 2, 3].map(() => one([tool], [facts('tool')], path)));
    await one([tool], [facts('tool')], path);
    expect(answers.every((versions) => versions.get('tool')?.version === '1.0')).toBe(true);
    expect(runsOf('tool')).toBe(1);
  });

  it('asks again, in another process, only when the file has changed', async () => {
    const tool = install('tool', 'echo version 1.0');
    await probe()([tool], [facts('tool')], path);
    expect(await probe()([tool], [facts('tool')], path)).toEqual(new Map([['tool', { version: '1.0' }]]));
    expect(runsOf('tool')).toBe(1);
    utimesSync(tool.program, 1_000_000, 1_000_000);
    await probe()([tool], [facts('tool')], path);
    expect(runsOf('tool')).toBe(2);
  });

  it('ignores a damaged cache', async () => {
    const tool = install('tool', 'echo version 1.0');
    mkdirSync(join(home, 'cache'), { mode: 0o700 });
    for (const damaged of ['[1,2]', 'null', '{"a":null,"b":{"version":7}}', '{']) {
      writeFileSync(join(home, 'cache/versions.json'), damaged, { mode: 0o600 });
      expect((await probe()([tool], [facts('tool')], path)).get('tool')).toEqual({ version: '1.0' });
    }
  });

  it('does not run a shim', async () => {
    const tool = install('tool', 'echo version 1.0', { shim: 'pyenv' });
    const versions = await probe()([tool], [facts('tool')], path);
    expect(versions.get('tool')).toEqual({
      note: 'not asked for: a pyenv shim chooses it for each project, and may download it',
    });
    expect(runsOf('tool')).toBe(0);
  });

  it('gives each program 2 s, ends it with all it started, and caches no such failure', async () => {
    const slow = install('slow', `sleep 40 & echo $! > ${home}/child; sleep 40`);
    const versions = await probe(run)([slow], [facts('slow')], path);
    expect(versions.get('slow')).toEqual({ note: 'did not tell its version within 2 s' });
    expect(isRunningIn(join(home, 'child'))).toBe(false);
    expect(existsSync(join(home, 'cache/versions.json'))).toBe(false);
  });

  it('asks at most four at a time', async () => {
    let running = 0;
    let most = 0;
    const counting: Run = async (command) => {
      running += 1;
      most = Math.max(most, running);
      return patient(command).finally(() => {
        running -= 1;
      });
    };
    const installed = Array.from({ length: 20 }, (_, index) => install(`tool${index}`, 'echo version 1.0'));
    const known = installed.map(({ id }) => facts(id));
    expect((await probe(counting)(installed, known, path)).size).toBe(20);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('starts a script by its interpreter to ask it', async () => {
    const script = install('script', 'echo "version 5.6 $1"');
    const started = { ...script, program: '/bin/sh', leading: [script.program] };
    expect((await probe()([started], [facts('script')], path)).get('script')).toEqual({
      version: '5.6',
    });
  });
});
