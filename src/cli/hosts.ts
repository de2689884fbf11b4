import { win32 } from 'node:path';
import { variable, type Host } from '../machine/host.ts';
import type { Setting } from './host-file.ts';
import type { Launch } from './installation.ts';

/** The facts about a host, a program that starts MCP servers, that its configuration needs. */
export interface HostFacts {
  readonly title: string;
  /**
   * The user's configuration file. `~` is expanded, and so is `%CONFIG%`, the folder where desktop programs
   * of the system keep their settings.
   */
  readonly user: string;
  /** The user's file on Windows, where it is another one. */
  readonly onWindows?: string;
  /** The beginning of its package's name on Windows: in a package it reads another %CONFIG%. */
  readonly packaged?: string;
  /**
   * The file in a project. It is left out for hosts that tell no folders, as the file would have to name a
   * folder of this machine.
   */
  readonly project?: string;
  /** The keys that lead to the entries of servers. */
  readonly under: readonly string[];
  readonly entry: (start: Launch) => Readonly<Record<string, unknown>>;
  /** True where it cannot show our questions, and asks before each call. */
  readonly promptsUser?: true;
  /**
   * The settings that earlier versions wrote beside the entry, when they left the questions to hosts that may
   * not ask them.
   */
  readonly formerly?: readonly Setting[];
  /** True where it has no file tools of its own, so that ours are listed. */
  readonly needsFiles?: true;
  /** True where it tells no folders, and starts us in no particular one. */
  readonly needsRoots?: true;
  readonly afterwards: string;
}

/**
 * Fills in the facts that most hosts share: they have their entries under the same key, and read them when
 * they start.
 */
const host = (title: string, facts: Partial<HostFacts> & Pick<HostFacts, 'user'>): HostFacts => ({
  title,
  under: ['mcpServers'],
  entry: plain,
  afterwards: 'It is there in the next session.',
  ...facts,
});

const plain = ({ command, args }: Launch) => ({ command, args });
const typed = (start: Launch) => ({ type: 'stdio', ...plain(start) });
/** Seconds after which a host gives up a call, longer than a call takes before it becomes a job. */
const seconds = 120;
const patient = (start: Launch) => ({ ...plain(start), timeout: seconds * 1000, trust: false });

/** The hosts for which we write entries, by their names on the command line. */
export const hosts: Readonly<Record<string, HostFacts>> = {
  'claude-desktop': host('Claude Desktop', {
    user: '%CONFIG%/Claude/claude_desktop_config.json',
    packaged: 'Claude_',
    promptsUser: true,
    needsFiles: true,
    needsRoots: true,
    afterwards: 'Restart Claude Desktop.',
  }),
  'claude-code': host('Claude Code', { user: '~/.claude.json', project: '.mcp.json', entry: typed }),
  vscode: host('VS Code', {
    user: '%CONFIG%/Code/User/mcp.json',
    project: '.vscode/mcp.json',
    under: ['servers'],
    entry: typed,
    afterwards: 'Start it in the list of MCP servers: MCP: List Servers.',
  }),
  cursor: host('Cursor', {
    user: '~/.cursor/mcp.json',
    project: '.cursor/mcp.json',
    afterwards: 'Switch it on in Settings, MCP.',
  }),
  windsurf: host('Windsurf', {
    user: '~/.codeium/windsurf/mcp_config.json',
    needsRoots: true,
    afterwards: 'Refresh the list of MCP servers in Cascade.',
  }),
  zed: host('Zed', {
    user: '~/.config/zed/settings.json',
    onWindows: '%CONFIG%/Zed/settings.json',
    under: ['context_servers'],
    entry: (start) => ({ source: 'custom', ...plain(start) }),
    promptsUser: true,
    needsRoots: true,
    afterwards: 'It starts by itself; Agent Settings shows it.',
  }),
  codex: host('Codex', {
    user: '~/.codex/config.toml',
    project: '.codex/config.toml',
    under: ['mcp_servers'],
    // Codex does not wait for a server that is not required.
    entry: (start) => ({
      ...plain(start),
      required: true,
      startup_timeout_sec: 20,
      tool_timeout_sec: seconds,
    }),
  }),
  gemini: host('Gemini CLI', {
    user: '~/.gemini/settings.json',
    project: '.gemini/settings.json',
    entry: patient,
    formerly: [],
  }),
  opencode: host('opencode', {
    user: '~/.config/opencode/opencode.json',
    project: 'opencode.json',
    under: ['mcp'],
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
    formerly: [{ under: ['permission', 'toolcrib_*'], value: 'ask' }],
  }),
  copilot: host('Copilot CLI', {
    user: '~/.copilot/mcp-config.json',
    entry: (start) => ({ type: 'local', ...plain(start), tools: ['*'], deferTools: 'never' }),
  }),
  qwen: host('Qwen Code', {
    user: '~/.qwen/settings.json',
    project: '.qwen/settings.json',
    entry: patient,
    formerly: [],
  }),
  goose: host('Goose', {
    user: '~/.config/goose/config.yaml',
    onWindows: '%CONFIG%/Block/goose/config/config.yaml',
    under: ['extensions'],
    entry: ({ command, args }) => ({
      name: 'toolcrib',
      type: 'stdio',
      enabled: true,
      cmd: command,
      args,
      timeout: seconds,
    }),
    needsRoots: true,
  }),
  jetbrains: host('JetBrains Junie', {
    user: '~/.junie/mcp/mcp.json',
    needsRoots: true,
    afterwards: 'AI Assistant takes the same: Settings, Tools, AI Assistant, MCP, As JSON.',
  }),
  lmstudio: host('LM Studio', {
    user: '~/.lmstudio/mcp.json',
    promptsUser: true,
    needsFiles: true,
    needsRoots: true,
    afterwards: 'It is there at once.',
  }),
};

/** The path of the user's file of a host on this system. */
export async function userFile(facts: HostFacts, host: Host): Promise<string> {
  const { user, onWindows = user } = facts;
  const { platform, home } = host;
  if (platform !== 'win32') {
    const config = platform === 'darwin' ? '~/Library/Application Support' : '~/.config';
    return user.replace('%CONFIG%', config).replace(/^~/, () => home);
  }
  const usual = variable(host, 'APPDATA') ?? win32.join(home, 'AppData', 'Roaming');
  const roaming = (await packagedRoaming(facts, host)) ?? usual;
  return win32.normalize(onWindows.replace('%CONFIG%', () => roaming).replace(/^~/, () => home));
}

/**
 * The folder in which Windows keeps what a packaged program puts into %APPDATA%; undefined when there is
 * none.
 */
async function packagedRoaming({ packaged }: HostFacts, host: Host): Promise<string | undefined> {
  if (packaged === undefined) return undefined;
  const local = variable(host, 'LOCALAPPDATA') ?? win32.join(host.home, 'AppData', 'Local');
  const packages = win32.join(local, 'Packages');
  for (const name of (await host.list(packages)).toSorted()) {
    if (!name.startsWith(packaged)) continue;
    const roaming = win32.join(packages, name, 'LocalCache', 'Roaming');
    if ((await host.stat(win32.join(roaming, packaged.replace(/_$/, ''))))?.isFolder) return roaming;
  }
  return undefined;
}
