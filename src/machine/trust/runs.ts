/** Files that decide what runs when somebody builds, tests, installs or commits in a project. */
export interface Runs {
  /** What they are for whom, in few words. */
  readonly what: string;
  /**
   * Wherever they lie in the project. `{a,b}` is either, `*` any part of a name, `/**` at the end all that is in a folder
   * of that name, `a/b` one that lies in a folder `a`. Written in lower case; what is compared is folded.
   */
  readonly paths: readonly string[];
  /** What of their content counts; all of it when left out. */
  readonly counts?: Counting;
  /** Whether people keep passwords and tokens in them, which are then neither kept nor shown. */
  readonly secret?: true;
}

/** How the part of a file that decides is taken from it: see parts.ts. */
export type Counting = 'package' | 'git' | 'requirements' | 'variables' | 'dependencies';

const script = '{js,cjs,mjs,jsx,ts,cts,mts,tsx,coffee}';
const settings = '{json,jsonc,json5,yml,yaml,toml}';

/**
 * The one list of what trust in a project covers. Doubts were decided like this:
 * - Covered is what says which programs run and with what: tasks, build files, hooks, the settings of build tools, test
 *   runners, linters and package managers. The code itself (sources, tests, scripts that a task calls) is not: it is what
 *   one works on, and a question after each edit would be answered unread.
 * - What is fetched is not: node_modules, vendor, lock files and plain versions of dependencies. Where it is fetched from
 *   is: registries, and dependencies that are addresses, paths or aliases.
 * - Settings are listed by how they are named everywhere (`*.config.js`, `.toolrc`), since most of them are code.
 * - Of package.json counts all but what only describes: a tool that nobody has heard of may take its orders from there.
 *   Of a repository's configuration all but what is known to run nothing and to send nothing elsewhere.
 * - CI workflows, devcontainers and the tasks of editors are run by others, never by an action of ours: not listed.
 * - Case does not count, as on macOS and Windows.
 */
