import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { discoverers } from '../../src/discoverers/index.ts';
import { thisHost, type Host } from '../../src/machine/host.ts';
import { createProcesses, type Run } from '../../src/machine/processes/process.ts';
import { discover } from '../../src/machine/programs/discovery.ts';
import type { ProgramFacts } from '../../src/machine/programs/installation.ts';
import { searchPath } from '../../src/machine/programs/search-path.ts';
import { createVersionProbe } from '../../src/machine/programs/version-probe.ts';
import { temporaryFolder } from '../support/repository.ts';

const { run } = createProcesses(process.platform === 'darwin' ? 'darwin' : 'linux');
/** It waits longer than usual: a busy machine may need more for anything. */
const patient: Run = (command) => run({ ...command, timeoutMs: 60_000 });

describe.skipIf(process.platform === 'win32')('programs that are asked for their versions', () => {
  let home: string;
  let temporary: string;
  let cache: string;
  let host: Host;
  beforeEach(() => {
    home = temporaryFolder();
    temporary = temporaryFolder();
    cache = join(temporaryFolder(), 'cache');
    const env = { HOME: home, TMPDIR: temporary, PATH: join(home, 'bin'), ZZ_HOME: join(home, '.zz') };
    host = { ...thisHost(), home, env };
  });

  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text, { mode });
    return join(home, path);
  };
  const everything = (folder: string) =>
    (readdirSync(folder, { recursive: true }) as string[]).filter((path) => !path.startsWith('bin')).sort();
  const facts = (id: string, caches: string[] = []): ProgramFacts => ({
    id,
    title: id,
    category: 'other',
    site: '',
    called: [id],
    install: {},
    version: { args: ['--version'], pattern: 'version (\\S+)', caches },
    environment: ['RUSTUP_HOME', 'ZZ_HOME'],
  });
  /** Those that are found on the search path, and their versions. */
  async function asked(...programs: ProgramFacts[]) {
    const path = await searchPath(host);
    const { installed } = await discover(programs, host, path);
    const versions = await createVersionProbe({ run: patient, host, cacheFolder: cache })(
      [...installed.values()],
      programs,
      path,
    );
    return { installed, versions: Object.fromEntries(versions) };
  }

  it('leave nothing in a new home or the folder for temporary files, wherever they write', async () => {
    write(
      'bin/messy',
      `#!/bin/sh
set -e
mkdir -p "$HOME/.messy" "$HOME/.cache/messy" "$HOME/.config/messy" "$HOME/.local/share/messy"
mkdir -p "$HOME/.local/state/messy" "$HOME/Library/Caches/messy" "$XDG_CACHE_HOME/messy" "$XDG_STATE_HOME/m"
mkdir -p "$XDG_RUNTIME_DIR/messy" "$TMPDIR/messy" "$ZZ_HOME/messy" here
mktemp >/dev/null
echo version 1.0
`,
      0o755,
    );
    expect((await asked(facts('messy', ['ZZ_HOME']))).versions).toEqual({ messy: { version: '1.0' } });
    expect(everything(home)).toEqual([]);
    expect(everything(temporary)).toEqual([]);
    expect(readdirSync(join(cache, 'probe/empty'))).toEqual([]);
  });

  it('leave nothing beside what is in a home already', async () => {
    for (const path of ['.config/a/x', '.local/share/b/x', '.local/lib/c', '.cache/d', '.e/x', 'f'])
      write(path, path);
    write(
      'bin/messy',
      `#!/bin/sh
set -e
cat "$HOME/.config/a/x" "$HOME/.local/share/b/x" "$HOME/.local/lib/c" "$HOME/.e/x" "$HOME/f" >/dev/null
mkdir "$HOME/.new" "$HOME/.config/new" "$HOME/.local/new" "$HOME/.local/share/new" "$HOME/.cache/new"
echo version 1.0
`,
      0o755,
    );
    const before = everything(home);
    expect((await asked(facts('messy'))).versions).toEqual({ messy: { version: '1.0' } });
    expect(everything(home)).toEqual(before);
  });

  it('find the files that the person has now, not those of the last time', async () => {
    write('bin/looks', '#!/bin/sh\necho "version $(ls -A "$HOME" | tr "\\n" ,)"\n', 0o755);
    write('.old', '');
    expect((await asked(facts('looks'))).versions['looks']).toEqual({ version: '.old,bin,' });
    rmSync(join(home, '.old'));
    rmSync(join(cache, 'versions.json'));
    write('.config/new', '');
    // A program has made a link there, and a folder that the person has now.
    symlinkSync(join(home, '.config'), join(cache, 'probe/home/.config'));
    mkdirSync(join(cache, 'probe/home/.tool'));
    write('.tool/version', '');
    expect((await asked(facts('looks'))).versions['looks']).toEqual({ version: '.config,.tool,bin,' });
    expect(readdirSync(join(cache, 'probe/home/.tool'))).toEqual(['version']);
    expect(everything(home)).toEqual(['.config', '.config/new', '.tool', '.tool/version']);
  });

  it("see a version manager's own settings, while its shims are found and not started", async () => {
    const settings = '#!/bin/sh\ncat "$HOME/.rustup/settings.toml"; echo "in $RUSTUP_HOME"\n';
    write('.rustup/settings.toml', 'version 1.28\n');
    write('.cargo/bin/rustup', settings, 0o755);
    symlinkSync('rustup', join(home, '.cargo/bin/cargo'));
    write('.pyenv/shims/python3', '#!/bin/sh\necho started >"$HOME/.started"\n', 0o755);
    write('.pyenv/bin/pyenv', '#!/bin/sh\necho "version $(cat "$HOME/.pyenv/version")"\n', 0o755);
    write('.pyenv/version', '3.12.1\n');
    host = { ...host, env: { ...host.env, PATH: [`${home}/.pyenv/bin`, `${home}/.pyenv/shims`].join(':') } };
    const { installed, versions } = await asked(
      ...['rustup', 'cargo', 'python3', 'pyenv'].map((id) => facts(id)),
    );
    expect(versions).toEqual({
      rustup: { version: '1.28' },
      pyenv: { version: '3.12.1' },
      cargo: { note: 'not asked for: a rustup shim chooses it for each project, and may download it' },
      python3: { note: 'not asked for: a pyenv shim chooses it for each project, and may download it' },
    });
    expect(installed.get('cargo')).toMatchObject({ program: `${home}/.cargo/bin/cargo`, shim: 'rustup' });
    expect(installed.get('python3')).toMatchObject({
      program: `${home}/.pyenv/shims/python3`,
      shim: 'pyenv',
    });
    expect(readdirSync(home)).not.toContain('.started');
  });
});

it('passes Java its home folder by a variable', async () => {
  const { default: gradle } = await discoverers.gradle();
  expect(gradle).toMatchObject({ version: { caches: ['GRADLE_USER_HOME'] } });
});
