import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { contentOf, keptTree } from '../support/kept-tree.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { until } from '../support/until.ts';

describe.skipIf(process.platform === 'win32')('a repository that would run programs', () => {
  it('runs none of the programs that the repository configures', async () => {
    const repository = temporaryRepository();
    const { script, mark } = repository.trap('any');
    const runs = `
      core.fsmonitor core.pager core.editor core.sshCommand core.alternateRefsCommand core.gitProxy
      filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.textconv diff.evil.command
      diff.external merge.evil.driver pager.ls-files gpg.program uploadpack.packObjectsHook`;
    const settings = {
      ...Object.fromEntries(
        runs
          .trim()
          .split(/\s+/)
          .map((name) => [name, script]),
      ),
      ...Object.fromEntries(
        ['ls-files', 'update-index', 'write-tree'].map((name) => [`alias.${name}`, `!${script}`]),
      ),
      'core.hooksPath': dirname(script),
      'core.attributesFile': join(repository.folder, 'attributes'),
      'core.worktree': '/',
      'filter.evil.required': 'true',
      'gc.auto': '1',
    };
    for (const [name, value] of Object.entries(settings))
      execFileSync('git', ['config', name, value], { cwd: join(repository.folder, '.git') });
    for (const hook of ['post-index-change', 'pre-auto-gc', 'reference-transaction', 'post-checkout'])
      for (const folder of [join(repository.folder, '.git', 'hooks'), dirname(script)]) {
        mkdirSync(folder, { recursive: true });
        linkSync(script, join(folder, hook));
      }
    repository.write('attributes', '* filter=evil diff=evil merge=evil\n');
    repository.write(
      '.gitattributes',
      '[attr]text filter=evil\n* filter=evil diff=evil merge=evil text ident\n',
    );
    repository.write('.git/info/attributes', '* filter=evil\n');
    repository.write('src/deep/.gitattributes', '*.txt filter=evil working-tree-encoding=UTF-16\n');
    repository.write('src/deep/b.txt', 'b\n');
    repository.write('.lfsconfig', '[lfs]\n');

    const tree = await keptTree({ repository });
    const before = await contentOf(tree.folder);
    const id = await tree.id();
    tree.write('src/deep/b.txt', 'changed\n');
    rmSync(join(tree.folder, 'src/a.txt'));
    const { left } = await tree.restore(id);

    expect(left).toEqual([]);
    expect(await contentOf(tree.folder)).toEqual(before);
    expect(existsSync(mark)).toBe(false);
  });

  it('ignores what the user or the machine configures for git', async () => {
    const home = temporaryFolder();
    const { script, mark } = temporaryRepository(join(home, 'r')).trap('home');
    writeFileSync(
      join(home, '.gitconfig'),
      `[core]\n\tfsmonitor = ${script}\n\tattributesFile = ${home}/attributes\n\texcludesFile = ${home}/ignore\n[filter "x"]\n\tclean = ${script}\n\tsmudge = ${script}\n`,
    );
    writeFileSync(join(home, 'attributes'), '* filter=x\n');
    writeFileSync(join(home, 'ignore'), '*.txt\n');
    mkdirSync(join(home, '.config', 'git'), { recursive: true });
    writeFileSync(join(home, '.config', 'git', 'ignore'), '*.md\n');
    const tree = await keptTree();
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    for (const [name, value] of Object.entries({
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      GIT_DIR: join(home, 'r', '.git'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: script,
    }))
      vi.stubEnv(name, value);
    const id = await tree.id();
    writeFileSync(join(tree.folder, 'src/a.txt'), 'changed');
    writeFileSync(join(tree.folder, 'README.md'), 'changed');
    const { done } = await tree.restore(id);
    expect(done).toHaveLength(2);
    expect(existsSync(mark)).toBe(false);
  });

  it('never starts a git that lies in the project', async () => {
    const repository = temporaryRepository();
    const { script, mark } = repository.trap('git');
    const fake = join(repository.folder, 'git');
    linkSync(script, fake);
    const tree = await keptTree({
      repository,
      git: () => Promise.resolve({ program: fake, leading: [], env: { PATH: repository.folder } }),
    });
    expect(await tree.take()).toBe('no undo of this: git lies in the project');
    expect(existsSync(mark)).toBe(false);
  });

  it('keeps checkpoints although .git is a file, a link, a trap or nonsense', async () => {
    for (const make of [
      (path: string) => writeFileSync(path, 'gitdir: /etc'),
      (path: string) => writeFileSync(path, Buffer.alloc(100_000, 0x41)),
      (path: string) => symlinkSync('/etc', path),
      (path: string) => {
        mkdirSync(path);
        execFileSync('mkfifo', [join(path, 'HEAD'), join(path, 'config'), join(path, 'index')]);
      },
    ]) {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'a.txt'), 'one');
      make(join(folder, '.git'));
      const tree = await keptTree({ repository: { ...temporaryRepository(), folder } });
      const id = await tree.id();
      writeFileSync(join(folder, 'a.txt'), 'two');
      await tree.restore(id);
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one');
    }
  });

  it.each(['.gitignore', '.gitattributes', 'inner/.git/HEAD'])(
    'gives up in time when %s is a FIFO',
    async (name) => {
      const repository = temporaryRepository();
      mkdirSync(join(repository.folder, 'inner/.git/objects'), { recursive: true });
      mkdirSync(join(repository.folder, 'inner/.git/refs'), { recursive: true });
      execFileSync('mkfifo', [join(repository.folder, name)]);
      const tree = await keptTree({ repository });
      expect(await tree.take()).toMatch(/still being kept$/);
    },
  );
});

