import { pathsOf, type Host } from './host.ts';
import type { SearchPath } from './programs/installation.ts';

type Names = Readonly<Record<string, readonly string[]>>;

/** What every program needs to feel at home, and none of which chooses code to run. `*` stands for any ending. */
const inherited: Names = {
  person: ['HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'LC_*', 'TZ'],
  folders: ['TMPDIR', 'XDG_*'],
  proxies: ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'],
  proxiesOfUnix: ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  certificates: ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
};

const inheritedOnWindows: Names = {
  person: ['USERPROFILE', 'USERNAME', 'USERDOMAIN', 'HOMEDRIVE', 'HOMEPATH', 'PUBLIC'],
  system: ['SystemRoot', 'SystemDrive', 'WINDIR', 'ComSpec', 'PATHEXT', 'OS', 'COMPUTERNAME'],
  folders: [
    'TEMP',
    'TMP',
    'APPDATA',
    'LOCALAPPDATA',
    'ProgramData',
    'ProgramFiles*',
    'ProgramW6432',
    'CommonProgramFiles*',
  ],
  processor: ['NUMBER_OF_PROCESSORS', 'PROCESSOR_ARCHITECTURE'],
};

/** Variables that make a program run code: never inherited, not even when a discoverer names them. */
const runsCode: Names = {
  system: ['PATH', 'LD_*', 'DYLD_*'],
  shells: [
    'BASH_ENV',
    'ENV',
    'BASH_FUNC_*',
    'PROMPT_COMMAND',
    'SHELLOPTS',
    'BASHOPTS',
    'PS4',
    'IFS',
    'ZDOTDIR',
  ],
  node: [
    'NODE_OPTIONS',
    'NODE_PATH',
    'npm_config_node_options',
    'npm_config_script_shell',
    'npm_config_shell',
    'npm_config_git',
  ],
  python: [
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PYTHONHOME',
    'PYTHONBREAKPOINT',
    'PYTHONINSPECT',
    'PYTHONWARNINGS',
  ],
  perlAndRuby: ['PERL5OPT', 'PERL5LIB', 'PERL5DB', 'RUBYOPT', 'RUBYLIB'],
  java: ['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH'],
  dotnet: ['DOTNET_STARTUP_HOOKS', 'CORECLR_PROFILER*', 'COR_PROFILER*'],
  rust: ['RUSTC', 'RUSTC_WRAPPER', 'RUSTC_WORKSPACE_WRAPPER'],
  make: ['MAKEFLAGS', 'GNUMAKEFLAGS', 'MFLAGS', 'MAKEFILES'],
  git: [
    'GIT_SSH',
    'GIT_SSH_COMMAND',
    'GIT_EXTERNAL_DIFF',
    'GIT_PROXY_COMMAND',
    'GIT_ASKPASS',
    'GIT_CONFIG',
    'GIT_CONFIG_COUNT',
    'GIT_CONFIG_KEY_*',
    'GIT_CONFIG_VALUE_*',
    'GIT_CONFIG_PARAMETERS',
  ],
  gitPrograms: ['GIT_EDITOR', 'GIT_SEQUENCE_EDITOR', 'GIT_PAGER', 'GIT_EXEC_PATH', 'GIT_TEMPLATE_DIR'],
  people: [
    'EDITOR',
    'VISUAL',
    'PAGER',
    'MANPAGER',
    'LESSOPEN',
    'LESSCLOSE',
    'BROWSER',
    'SSH_ASKPASS',
    'SUDO_ASKPASS',
  ],
};

/**
 * Answers given in advance: nobody is there to be asked, to turn pages, to see colours, or to read advertisements. None
 * of them says yes to what a program asks before it destroys something: such a program is to fail (which is why
 * gcloud's and az's own switches are not here).
 */
const hygiene: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  terminal: { TERM: 'dumb', NO_COLOR: '1', CI: '1' },
  pagers: {
    PAGER: 'cat',
    MANPAGER: 'cat',
    GIT_PAGER: 'cat',
    GH_PAGER: 'cat',
    SYSTEMD_PAGER: 'cat',
    PSQL_PAGER: 'cat',
    BAT_PAGER: '',
    DELTA_PAGER: 'cat',
    AWS_PAGER: '',
  },
  editors: {
    // What takes no editor for an error still ends at once: the text is as it was.
    EDITOR: 'true',
    VISUAL: 'true',
    GIT_EDITOR: ':',
    GIT_SEQUENCE_EDITOR: ':',
    GIT_MERGE_AUTOEDIT: 'no',
  },
  dialogs: {
    BROWSER: 'none',
    // Left out, a program would try the usual display.
    WAYLAND_DISPLAY: '',
    // Empty stands for none, and takes the place of core.askPass.
    GIT_ASKPASS: '',
    GIT_TERMINAL_PROMPT: '0',
    GCM_INTERACTIVE: 'never',
    GCM_GUI_PROMPT: 'false',
    SSH_ASKPASS: '',
    SSH_ASKPASS_REQUIRE: 'never',
    SUDO_ASKPASS: '',
  },
  packages: {
    DEBIAN_FRONTEND: 'noninteractive',
    PIP_NO_INPUT: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    POETRY_NO_INTERACTION: '1',
    COMPOSER_NO_INTERACTION: '1',
    NONINTERACTIVE: '1',
    HOMEBREW_NO_AUTO_UPDATE: '1',
    HOMEBREW_NO_ENV_HINTS: '1',
    COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
    npm_config_yes: 'true',
    npm_config_browser: 'false',
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    NO_UPDATE_NOTIFIER: '1',
    NG_CLI_ANALYTICS: 'false',
  },
  services: {
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    TF_INPUT: '0',
    TF_IN_AUTOMATION: '1',
    CHECKPOINT_DISABLE: '1',
    ANSIBLE_ASK_PASS: 'false',
    ANSIBLE_BECOME_ASK_PASS: 'false',
    ANSIBLE_ASK_VAULT_PASS: 'false',
    AWS_CLI_AUTO_PROMPT: 'off',
    AZURE_EXTENSION_USE_DYNAMIC_INSTALL: 'no',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    DOCKER_CLI_HINTS: 'false',
    COMPOSE_MENU: 'false',
    DOTNET_NOLOGO: '1',
    DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  },
  mercurial: { HGPLAIN: '1' },
};

