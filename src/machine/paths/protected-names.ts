/** Files that somebody else runs, or takes from what to run: whoever writes them runs programs later, unasked. */
export interface ProtectedNames {
  /** What changing them leads to, as the rest of a sentence that begins with "because". */
  readonly effect: string;
  /**
   * Wherever they lie; one that begins with `/` only there. `{a,b}` is either, `*` any part of a name, `/**` at the end
   * the folder itself and all in it. Written in lower case; what is compared is folded.
   */
  readonly paths: readonly string[];
  /** What else is refused than changing it itself: deleting a folder that it lies in, or also moving that. */
  readonly stays?: 'undeleted' | 'in place';
}

/** https://git-scm.com/docs/githooks */
const gitHooks =
  '{applypatch-msg,pre-applypatch,post-applypatch,pre-commit,pre-merge-commit,prepare-commit-msg,commit-msg,' +
  'post-commit,pre-rebase,post-checkout,post-merge,pre-push,pre-receive,update,proc-receive,post-receive,post-update,' +
  'reference-transaction,push-to-checkout,pre-auto-gc,post-rewrite,sendemail-validate,fsmonitor-watchman,' +
  'post-index-change,p4-changelist,p4-prepare-changelist,p4-post-changelist,p4-pre-submit}';

/** Folders, in a project or at home, in which a coding assistant looks for its settings. */
const assistants =
  '.{agent,agents,aider,amazonq,amp,antigravity,augment,claude,cline,clinerules,codebuddy,codeium,codex,continue,' +
  'copilot,crush,cursor,factory,firebender,gemini,goose,iflow,junie,kilo,kilocode,kimi,kiro,lmstudio,opencode,openhands,' +
  'pearai,pi,qoder,qwen,roo,rovodev,tabnine,trae,void,warp,windsurf,zencoder}';

/** What is in them besides instructions: settings, servers, scripts and what they may do unasked. */
const assistantFiles =
  '{*.{json,jsonc,toml,yaml,yml,ts,js,mjs,cjs,sh,ps1,py},' +
  '{hooks,commands,agents,cli-agents,droids,skills,plugin,plugins,extensions,tool,tools,mcp,mcpservers,policies,environments}/**}';

const editorSettings = '{.config,application support,roaming}';

/**
 * The one list of what is protected. Doubts were decided like this:
 * - What a person starts themselves is ordinary work and not listed, though it runs: package.json, Makefile, sources,
 *   CI workflows, Dockerfiles, linter settings. Listed is what runs by opening, entering or starting something else.
 * - Instructions for assistants (AGENTS.md, CLAUDE.md, rules in Markdown beside them) steer a model, but run nothing:
 *   not listed. Commands, agents and skills may run programs and say which tools need no asking: listed.
 * - The folder of an assistant as a whole is not listed: worktrees are kept there, in which people work.
 * - A name that means something only at home or in one folder is listed for everywhere when nobody uses it for anything
 *   else: dotfiles are kept in repositories and linked from home.
 * - .gitattributes, .gitmodules and .tool-versions name what only settings elsewhere can make run: not listed.
 * - .npmrc, pip.conf and the like decide whom code is fetched from: listed. Lock files and manifests: not.
 * - Folders on PATH are listed where they have a name of their own; `~/bin` and the like have not.
 * - What belongs to an installation as a whole (node_modules, .venv) comes and goes with its tool, and whoever may write
 *   a module in it needs no program in its `bin`: not listed, so that it can be deleted and made anew.
 * - `git~1` and `gi7eba~1` are what Windows may call `.git` for old programs.
 * - Where core.hooksPath points is not looked up; a file named like a hook in a folder named like hooks is listed.
 */