describe('a checkpoint of any bytes', () => {
  const texts: [name: string, content: Buffer][] = [
    ['lf.txt', Buffer.from('a\nb\n')],
    ['crlf.txt', Buffer.from('a\r\nb\r\n')],
    ['mixed.txt', Buffer.from('a\r\nb\nc\r')],
    ['ident.txt', Buffer.from('$Id$ $Id: 0123 $\n')],
    ['utf16.txt', Buffer.from('\ufeffa\r\nb\n', 'utf16le')],
    ['utf16-odd.txt', Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x0a])],
    ['latin1.txt', Buffer.from([0xe4, 0xf6, 0x0d, 0x0a])],
    ['nul.bin', Buffer.from([0, 1, 2, 0, 13, 10, 26])],
    ['lfs.bin', Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n')],
    ['empty', Buffer.alloc(0)],
    ['large.bin', Buffer.alloc(3_000_000, 'x\r\n')],
  ];

  it.each([
    ['nothing', ''],
    ['text=auto eol=crlf', '* text=auto eol=crlf\n'],
    ['text eol=lf', '* text eol=lf\n'],
    ['crlf, the old word', '* crlf\n'],
    ['ident and export-subst', '* ident export-subst\n'],
    ['filter=lfs', '* filter=lfs diff=lfs merge=lfs -text\n'],
    ['working-tree-encoding', '* text working-tree-encoding=UTF-16LE-BOM\n'],
    ['a macro', '[attr]mine text eol=crlf ident\n* mine\n[attr]binary text eol=crlf\n* binary\n'],
  ])('brings bytes back exactly when .gitattributes says %s', async (_what, attributes) => {
    const tree = await keptTree();
    tree.write('.gitattributes', attributes);
    for (const [name, content] of texts) writeFileSync(join(tree.folder, name), content);
    const before = await contentOf(tree.folder);
    const id = await tree.id();
    for (const [name] of texts.slice(0, 6)) unlinkSync(join(tree.folder, name));
    for (const [name] of texts.slice(6)) writeFileSync(join(tree.folder, name), 'changed');
    await tree.restore(id);
    expect(await contentOf(tree.folder)).toEqual(before);
  });
});

