import { pathsOf, type Host } from '../host.ts';
import type { SearchPath } from './installation.ts';

/** Variables that programs need to work normally, none of which chooses code to run. */
const inherited = [
  /^(?:HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.+|TZ|TMPDIR|XDG_.+)$/,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS)$/,
];
const proxies = /^(?:HTTP_PROXY|HTTPS_PROXY|NO_PROXY|ALL_PROXY|http_proxy|https_proxy|no_proxy|all_proxy)$/;

/** The same for Windows, in capitals because the case of a variable's name does not matter there. */
const inheritedOnWindows = [
  /^(?:USERPROFILE|USERNAME|USERDOMAIN|HOMEDRIVE|HOMEPATH|PUBLIC|TEMP|TMP|(?:LOCAL)?APPDATA)$/,
  /^(?:COMMON)?PROGRAM(?:DATA|FILES.*|W6432)$/,
  /^(?:SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|OS|COMPUTERNAME)$/,
  /^(?:NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE)$/,
];

/**
 * Settings that keep programs from asking questions, paging, colouring and advertising, because nobody sits
 * at the terminal. None of them agrees to destroy something: a program that asks before it does should fail.
 * Settings that a program works out by itself from the missing terminal are left out.
 */
const answers: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  // A program that insists on an editor ends at once, with the text unchanged.
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_MERGE_AUTOEDIT: 'no',
  BROWSER: 'none',
  // Without the variable, a program would try the default display.
  WAYLAND_DISPLAY: '',
  // The empty value means no program, and overrides core.askPass.
  GIT_ASKPASS: '',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  GCM_GUI_PROMPT: 'false',
  SSH_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  SUDO_ASKPASS: '',
  DEBIAN_FRONTEND: 'noninteractive',
  NONINTERACTIVE: '1',
  TF_INPUT: '0',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  HOMEBREW_NO_AUTO_UPDATE: '1',
  npm_config_yes: 'true',
  npm_config_browser: 'false',
  npm_config_update_notifier: 'false',
  npm_config_fund: 'false',
  NO_UPDATE_NOTIFIER: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
  CHECKPOINT_DISABLE: '1',
  DOTNET_NOLOGO: '1',
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  HGPLAIN: '1',
};

/** The environment without these answers, for a program that opens a window in which a person works. */
export const withoutAnswers = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name, value]) => answers[name] !== value));

/**
 * The whole environment of a child: the inherited variables, those that its discoverer names, the search
 * path, the answers above, and the discoverer's own settings, which win.
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

/**
 * The variables of our own environment that a child inherits: those of the lists above, and `names`. A test
 * over all discoverers checks that none of these makes a program run code.
 */
export function inheritedEnvironment(host: Host, names: readonly string[] = []): Record<string, string> {
  const isWindows = host.platform === 'win32';
  const fold = (name: string) => (isWindows ? name.toUpperCase() : name);
  const patterns = [...inherited, proxies, ...(isWindows ? inheritedOnWindows : [])];
  const named = new Set(names.map(fold));
  const isAllowed = (name: string) => named.has(name) || patterns.some((pattern) => pattern.test(name));
  const passed = Object.entries(host.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isAllowed(fold(entry[0])),
  );
  // Without HOME some programs refuse to start, and a host may have started us without it.
  return { [isWindows ? 'USERPROFILE' : 'HOME']: host.home, ...Object.fromEntries(passed) };
}