const answers: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(hygiene));

/**
 * The whole environment of a child: what every program gets, the variables its discoverer names, the search path,
 * answers to questions nobody is there to answer, and the discoverer's own settings, which win.
 */
export function childEnvironment(
  host: Host,
  path: SearchPath,
  names: readonly string[],
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...inheritedEnvironment(host, names),
    PATH: path.folders.map(({ folder }) => folder).join(pathsOf(host).delimiter),
    ...answers,
    // cmd.exe and CreateProcess would look in the working directory first.
    ...(host.platform === 'win32' && { NoDefaultCurrentDirectoryInExePath: '1' }),
    ...settings,
  };
}

/** The variables of our own environment that are passed on: an allowlist, `names`, and never one that runs code. */
export function inheritedEnvironment(host: Host, names: readonly string[] = []): Record<string, string> {
  const windows = host.platform === 'win32';
  const allowed = matcher(
    [...flat(inherited), ...(windows ? flat(inheritedOnWindows) : []), ...names],
    windows,
  );
  // In any case everywhere: npm, for one, reads its variables so on every platform.
  const refused = matcher(flat(runsCode), true);
  const passed = Object.entries(host.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && allowed(entry[0]) && !refused(entry[0]),
  );
  // Without HOME some programs refuse to start, and a host may have started us without it.
  return { [windows ? 'USERPROFILE' : 'HOME']: host.home, ...Object.fromEntries(passed) };
}

const flat = (names: Names): string[] => Object.values(names).flat();

/** Whether a variable is one of `patterns`, of which those that end with `*` are prefixes. */
function matcher(patterns: readonly string[], anyCase: boolean): (name: string) => boolean {
  const fold = (name: string) => (anyCase ? name.toUpperCase() : name);
  const exact = new Set(patterns.map(fold));
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith('*'))
    .map((pattern) => fold(pattern.slice(0, -1)));
  return (name) => exact.has(fold(name)) || prefixes.some((prefix) => fold(name).startsWith(prefix));
}