describe.skipIf(process.platform === 'win32')('strange trees', () => {
  it('keeps names of any characters, and leaves out those that are not text', async () => {
    const tree = await keptTree();
    const names = [
      'new\nline',
      '"quoted"',
      "'",
      '-dash',
      '--exec=x',
      ' blank ',
      '$(x)',
      ':(top)x',
      '!x',
    ].concat(['#x', 'tab\t', '\\', '*', 'ü', 'CON', 'git~1', '\u202e']);
    for (const name of names) tree.write(`names/${name}`, name);
    mkdirSync(join(tree.folder, 'odd'));
    const invalid = Buffer.concat([Buffer.from(`${tree.folder}/odd/`), Buffer.from([0xff, 0xfe, 0x80])]);
    writeFileSync(invalid, 'no text');
    mkdirSync(Buffer.concat([invalid, Buffer.from('-folder')]));
    writeFileSync(Buffer.concat([invalid, Buffer.from('-folder/x')]), 'deep');
    const before = await contentOf(tree.folder);
    expect(Object.keys(before)).toHaveLength(names.length + 4);
    expect(await tree.take()).toContain('would not bring back 2 ');
    const id = await tree.id();
    rmSync(join(tree.folder, 'names'), { recursive: true });
    const { left } = await tree.restore(id);
    // A name that Windows may take for another one's short name is not written, as everywhere.
    const short = left.map(({ name }) => name);
    expect(short.filter((name) => name !== 'names/git~1')).toEqual([]);
    const expected = Object.fromEntries(Object.entries(before).filter(([name]) => !short.includes(name)));
    expect(await contentOf(tree.folder)).toEqual(expected);
  });

  it('passes over FIFOs and sockets, also where a file was', async () => {
    const tree = await keptTree();
    await tree.id();
    const server = createServer().listen(join(tree.folder, 'socket'));
    onTestFinished(() => {
      server.close();
    });
    rmSync(join(tree.folder, 'src/a.txt'));
    execFileSync('mkfifo', [join(tree.folder, 'fifo'), join(tree.folder, 'src/a.txt')]);
    const id = await tree.id();
    tree.write('README.md', 'changed');
    expect((await tree.restore(id)).left).toEqual([]);
    expect(readdirSync(tree.folder).sort()).toEqual(['.git', 'README.md', 'fifo', 'socket', 'src']);
  });

  it('keeps a FIFO that lies where a file was', async () => {
    const tree = await keptTree();
    const id = await tree.id();
    rmSync(join(tree.folder, 'src/a.txt'));
    execFileSync('mkfifo', [join(tree.folder, 'src/a.txt')]);
    const { left } = await tree.restore(id);
    expect(left.map(({ name }) => name)).toEqual(['src/a.txt']);
  });

  it('follows no link out of the tree, neither reading nor writing', async () => {
    const tree = await keptTree();
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'a.txt'), 'SECRET');
    tree.write('dir/a.txt', 'inside');
    const id = await tree.id();
    rmSync(join(tree.folder, 'dir'), { recursive: true });
    symlinkSync(outside, join(tree.folder, 'dir'));
    // Ignored, so that the link itself is in no checkpoint and stays in the way.
    tree.write('.git/info/exclude', '/dir\n');
    rmSync(join(tree.state, 'checkpoints', readdirSync(join(tree.state, 'checkpoints'))[0]!, 'current'));
    const { left } = await tree.restore(id);
    expect(left.map(({ name }) => name)).toEqual(['dir/a.txt']);
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('SECRET');
    expect(JSON.stringify(await contentOf(tree.folder))).not.toContain('SECRET');
  });

  it('keeps the files of an embedded bare repository, and writes none of them back', async () => {
    const tree = await keptTree();
    execFileSync('git', ['init', '--quiet', '--bare', join(tree.folder, 'bare')]);
    tree.write('bare/notes.txt', 'one');
    const id = await tree.id();
    tree.write('bare/config', '[core]\n\tfsmonitor = evil\n');
    const other = await tree.id();
    tree.write('bare/config', '[core]\n');
    const { left } = await tree.restore(other);
    expect(left.map(({ name }) => name)).toEqual(['bare/config']);
    rmSync(join(tree.folder, 'bare'), { recursive: true });
    await tree.restore(id);
    // Not enough of it came back for git to take it for a repository.
    expect(() =>
      execFileSync('git', ['rev-parse', '--git-dir'], {
        cwd: join(tree.folder, 'bare'),
        stdio: 'pipe',
        env: { ...process.env, GIT_CEILING_DIRECTORIES: tree.folder },
      }),
    ).toThrow();
  });

  it('never writes into a .git', async () => {
    const tree = await keptTree();
    tree.write('sub/.GIT/config', 'x');
    tree.write('sub/b.txt', 'b');
    const id = await tree.id();
    tree.write('sub/.GIT/config', 'y');
    tree.write('sub/b.txt', 'c');
    const { done } = await tree.restore(id);
    expect(done.map(({ name }) => name)).toEqual(['sub/b.txt']);
    expect(readFileSync(join(tree.folder, 'sub/.GIT/config'), 'utf8')).toBe('y');
  });

  it('gives up in time when a .gitignore has 8 GB', async () => {
    const repository = temporaryRepository();
    const file = repository.write('sub/.gitignore', '*.o\n');
    truncateSync(file, 8 * 1024 ** 3);
    const tree = await keptTree({ repository });
    expect(await tree.take()).toMatch(/^no undo of this: /);
  });
});

