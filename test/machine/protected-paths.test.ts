import { realpathSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  couldHoldProtected,
  protectedReason,
  refuseProtected,
} from '../../src/machine/paths/protected-paths.ts';
import { refuseDeleting, refuseMoving } from '../../src/machine/paths/protected-trees.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { failureOf, put, temporaryFolder } from '../tools/files/folder.ts';
import { processorMs } from '../support/processor-ms.ts';

/** Names with blanks between them; `␣` is a blank in a name. */
const namesIn = (text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((name) => name.replaceAll('␣', ' '));

describe('a path by its names', () => {
  it.each([
    [
      'version control',
      `
      .git .git/config .git/hooks/pre-commit .git/x/y sub/.git .hg/hgrc .jj/repo/config.toml .gitconfig
      .gitconfig-work .config/git/config .hgrc .config/jj/config.toml`,
    ],
    [
      'git runs it',
      `
      .husky .husky/pre-commit .husky/_/h .githooks/post-merge scripts/git-hooks/pre-push hooks/commit-msg
      lefthook.yml .lefthook.toml lefthook-local.yaml .pre-commit-config.yaml prek.toml .simple-git-hooks.cjs
      .overcommit.yml`,
    ],
    [
      'an editor',
      `
      .vscode/tasks.json .vscode/launch.json .vscode/settings.json .vscode/extensions.json x.code-workspace
      packages/a/.vscode/settings.json .devcontainer .devcontainer/devcontainer.json .devcontainer.json
      .idea/workspace.xml .idea/runConfigurations/all.xml all.run.xml .zed/settings.json .zed/tasks.json
      .fleet/run.json x.sublime-project .vimrc _vimrc .exrc .nvim.lua .config/nvim/init.lua
      .config/nvim/lua/a/b.lua .emacs .emacs.d/init.el .dir-locals.el .config/helix/languages.toml
      AppData/Local/nvim/init.lua .local/share/nvim/site/plugin/x.lua .config/Code/User/settings.json
      Library/Application␣Support/Cursor/User/tasks.json`,
    ],
    [
      'an assistant',
      `
      .mcp.json mcp.json .cursor/mcp.json .roo/mcp.json .windsurf/mcp_config.json
      .codeium/windsurf/mcp_config.json .amazonq/mcp.json .lmstudio/mcp.json .copilot/mcp-config.json
      cline_mcp_settings.json .mcp/servers/mcp.yaml .junie/mcp/mcp.json .tabnine/mcp_servers.json
      .claude/settings.json .claude/settings.local.json .claude/hooks/check.sh .claude/commands/go.md
      .claude/agents/a.md .claude/skills/a/run.py .claude.json claude_desktop_config.json .cursor/hooks.json
      .cursor/environment.json .cursor/hooks/a.sh .gemini/settings.json .gemini/extensions/a/x.json
      .codex/config.toml .codex/rules/a.rules .kiro/settings/mcp.json .kiro/hooks/a.kiro.hook
      .continue/config.yaml .continue/mcpServers/a.yaml .qwen/settings.json .factory/mcp.json
      .zencoder/mcp.json .opencode/plugin/a.ts opencode.json opencode.jsonc .config/opencode/opencode.json
      .config/goose/config.yaml .aider.conf.yml crush.json .github/hooks/a.json`,
    ],
    [
      'toolcrib',
      `
      .toolcrib.json .config/toolcrib/config.json .config/toolcrib .local/state/toolcrib/journal/x
      .cache/toolcrib/y Library/Caches/toolcrib/z Library/Application␣Support/toolcrib/z
      AppData/Local/toolcrib/Cache/a AppData/Roaming/toolcrib/config.json`,
    ],
    [
      'a shell',
      `
      .profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bashrc.d/a .zshrc .zshenv
      .zprofile .zlogin .zlogout .oh-my-zsh/custom/a.zsh .config/fish/config.fish .config/fish/conf.d/a.fish
      .cshrc .tcshrc .login .kshrc .mkshrc .config/nushell/env.nu .xonshrc .config/elvish/rc.elv
      Documents/PowerShell/Microsoft.PowerShell_profile.ps1 Documents/PowerShell/profile.ps1 .inputrc
      .zshrc.zwc .zlogin.zwc .zcompdump-host-5.9 .local/share/bash-completion/completions/git
      .local/share/zsh/site-functions/_x .local/share/fish/vendor_conf.d/x.fish .tmux.conf .screenrc`,
    ],
    [
      'enters the folder',
      `
      .envrc sub/.envrc .direnvrc .mise.toml mise.toml mise.local.toml mise/config.toml
      .config/mise/config.toml .asdfrc .autoenv.zsh`,
    ],
    [
      'a package manager',
      `
      .npmrc packages/a/.npmrc .yarnrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs pip.conf
      .cargo/config.toml .gradle/init.d/a.gradle .mvn/extensions.xml .m2/settings.xml .gemrc .pnp.cjs
      .bazelrc`,
    ],
    [
      'how to log in',
      `
      .ssh .ssh/authorized_keys .ssh/config .gnupg/gpg.conf .aws/config .kube/config .docker/config.json
      .docker/cli-plugins/docker-x .config/gh/config.yml .rhosts .pgpass`,
    ],
    [
      'by itself',
      `
      .config/autostart/a.desktop .config/systemd/user/a.service Library/LaunchAgents/a.plist
      AppData/Roaming/Microsoft/Windows/Start␣Menu/Programs/Startup/a.bat .xinitrc .config/sway/config
      .config/labwc/autostart .config/lxsession/LXDE/autostart .config/waybar/config .config/wayfire.ini
      .fluxbox/startup .vnc/xstartup .xbindkeysrc .forward .procmailrc
      .local/share/gnome-shell/extensions/x/extension.js .local/share/applications/a.desktop`,
    ],
    [
      'in place of a program',
      `
      .local/bin/git .cargo/bin/cargo .pyenv/shims/python .nvm/nvm.sh tools/bazel`,
    ],
    [
      'an interpreter',
      `
      .pythonrc lib/sitecustomize.py usercustomize.py venv/lib/python3.12/site-packages/a.pth .Rprofile
      .irbrc .pryrc .pdbrc .gdbinit .lldbinit .psqlrc .sqliterc .config/gdb/gdbinit .config/irb/irbrc
      .config/sqlite3/sqliterc .my.cnf .guile .ghci .ipython/profile_default/startup/a.py`,
    ],
    [
      'a command-line program',
      `
      .ripgreprc .curlrc .config/curlrc .wgetrc .lessfilter .netrc .config/electron-flags.conf
      .config/google-chrome/NativeMessagingHosts/x.json .mozilla/native-messaging-hosts/x.json`,
    ],
  ])('is protected: what %s takes or runs', (_, paths) => {
    for (const path of namesIn(paths))
      expect([path, protectedReason(`/home/a/${path}`)]).not.toEqual([path, undefined]);
  });

  it('is protected only in its one place of the machine where that place matters', () => {
    const paths =
      'etc/profile.d/a.sh etc/cron.d/a var/spool/cron/root etc/sudoers etc/systemd/system/a.service';
    for (const path of namesIn(paths)) {
      expect([path, protectedReason(`/${path}`)]).not.toEqual([path, undefined]);
      expect([path, protectedReason(`/private/${path}`)]).not.toEqual([path, undefined]);
      // Images and packages are made from such.
      expect([path, protectedReason(`/w/image/${path}`)]).toEqual([path, undefined]);
    }
  });

  it.each([
    ['case', '.GIT/config .Git/config .VSCode/Tasks.json .BASHRC .envRC .MCP.JSON .Husky/x'],
    [
      'characters without width',
      '.g\u200cit/config .gi\u200dt/config .git\u2060/x .en\u00advrc .bash\u202erc .hus\ufe0fky/x',
    ],
    [
      'dots and blanks at the end',
      '.git./config .git␣/config .git␣.␣./config .bashrc. .envrc␣␣ .vscode./tasks.json␣',
    ],
    ['streams', '.git::$INDEX_ALLOCATION/config .git:x .bashrc::$DATA .vscode::$INDEX_ALLOCATION/tasks.json'],
    ['short names', 'git~1/config GIT~1 git~2/hooks/x GI7EBA~1/config'],
    ['letters that are equal without case', '.ba\u017fhrc .\u212ashrc .hu\u017f\u212ay/x'],
    ['Unicode forms', '.con\u0066ig/fish/conf\u0069g.fish Library/LaunchAgents/u\u0308.plist'],
    ['backslashes', String.raw`.git\config C:\w\.git\hooks\pre-commit C:\Users\a\.ssh\config`],
  ])('is protected whatever its %s', (_, paths) => {
    for (const path of [...namesIn(paths), '\ufeff.git/config'])
      expect([path, protectedReason(`/w/${path}`)]).not.toEqual([path, undefined]);
  });

  it.each([
    [
      'code',
      `
      src/index.ts git.ts a/git/config a/vscode/tasks.json hooks/useThing.ts src/hooks/update.ts
      hooks/pre-commit.md bin/run profile.ts src/ssh/config`,
    ],
    [
      'what the person starts',
      `
      package.json Makefile CMakeLists.txt Dockerfile compose.yaml pyproject.toml Cargo.toml build.gradle
      pom.xml gradlew justfile Taskfile.yml pnpm-workspace.yaml tsconfig.json vite.config.ts conftest.py
      setup.py`,
    ],
    [
      'settings of linters and hosts',
      `
      .gitignore .gitattributes .gitmodules .gitkeep .github/workflows/ci.yml .github/dependabot.yml
      .gitlab-ci.yml .eslintrc.json .prettierrc .editorconfig .nvmrc .tool-versions .env .env.local
      .dockerignore .npmignore`,
    ],
    [
      'instructions',
      `
      CLAUDE.md AGENTS.md GEMINI.md .cursor/rules/a.mdc .claude/CLAUDE.md .github/copilot-instructions.md
      .clinerules/a.md`,
    ],
    [
      'worktrees of assistants',
      `
      .claude/worktrees/a/src/index.ts .claude/worktrees/a/package.json .cursor/worktrees/r/b/x.ts
      .codex/worktrees/1/r/src/a.py`,
    ],
    [
      'installations as a whole',
      `
      .venv/bin/python .venv/lib/python3.12/site-packages/a.py node_modules/.bin/tsc tools/bazel/rules.bzl`,
    ],
    [
      'names that are only similar',
      `
      .gitx/config x.git/a xgit~1 .vscode/notes.json .vscode my.npmrc mcp.json.example src/mcp.ts
      mcp-tool.json toolcrib/src/a.ts a~1.txt .ssh-notes/a claude/settings.json`,
    ],
  ])('is not protected where it is %s', (_, paths) => {
    for (const path of namesIn(paths))
      expect([path, protectedReason(`/home/a/p/${path}`)]).toEqual([path, undefined]);
  });

  it('takes no long time to check when its name holds a part of a pattern often', () => {
    const start = process.cpuUsage();
    expect(protectedReason(`/${'hook'.repeat(40_000)}`)).toBeUndefined();
    expect(couldHoldProtected(`/${'hook'.repeat(40_000)}/x`)).toBe(false);
    expect(protectedReason(`/${'hook'.repeat(40_000)}/pre-commit`)).toBeDefined();
    expect(processorMs(start)).toBeLessThan(10_000);
  });

  it('is known by what a link there could lead to', () => {
    for (const path of namesIn('.vscode .config .kiro/settings .claude .claude/hooks site-packages .git'))
      expect([path, couldHoldProtected(`/w/${path}`)]).toEqual([path, true]);
    for (const path of ['src', 'docs/a', 'node_modules/a', 'x.vscode'])
      expect([path, couldHoldProtected(`/w/${path}`)]).toEqual([path, false]);
  });
});

describe('a path on the disk', () => {
  let top: string;
  beforeEach(async () => {
    top = await temporaryFolder();
  });
  const refusal = (path: string) =>
    failureOf(Promise.resolve().then(() => refuseProtected({ path: join(top, path) }, path))).catch(
      () => 'allowed',
    );

  it('is refused in words that name the reason and the way out', async () => {
    expect(await refusal('.envrc')).toBe(
      'PATH_PROTECTED: .envrc: is not changed from here, because a shell, another program ' +
        'or the system runs it, or takes from it what to run, fetch or trust. ' +
        'If it has to be, show the person what, so that they can do it themselves.',
    );
  });

  it('is protected in a repository without a work tree, but not what people put beside it', async () => {
    await put(top, { 'bare/HEAD': 'ref: refs/heads/main\n', 'bare/objects/x': '', 'bare/refs/x': '' });
    const kept = 'config Config hooks/anything HEAD info/attributes refs/heads/x worktrees/a/commondir';
    for (const path of namesIn(kept))
      expect(await refusal(`bare/${path}`)).toContain('git takes its folder for a repository');
    for (const path of ['main/src/a.ts', 'README.md']) expect(await refusal(`bare/${path}`)).toBe('allowed');
  });

  it('is protected when it would complete such a repository', async () => {
    await put(top, {
      'a/objects/x': '',
      'a/refs/x': '',
      'b/HEAD': '',
      'b/objects/x': '',
      'c/HEAD': '',
      'd/commondir': '',
    });
    for (const path of ['a/HEAD', 'b/refs', 'b/refs/heads/main', 'c/commondir', 'd/HEAD'])
      expect([path, await refusal(path)]).toEqual([path, expect.stringContaining('a repository')]);
    const others = 'a/config b/config c/refs/x c/objects b/hooks/x src/config src/index HEAD';
    for (const path of namesIn(others)) expect([path, await refusal(path)]).toEqual([path, 'allowed']);
  });

  it('is refused by the gate, by the way to a file and by its end, before anything is made', async () => {
    await put(top, { 'conf/tasks.json': '{}', '.git/config': '' });
    await symlink('conf', join(top, '.vscode'));
    await symlink('.git', join(top, 'plain'));
    await symlink('.git/hooks/new', join(top, 'dangling'));
    await symlink('conf', join(top, '.husky'));
    const workspace = await openWorkspace([top]);
    for (const path of namesIn(
      '.vscode/tasks.json plain/config plain/new/x dangling .git/new/x .husky/x .git',
    ))
      for (const follow of [true, false]) {
        const outcome = workspace.openPlace(path, { follow, make: true });
        if (path === 'dangling' && !follow) await (await outcome).folder.handle.close();
        else expect(await failureOf(outcome)).toMatch(/^PATH_PROTECTED/);
      }
    expect(await failureOf(workspace.open('file', '.git/new'))).toMatch(/^PATH_NOT_FOUND/);
    await (await workspace.open('file', '.git/config')).handle.close();
  });
});

describe('moving a folder or a link', () => {
  let top: string;
  beforeEach(async () => {
    top = await temporaryFolder();
  });

  const moved = (from: string, to: string, isLink = false) =>
    refuseMoving(
      { at: join(top, from), path: join(top, from), given: from },
      { to: join(top, to), kind: isLink ? 'link' : 'folder' },
    );

  it('is allowed for a folder that holds protected files, which stay protected', async () => {
    await put(top, { 'x/.envrc': '', 'x/.vscode/tasks.json': '', 'x/.git/config': '' });
    await symlink('nothing', join(top, 'x', '.husky'));
    await moved('x', 'y');
    // But its name must not be part of it: it has no effect where it is, and would have it there.
    expect(await failureOf(moved('x/.vscode', '.vscode'))).toMatch(
      /^PATH_PROTECTED: x\/.vscode.*tasks\.json/,
    );
  });

  it('is refused for a link that could then lead to what runs', async () => {
    await mkdir(join(top, 'z'));
    await symlink('../elsewhere', join(top, 'z', 'settings'));
    expect(await failureOf(moved('link', '.vscode', true))).toMatch(/^PATH_PROTECTED: link.*could lead to/);
    expect(await failureOf(moved('z', '.kiro'))).toMatch(/^PATH_PROTECTED: z\/settings/);
    await moved('link', 'other', true);
    await moved('z', 'y');
  });

  it('is allowed for a folder that is protected as a whole, as a person was asked about it', async () => {
    await put(top, { '.husky/pre-commit': '', 'x/pre-commit': '' });
    await moved('.husky', 'y');
    await moved('x', '.config');
  });
});

describe('deleting a folder', () => {
  let top: string;
  beforeEach(async () => {
    top = await temporaryFolder();
  });
  const deleted = (path: string) =>
    refuseDeleting({ at: join(top, path), path: join(top, path), given: path });

  it('is refused for a repository of any kind in it, and for what its own name protects', async () => {
    await put(top, {
      'x/bare/HEAD': '',
      'x/bare/objects/a': '',
      'x/bare/refs/a': '',
      '.vscode/tasks.json': '',
      'y/a/b/.hg/store': '',
    });
    expect(await failureOf(deleted('y'))).toMatch(/^PATH_PROTECTED: y: .* in it is a repository/);
    expect(await failureOf(deleted('x'))).toMatch(/^PATH_PROTECTED: x: .*bare in it is a repository/);
    expect(await failureOf(deleted('.vscode'))).toMatch(/^PATH_PROTECTED: .vscode\/tasks.json/);
  });

  it('removes other protected files along, and follows no links', async () => {
    await put(top, {
      'x/node_modules/a/.npmrc': '',
      'x/b/.vscode/settings.json': '',
      '.vscode/tasks.json': '',
    });
    await symlink('../.vscode', join(top, 'x', 'link'));
    await symlink('..', join(top, 'x', 'up'));
    await deleted('x');
  });

  it('is refused, as is moving it, where it holds the state of toolcrib', async () => {
    const state = realpathSync(process.env['XDG_STATE_HOME'] ?? '');
    const tree = { at: state, path: state, given: 'state' };
    expect(await failureOf(refuseDeleting(tree))).toMatch(/^PATH_PROTECTED: state: .*what toolcrib itself/);
    expect(await failureOf(refuseMoving(tree, { to: top, kind: 'folder' }))).toMatch(/what toolcrib itself/);
  });
});
