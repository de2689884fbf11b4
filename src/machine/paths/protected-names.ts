/**
 * Files that others run, or that tell others what to run: whoever writes them runs programs later, without
 * approval.
 */
export interface ProtectedNames {
  /**
   * The effect of changing them, as the rest of a sentence that begins with "because"; '' for what is
   * harmless.
   */
  readonly effect: string;
  /**
   * Patterns that match at any depth; one that begins with `/` matches only there. `{a,b}` is either, `*` any
   * part of a name, `/**` at the end the folder itself and all in it. They are written in lower case, because
   * paths are folded before they are compared.
   */
  readonly paths: readonly string[];
  /**
   * Set where no person is asked and the file stays as it is: always, or as long as the settings in it can be
   * read.
   */
  readonly never?: true | 'while it can be read';
}

/** The names of git's hooks, from https://git-scm.com/docs/githooks. */
const gitHooks =
  '{applypatch-msg,pre-applypatch,post-applypatch,pre-commit,pre-merge-commit,prepare-commit-msg,' +
  'commit-msg,post-commit,pre-rebase,post-checkout,post-merge,pre-push,pre-receive,update,proc-receive,' +
  'post-receive,post-update,reference-transaction,push-to-checkout,pre-auto-gc,post-rewrite,' +
  'sendemail-validate,fsmonitor-watchman,post-index-change,p4-changelist,p4-prepare-changelist,' +
  'p4-post-changelist,p4-pre-submit}';

/** The folders, in a project or at home, in which coding assistants look for their settings. */
const assistants =
  '.{agent,agents,aider,amazonq,amp,antigravity,augment,claude,cline,clinerules,codebuddy,codeium,codex,' +
  'continue,copilot,crush,cursor,factory,firebender,gemini,goose,iflow,junie,kilo,kilocode,kimi,kiro,' +
  'lmstudio,opencode,openhands,pearai,pi,qoder,qwen,roo,rovodev,tabnine,trae,void,warp,windsurf,zencoder}';

/**
 * The files in these folders besides instructions: settings, servers, scripts, and what they may do without
 * approval.
 */
const assistantFiles =
  '{*.{json,jsonc,toml,yaml,yml,ts,js,mjs,cjs,sh,ps1,py},' +
  '{hooks,commands,agents,cli-agents,droids,skills,plugin,plugins,extensions,tool,tools,mcp,mcpservers,' +
  'policies,environments}/**}';

/** Files named like `.bashrc` that only linters, formatters and version managers read. */
const harmlessRc =
  '.{eslint,prettier,babel,stylelint,nyc,c8,mocha,jshint,jscs,swc,postcss,browserslist,nvm,lintstaged,' +
  'commitlint,cz,release,markdownlint,remark,htmlhint,luacheck,pylint,coverage,depcheck,size-limit,cspell,' +
  'textlint,sass}rc{,.*}';

/**
 * The only list of what is protected, of which the first match counts. Doubtful cases were decided like this:
 * - What a person starts themselves is ordinary work and not listed, though it runs: package.json, Makefile,
 * sources,
 * CI workflows, Dockerfiles, linter settings. Listed is what runs by opening, entering or starting something
 * else.
 * - Instructions for assistants (AGENTS.md, CLAUDE.md, rules in Markdown beside them) steer a model, but run
 * nothing:
 * not listed. Commands, agents and skills may run programs and say which tools need no approval: listed. The
 * folder
 * of an assistant as a whole is not: worktrees are kept there, in which people work.
 * - What has an effect only at home is listed for everywhere: dotfiles are kept in repositories and linked
 * from home.
 * - What belongs to an installation as a whole (node_modules, .venv) comes and goes with its tool: not
 * listed.
 */