export const runs: readonly Runs[] = [
  { what: 'settings of toolcrib', paths: ['.toolcrib.json', '.toolcrib/**'] },
  {
    what: 'npm scripts and settings of tools',
    paths: ['package.json'],
    counts: 'package',
  },
  {
    what: 'settings of a package manager',
    secret: true,
    paths: [
      '{.npmrc,.yarnrc,.yarnrc.yml,.yarnrc.yaml,.pnpmrc,bunfig.toml,.bunfig.toml}',
      '{pip.conf,pip.ini,.pypirc,.condarc,.gemrc,nuget.config,auth.json,uv.toml}',
      '.bundle/**',
    ],
  },
  {
    what: 'settings of a package manager',
    paths: [
      '{package.json5,package.yaml,pnpm-workspace.yaml,pnpm-workspace.yml,deno.json,deno.jsonc,lerna.json,rush.json}',
      '{{,.}pnpmfile.{js,cjs,mjs},.pnp.cjs,.pnp.js,.pnp.loader.mjs,.yarn/{releases,plugins}/**}',
      '{binding.gyp,*.gypi,common/config/rush/**}',
      '{gemfile,gems.rb,*.gemspec,composer.json,podfile,cartfile,package.swift,pubspec.yaml,build.yaml,build.rs}',
    ],
  },
  {
    what: 'what pip installs from elsewhere',
    counts: 'requirements',
    paths: ['{requirements,constraints}*.{txt,in}', '{requirements,constraints}/*.{txt,in}'],
  },
  {
    what: 'settings of a tool',
    paths: [
      `*.{config,conf,workspace}.${script}`,
      `*.{config,conf}.${settings}`,
      `*.{config,conf}.*.${script}`,
      `{webpack,rollup,vite,vitest,jest,babel,karma,esbuild,rspack,metro}.*.${script}`,
      `.*rc.${script}`,
      // These are settings for tests, and none themselves.
      `{webpack,{webpack,vite,vitest,jest,karma,babel,rollup,playwright}.config}.test.${script}`,
      '{tsconfig*.json,jsconfig.json,turbo.json,nx.json,project.json,workspace.json,angular.json,wrangler.toml}',
      '{phpunit.xml*,phpunit.dist.xml,.rspec,.phpunit.xml,rebar.config,sgconfig.yml,dprint.json,biome.json,biome.jsonc}',
    ],
  },
  // A name in full comes before one with stars: .npmrc and .envrc are found as what they are.
  { what: 'settings of a tool', secret: true, paths: [`.*rc`, `.*rc.${settings}`] },
  {
    what: 'tasks',
    paths: [
      `{gruntfile,gulpfile,jakefile}{,.*}.${script}`,
      '{gruntfile,gulpfile,jakefile,cakefile,snakefile,guardfile,thorfile,capfile,vagrantfile,tiltfile,earthfile,fastfile}{,.*}',
      '{{,.}justfile,*.just,taskfile*.{yml,yaml},{,.}taskrc*,procfile*,magefile.go,magefiles/**,fastlane/**}',
      '{rakefile,rakefile.rb,*.rake,rakelib/**}',
      '{tasks,noxfile,dodo,fabfile,pavement}.py',
    ],
  },
  {
    what: 'makefile',
    paths: ['{gnumakefile,makefile,makefile2}', '{gnumakefile,makefile,bsdmakefile}.*', '*.{mk,mak,make}'],
  },
  // CMake writes these, the first two with every build.
  { what: 'what a build depends on', counts: 'dependencies', paths: ['{depend,compiler_depend}.make'] },
  { what: 'how programs are linked', paths: ['{link,relink}.txt'] },
  {
    what: 'CMake',
    paths: ['cmakelists.txt', 'cmake{,user}presets.json', 'cmakecache.txt', '*.cmake', '*.cmake.in'],
  },
  {
    what: 'build file',
    paths: [
      '{configure,configure.*,configure.{py,js,rb},autogen.sh,bootstrap.sh,config.status,build.ninja,*.ninja,*.m4}',
      '{meson.build,meson.options,meson_options.txt,sconstruct,sconscript,wscript,xmake.lua,premake*.lua}',
      '{build,build.bazel,workspace,workspace.bazel,module.bazel,workspace.bzlmod,*.bzl,.bazelversion,tools/bazel*}',
      '{build.zig,build.zig.zon,dune,dune-project,*.opam,stack.yaml,*.cabal,cabal.project*,setup.hs,*.nimble,*.nims}',
      '{mix.exs,project.clj,deps.edn,shadow-cljs.edn,bb.edn,build.xml,*.nix,conanfile.{py,txt},vcpkg.json,*.pbxproj,*.xcconfig}',
      '{*.tf,*.tf.json,*.tofu,terragrunt.hcl,ansible.cfg,skaffold.{yml,yaml}}',
    ],
  },
  {
    what: 'Gradle',
    secret: true,
    paths: ['gradle.properties', 'local.properties'],
  },
  {
    what: 'Gradle',
    paths: ['{gradlew,gradlew.bat,*.gradle,*.gradle.kts,*.gradle.dcl,gradle/**,buildsrc/**}'],
  },
  {
    what: 'Maven',
    secret: true,
    paths: ['{mvnw,mvnw.*,mvnwdebug*,pom.{xml,java,rb,*},.mvn/**,settings.xml}'],
  },
  {
    what: 'build file of the JVM',
    paths: [
      '{*.sbt,.sbtopts,.jvmopts,.scalafix.conf,build.sc,build.mill,ivy.xml,ivysettings.xml}',
      'project/*.{sbt,scala,properties}',
    ],
  },
  {
    what: '.NET',
    paths: [
      '*.{csproj,fsproj,vbproj,vcxproj,sqlproj,wapproj,esproj,shproj,proj,props,targets,user,sln,slnx,slnf,rsp}',
      '{global.json,*.runsettings,dotnet-tools.json,build.cake,*.fsx,*.csx}',
    ],
  },
  {
    what: 'Cargo',
    paths: ['cargo.toml', '.cargo/**', 'rust-toolchain{,.toml}'],
  },
  { what: 'Go', paths: ['{go.mod,go.work,go.env}'] },
  {
    what: 'Python',
    paths: [
      '{pyproject.toml,setup.py,setup.cfg,conftest.py,{,.}pytest.ini,tox.ini,{,.}pytest.toml,hatch.toml,pixi.toml,pipfile}',
      '{sitecustomize.py,usercustomize.py,environment.yml,environment.yaml,mypy.ini,{,.}pylintrc*}',
    ],
  },
  {
    what: 'container',
    paths: [
      '{dockerfile,containerfile}{,.*}',
      '*.{dockerfile,containerfile}',
      '{,*-,*.}compose{,.*,-*}.{yml,yaml}',
      'docker-bake*.{hcl,json}',
    ],
  },
  {
    what: 'variables that decide for Docker, Node.js and the like',
    counts: 'variables',
    secret: true,
    paths: ['.env', '.env.*'],
  },
  {
    what: 'which programs are taken',
    paths: [
      '{.envrc,.tool-versions,.*-version,.shadowenv.d/**}',
      '{,.}mise{,.*}.toml',
      '{.rtx.toml,.mise/**,.config/mise/**,mise/{config.toml,config.*.toml,tasks/**,conf.d/**}}',
    ],
  },
  {
    what: 'hook of git',
    paths: [
      '{.husky,.githooks,.git-hooks,.lefthook,.lefthook-local,.overcommit,.cargo-husky}/**',
      `{husky.config,simple-git-hooks,.simple-git-hooks}.${script}`,
      '{husky.config.*,simple-git-hooks.*,.simple-git-hooks.*,.rusty-hook.toml,captainhook.json,hk.pkl,prek.toml}',
      '{,.}{lefthook,lefthook-local}.{yml,yaml,json,jsonc,toml}',
      '{.pre-commit-config,.pre-commit-hooks,.overcommit}.{yml,yaml}',
    ],
  },
  {
    what: 'settings of git',
    counts: 'git',
    secret: true,
    paths: ['.gitconfig*', '{.lfsconfig,.gitmodules}'],
  },
];