export const protectedNames: readonly ProtectedNames[] = [
  {
    effect: 'version control takes from it what to run',
    stays: 'undeleted',
    paths: ['{.git,git~*,gi7eba~*,.hg,.jj,.sl,.svn,.bzr,.pijul,_darcs}/**'],
  },
  {
    effect: 'version control takes from it what to run',
    paths: [
      '.gitconfig*',
      '/etc/gitconfig',
      '.config/{git,jj}/**',
      '.jjconfig.toml',
      '.hgrc',
      'mercurial.ini',
    ],
  },
  {
    effect: 'git runs it, or what it names, at the next commit or checkout',
    paths: [
      `*hook*/${gitHooks}`,
      '{.husky,.githooks,.git-hooks,.lefthook,.lefthook-local,.overcommit,.cargo-husky}/**',
      '{.huskyrc*,husky.config.*,.simple-git-hooks.*,simple-git-hooks.*,.rusty-hook.toml,captainhook.json,hk.pkl}',
      '{,.}{lefthook,lefthook-local}.{yml,yaml,json,jsonc,toml}',
      '{.pre-commit-config,.pre-commit-hooks,.overcommit}.{yml,yaml}',
      'prek.toml',
    ],
  },
  {
    effect: 'the system runs it by itself, when it starts, at set times or at a login',
    paths: [
      '.config/{autostart,autostart-scripts,plasma-workspace,systemd,environment.d,upstart,sxhkd,karabiner,xfce4}/**',
      '.config/{i3,sway,hypr,bspwm,awesome,openbox,xmonad,qtile,herbstluftwm,river,niri,yabai,skhd,aerospace}/**',
      '.config/{labwc,waybar,lxsession,lxpanel,wayfire.ini,tigervnc}/**',
      '.local/share/{systemd,applications,dbus-1,autostart,gnome-shell,flatpak}/**',
      'library/{launchagents,launchdaemons,startupitems,application scripts}/**',
      'start menu/programs/startup/**',
      '{.xinitrc,.xsession,.xsessionrc,.xprofile,.xserverrc,.skhdrc,.yabairc,.aerospace.toml}',
      '{.xbindkeysrc*,.forward*,.qmail*,.procmailrc,.mailfilter}',
      '{.xmonad,.i3,.hammerspoon,.fluxbox,.vnc}/**',
      '/{,private/}{etc/{cron*,anacrontab,systemd,init.d,rc.local,rc*.d,ld.so.*},var/{spool/cron,at,cron}}/**',
    ],
  },
  {
    effect: 'an editor runs what it names when the folder is opened',
    paths: [
      '.vscode/{tasks,launch,settings,mcp,extensions}.json',
      '{.vscode/extensions,.vscode-server,.vscode-insiders}/**',
      '*.code-workspace',
      `${editorSettings}/*/user/**`,
      '{.devcontainer/**,.devcontainer.json,devcontainer.json}',
      '{.idea,.fleet,.nova,.theia,.externaltoolbuilders}/**',
      '*.run.xml',
      '.vs/*.json',
      '.zed/{settings,tasks,debug}.json',
      '*.sublime-{project,settings,build}',
      `${editorSettings}/{zed,helix,sublime-text*,jetbrains}/**`,
      '{.helix,.vim,.nvim,.emacs.d,.doom.d,.spacemacs.d,.kak}/**',
      `{${editorSettings}/{nvim,vim,lvim,emacs,doom,kak,micro,lite-xl},local/nvim,.local/share/{nvim,lvim}}/**`,
      '{.vimrc,_vimrc,.gvimrc,_gvimrc,.exrc,_exrc,.nvimrc,.nvim.lua,.lvimrc,.local.vimrc,.ideavimrc,.vimrc.local}',
      '{.emacs,.emacs.el,_emacs,.spacemacs,.dir-locals.el,.dir-locals-2.el,.kakrc,.nanorc,.ycm_extra_conf.py}',
    ],
  },
  {
    effect: 'an assistant starts the programs it names, or does without asking what it allows',
    paths: [
      `${assistants}/${assistantFiles}`,
      '{.kiro/settings,.codex/rules,.github/hooks,.github/agents}/**',
      '{,.,*-,*_,*.}mcp{,{-,_,.,}{config,settings,servers,server}}.{json,jsonc,toml,yaml,yml}',
      '{.claude.json,claude_desktop_config.json,.continuerc.json,.aider.conf.yml,.crush.json,crush.json}',
      'opencode.{json,jsonc}',
      `${editorSettings}/{claude,claude-code,opencode,crush,goose,amp,aichat,block/goose}/**`,
      '.aws/amazonq/**',
    ],
  },
  {
    effect: 'it says what toolcrib itself may do, or is what toolcrib remembers',
    stays: 'in place',
    paths: [
      '.toolcrib.json/**',
      '{.config,.cache,.local/state,.local/share}/toolcrib/**',
      'library/{application support,caches,logs,preferences}/toolcrib/**',
      'appdata/{local,roaming}/toolcrib/**',
    ],
  },
  {
    effect: 'a shell runs it when it starts',
    paths: [
      '{.profile,.shrc,.shinit,.kshrc,.mkshrc,.yashrc,.yash_profile,.cshrc,.tcshrc,.login,.logout}',
      '.bash{rc,_profile,_login,_logout,_aliases,_functions,_completion,rc.local}',
      '.z{shrc,shenv,profile,login,logout,shrc.local,shenv.local,preztorc,imrc,sh_plugins.txt,compdump*}{,.zwc}',
      '{.bashrc.d,.zshrc.d,.zsh,.zfunc,.oh-my-zsh,.oh-my-bash,.bash_it,.zprezto,.zim,.bash_completion.d}/**',
      '.p10k.zsh{,.zwc}',
      '.local/share/{bash-completion,zsh,fish}/**',
      '{microsoft.*profile,profile}.ps1',
      `${editorSettings}/{fish,zsh,bash,powershell,nushell,xonsh,elvish,oils,osh,direnv,starship}/**`,
      '{.xonshrc,rc.xsh,.elvish/**,.pam_environment,.inputrc}',
      '/{,private/}etc/{profile,bash.bashrc,bashrc,zshrc,zprofile,zshenv,csh.cshrc,environment,inputrc}',
      '/{,private/}etc/{profile.d,zsh,fish,environment.d}/**',
      '{.screenrc,.tmux.conf,.tmux.conf.local,.tmux/**,.byobu/**,.wezterm.lua,.hyper.js,.alacritty.*}',
      '.config/{tmux,screen,zellij,kitty,alacritty,wezterm,foot,ghostty}/**',
    ],
  },
  {
    effect: 'a shell runs it when somebody enters the folder',
    paths: [
      '{.envrc,.direnvrc,.autoenv,.autoenv.zsh,.asdfrc,.shadowenv.d/**}',
      '{,.}mise{,.*}.toml',
      '{.rtx.toml,.mise/**,.config/mise/**,mise/config{,.*}.toml,mise/conf.d/**}',
    ],
  },
  {
    effect: 'a package manager or build tool takes from it what to run, and whom to fetch code from',
    paths: [
      '{.npmrc,.yarnrc,.yarnrc.*,.pnpmfile.*,pnpmfile.*,bunfig.toml,.bunfig.toml}',
      '{.yarn/{releases,plugins}/**,.pnp.cjs,.pnp.loader.mjs}',
      '{pip.conf,pip.ini,.pypirc,.condarc,.gemrc,.bundle/config}',
      '.config/{pip,uv,npm,yarn,pnpm,bundle,composer,nuget}/**',
      '.cargo/{config,config.toml,credentials,credentials.toml,env}',
      '.gradle/{init.gradle*,gradle.properties,init.d/**}',
      '{.mvn/**,.mavenrc,.m2/settings*.xml,.m2/extensions.xml}',
      '{.sbt,.ivy2,.lein,.clojure}/**',
      '{.stack/config.yaml,.cabal/config,.terraformrc,terraform.rc,.ansible.cfg,.bazelrc,.bazeliskrc}',
    ],
  },
  {
    effect: 'programs take from it how to log in, and what to run for that',
    paths: [
      '{.ssh,.gnupg}/**',
      '{.rhosts,.shosts,.k5login,.pgpass}',
      '.aws/{config,credentials,cli/**}',
      '.kube/config*',
      '.docker/{config.json,daemon.json,cli-plugins/**}',
      '.azure/{config,cliextensions/**}',
      '.config/{containers,gcloud,gh,glab-cli,docker,rclone,op}/**',
      '/{,private/}etc/{sudoers,ssh/**,pam.d/**,sudoers.d/**}',
    ],
  },
  {
    effect: 'it would be run in place of a program, by its name',
    paths: [
      '{.local,.cargo,.bun,.deno,.yarn,.krew,.npm-global,.rd,.docker}/bin/**',
      '.{rbenv,pyenv,nodenv,jenv,asdf}/{shims,bin,plugins,hooks}/**',
      '{.dotnet/tools,.volta/bin,.nvm,.sdkman,.rustup,.local/share/mise,.local/share/pnpm}/**',
      // In place of bazel, by https://github.com/bazelbuild/bazelisk and bazel's own starter.
      'tools/bazel{,.bat,.ps1,.exe}',
    ],
  },
  {
    effect: 'an interpreter, debugger or database client runs it when it starts',
    paths: [
      '{.pythonrc,.pythonrc.py,.pystartup,sitecustomize.py,usercustomize.py}',
      '{site-packages,dist-packages}/*.pth',
      '{.ipython,.jupyter,.julia/config,.ammonite}/**',
      '{.rprofile,.renviron,rprofile.site,renviron.site,.irbrc,.pryrc,.byebugrc,.rdebugrc,.perldb}',
      '{.pdbrc,.pdbrc.py,.gdbinit,.gdbearlyinit,.lldbinit*,.radare2rc}',
      '.config/{gdb,irb,pry,sqlite3,ipython,python}/**',
      '{.psqlrc*,.sqliterc,.my.cnf,.mylogin.cnf,.mongorc.js,.mongoshrc.js,.duckdbrc}',
      '{.guile,.ghci,.ocamlinit,.utoprc,.iex.exs,.erlang,.juliarc.jl,.octaverc,.gnuplot,.sbclrc,.eclrc}',
    ],
  },
  {
    effect: 'a command-line program takes from it what else to run, or where to send things',
    paths: [
      '{.ripgreprc,.ackrc,.curlrc,_curlrc,.wgetrc,.lessfilter,.lesskey,.mailcap,.mailrc,.muttrc,.netrc,_netrc}',
      '.config/{bat,ripgrep,less,lf,ranger,nnn,yazi,vifm,mutt,neomutt,mpv,htop}/**',
      '.config/{curlrc,*-flags.conf}',
      '{nativemessaginghosts,.mozilla/native-messaging-hosts}/*.json',
    ],
  },
];