export const protectedNames: readonly ProtectedNames[] = [
  {
    effect: 'it says what toolcrib itself may do',
    never: 'while it can be read',
    paths: ['.toolcrib.json/**'],
  },
  {
    effect: 'it says what toolcrib itself may do, or is what toolcrib remembers',
    never: true,
    paths: [
      '.toolcrib/**',
      '{.config,.cache,.local/state,.local/share}/toolcrib/**',
      'library/{application support,caches,logs,preferences}/toolcrib/**',
      'appdata/{local,roaming}/toolcrib/**',
    ],
  },
  {
    effect: 'version control takes from it what to run',
    // Windows may call `.git` `git~1` or `gi7eba~1` for old programs.
    paths: ['{.git,git~*,gi7eba~*,.hg,.jj,.sl,.svn,.bzr,.pijul,_darcs}/**'],
  },
  {
    effect: 'git runs it, or what it names, at the next command or commit',
    paths: [
      `*hook*/${gitHooks}`,
      '{.gitconfig*,.jjconfig.toml,mercurial.ini,prek.toml,captainhook.json,hk.pkl,.rusty-hook.toml}',
      '{.husky,.githooks,.git-hooks,.lefthook,.lefthook-local,.overcommit,.cargo-husky}/**',
      '{.,}{lefthook,lefthook-local,husky.config,simple-git-hooks}.*',
      '{.,}{pre-commit-config,pre-commit-hooks,overcommit}.*',
    ],
  },
  {
    effect: 'an editor runs what it names when the folder is opened',
    paths: [
      '.vscode/{{tasks,launch,settings,mcp,extensions}.json,extensions/**}',
      '{*.code-workspace,*.run.xml,*.sublime-{project,settings,build}}',
      '{.vs/*.json,.zed/{settings,tasks,debug}.json}',
      '{.devcontainer,.devcontainer.json,devcontainer.json}/**',
      '{.idea,.fleet,.nova,.theia,.externaltoolbuilders}/**',
      '{.vscode-server,.vscode-insiders,.helix,.vim,.nvim,local/nvim,.emacs.d,.doom.d,.spacemacs.d,.kak}/**',
      '{.nvim.lua,.emacs,.emacs.el,_emacs,.spacemacs,.dir-locals*.el,.ycm_extra_conf.py}',
    ],
  },
  {
    effect: 'an assistant starts the programs it names, or does without asking what it allows',
    paths: [
      `${assistants}/${assistantFiles}`,
      '{.kiro/settings,.codex/rules,.github/hooks,.github/agents,.aws/amazonq}/**',
      '{,.,*-,*_,*.}mcp{,{-,_,.,}{config,settings,servers,server}}.{json,jsonc,toml,yaml,yml}',
      '{.claude.json,claude_desktop_config.json,.aider.conf.yml,{.,}crush.json,opencode.{json,jsonc}}',
    ],
  },
  { effect: '', paths: [harmlessRc] },
  {
    effect: 'a shell, another program or the system runs it, or takes from it what to run, fetch or trust',
    paths: [
      '{.*{rc,profile,login,logout,init},_{ex,vim,gvim,curl,net}rc}{,.*,-*}',
      '{.bash_{aliases,functions,completion},.zshenv{,.*},.{bash,zsh}rc.d/**}',
      '{.zsh,.zfunc,.oh-my-zsh,.oh-my-bash,.bash_it,.zprezto,.zim,.bash_completion.d}/**',
      '{.elvish,.tmux,.byobu}/**',
      '{.zcompdump*,.zsh_plugins.txt,.p10k.zsh{,.zwc},rc.xsh,.pam_environment}',
      '{microsoft.*profile,profile}.ps1',
      '{.tmux.conf*,.wezterm.lua,.hyper.js,.alacritty.*,.autoenv*,.shadowenv.d/**}',
      '{.mise/**,{,.}mise{,.*}.toml}',
      'mise/{config{,.*}.toml,conf.d/**}',
      '{.pystartup,{site,user}customize.py,{site-packages,dist-packages}/*.pth,.radare2rc,.perldb}',
      '{.rprofile,.renviron,rprofile.site,renviron.site,.my.cnf,.mylogin.cnf}',
      '{.guile,.ghci,.iex.exs,.erlang,.juliarc.jl,.gnuplot,.lessfilter,.lesskey,.mailcap}',
      '{.ipython,.jupyter,.julia/config,.ammonite}/**',
      '{.config,application support,appdata/roaming}/**',
      '.local/share/{applications,autostart,bash-completion,dbus-1,fish,flatpak,gnome-shell}/**',
      '.local/share/{lvim,nvim,systemd,zsh}/**',
      'library/{launchagents,launchdaemons,startupitems,application scripts}/**',
      '{start menu/programs/startup,.xmonad,.i3,.hammerspoon,.fluxbox,.vnc}/**',
      '{.xsession,.aerospace.toml,.forward*,.qmail*,.mailfilter}',
      '/{,private/}var/{spool/cron,at,cron}/**',
      '/{,private/}etc/**',
      '{nativemessaginghosts,.mozilla/native-messaging-hosts}/*.json',
      '{.pnpmfile.*,pnpmfile.*,bunfig.toml,.bunfig.toml}',
      '{.yarn/{releases,plugins}/**,.pnp.cjs,.pnp.loader.mjs}',
      '{pip.conf,pip.ini,.bundle/config,terraform.rc,.ansible.cfg,.stack/config.yaml,.cabal/config}',
      '.cargo/{config,config.toml,credentials,credentials.toml,env}',
      '{.gradle/{init.gradle*,gradle.properties,init.d/**},.mvn/**,.m2/{settings*,extensions}.xml}',
      '{.sbt,.ivy2,.lein,.clojure,.ssh,.gnupg}/**',
      '{.rhosts,.shosts,.k5login,.pgpass,.kube/config*,.aws/{config,credentials,cli/**}}',
      '{.docker/{config.json,daemon.json,cli-plugins/**},.azure/{config,cliextensions/**}}',
      '{.local,.cargo,.bun,.deno,.yarn,.krew,.npm-global,.rd,.docker}/bin/**',
      '.{rbenv,pyenv,nodenv,jenv,asdf}/{shims,bin,plugins,hooks}/**',
      '{.dotnet/tools,.volta/bin,.nvm,.sdkman,.rustup,.local/share/mise,.local/share/pnpm}/**',
      // These run in place of bazel: https://github.com/bazelbuild/bazelisk and bazel's own starter.
      'tools/bazel{,.bat,.ps1,.exe}',
    ],
  },
];