/**
 * Endings of sources and of texts about them, for which a star at the end of a name does not stand: `makefile.ts` is no
 * makefile, and `pom.py` belongs to tests of web pages.
 */
export const sources =
  '{js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte,py,pyi,go,rs,java,kt,scala,c,h,cc,cpp,cxx,hpp,m,mm,cs,fs,rb,php,swift,dart,ex,exs,erl,hs,lua,pl,r,html,css,scss,md,mdx,rst,adoc,snap,map}';

/** What a star before a script's ending does not stand for either: `vite.test.ts` tests something, `jest.d.ts` has types. */
export const aboutSources = `*.{test,tests,spec,d,stories,story,bench,mock,fixture}.${script}`;

/** What git itself runs or reads in its folder, and in those of its submodules and work trees. */
export const gitHook: Runs = { what: 'hook of git', paths: ['hooks/**'] };
export const gitSettings: Runs = {
  what: 'settings of git',
  paths: ['config', 'config.worktree'],
  counts: 'git',
  secret: true,
};

/** Folders with a repository's data and history in them, which name nothing that runs. */
export const gitData = '{objects,refs,logs,lfs,info,rr-cache,branches,fsmonitor--daemon}';

/**
 * Folders that are not looked into: what is in them was fetched or made, is replaced without anybody deciding it, and is
 * more than can be looked through with each call. An action that works in one of them is never in a trusted folder.
 */
export const leftOut: readonly string[] = [
  '{node_modules,bower_components,jspm_packages,vendor,pods,carthage,.pnpm-store,.eggs,*.egg-info}',
  '{target,build,dist,out,obj,_build,.build,cmake-build-*,deriveddata,dist-newstyle,.stack-work,zig-out,bazel-*}',
  '{.next,.nuxt,.output,.svelte-kit,.angular,.astro,.turbo,.parcel-cache,.vite,.nx,.serverless,.terraform,.dart_tool}',
  '{.venv,venv,.virtualenv,virtualenv,site-packages,__pycache__,.tox,.nox,.mypy_cache,.pytest_cache,.ruff_cache}',
  '{.hypothesis,.ipynb_checkpoints,.direnv,.cache,.gradle,zig-cache,.zig-cache,coverage,.nyc_output,htmlcov}',
  '{.svn,.hg,.jj,.sl,.bzr,.pijul,_darcs}',
];

/** Files by which a folder is known as one of these, whatever its name is. */
export const leftOutWith = '{pyvenv.cfg,cmakecache.txt}';