describe.skipIf(process.platform === 'win32')('FIFOs in the place of what is kept', () => {
  it('keeps nobody waiting', async () => {
    const tree = await keptTree();
    const id = await tree.id();
    const shadows = join(tree.state, 'checkpoints');
    const shadow = join(shadows, readdirSync(shadows)[0]!);
    const other = join(shadows, '0'.repeat(32));
    mkdirSync(other, { mode: 0o700 });
    const names = ['current', 'closed.jsonl'];
    for (const name of names) rmSync(join(shadow, name), { force: true });
    execFileSync('mkfifo', [join(other, 'current'), ...names.map((name) => join(shadow, name))]);
    tree.write('src/a.txt', 'changed');
    expect((await tree.restore(id)).done.map(({ name }) => name)).toEqual(['src/a.txt']);
    for (const name of names) rmSync(join(shadow, name), { force: true });
    execFileSync('mkfifo', [...names.map((name) => join(shadow, name))]);
    chmodSync(tree.write('key', 'closed'), 0o600);
    // A FIFO that is to be added to is no place to remember anything: it is reported, not waited for.
    expect(await tree.take()).toMatch(/^no undo of this: ENXIO/);
    rmSync(join(shadow, 'closed.jsonl'));
    expect(await tree.take()).toBe(undefined);
  });
});

describe.skipIf(process.platform !== 'linux')('kill -9', () => {
  it('leaves checkpoints that can be used, whenever the kill comes', async () => {
    const repository = temporaryRepository();
    for (let n = 0; n < 300; n++) repository.write(`many/${n}.txt`, `${n}`.repeat(1000));
    const state = join(temporaryFolder(), 'toolcrib');
    const tree = await keptTree({ repository, folder: state });
    const script = await bundle('support/take-checkpoints.ts', temporaryFolder());
    for (let round = 0; round < 6; round++) {
      const child = spawn(process.execPath, [script, repository.folder, state], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      // Some time after it has begun, which differs from round to round.
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const until = performance.now() + round * 25;
      while (performance.now() < until) await setImmediate();
      child.kill('SIGKILL');
      await ended;
      repository.write('src/a.txt', `round ${round}`);
      const id = await tree.id();
      repository.write('src/a.txt', 'spoilt');
      expect((await tree.restore(id)).left).toEqual([]);
      expect(readFileSync(join(repository.folder, 'src/a.txt'), 'utf8')).toBe(`round ${round}`);
    }
  });

  it('ends a git that a FIFO keeps waiting', async () => {
    const repository = temporaryRepository();
    const folder = join(repository.folder, 'many');
    mkdirSync(folder);
    execFileSync('mkfifo', [join(folder, '.gitignore')]);
    const state = join(temporaryFolder(), 'toolcrib');
    const script = await bundle('support/take-checkpoints.ts', temporaryFolder());
    const child = spawn(process.execPath, [script, repository.folder, state], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const gits = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
          return command.includes('ls-files') && command.includes(repository.folder);
        } catch {
          return false; // It is no process, or has ended meanwhile.
        }
      });
    await until(() => gits().length > 0);
    // The watchdog is told of it soon, not at once.
    await until(() => watchdogsOf(child.pid).length > 0);
    child.kill('SIGKILL');
    await until(() => gits().length === 0);
  });
});

/** The ids of processes beside a program that end what it has started. */
function watchdogsOf(parent: number | undefined): string[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1').trim().split(' ');
  return children.filter((pid) => readFileSync(`/proc/${pid}/environ`, 'latin1').includes('WATCHED='));
}
