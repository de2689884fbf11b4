import { win32 } from 'node:path';
import { variable, type Host } from '../machine/host.ts';
import type { Setting } from './host-file.ts';

/** What a host starts. */
export interface HostStart {
  readonly command: string;
  readonly args: readonly string[];
}

/** A program that starts MCP servers, as far as its configuration goes. */
export interface HostFacts {
  readonly title: string;
  /**
   * Its file: the person's, and one in a project. `~` is expanded, and `%CONFIG%`: where desktop programs of
   * the system keep theirs.
   */
  readonly user: string;
  /** Where that is something else on Windows. */
  readonly onWindows?: string;
  /** The beginning of its package's name on Windows: in a package it reads another %CONFIG%. */
  readonly packaged?: string;
  /** None where it tells no folders: then a project's file would have to name one of this machine. */
  readonly project?: string;
  /** The keys that lead to the entries. */
  readonly under: readonly string[];
  readonly entry: (start: HostStart) => Readonly<Record<string, unknown>>;
  /** It cannot show our questions, and asks before each call. */
  readonly promptsUser?: true;
  /** Earlier versions left the questions to it, which it may not ask; what they wrote beside the entry. */
  readonly formerly?: readonly Setting[];
  /** It has no file tools of its own, so that ours are listed. */
  readonly needsFiles?: true;
  /** It tells no folders, and starts us nowhere in particular. */
  readonly needsRoots?: true;
  readonly afterwards: string;
}

/** Most have their entries under the same key, and read them when they start. */
const host = (title: string, facts: Partial<HostFacts> & Pick<HostFacts, 'user'>): HostFacts => ({
  title,
  under: ['mcpServers'],
  entry: plain,
  afterwards: 'It is there in the next session.',
  ...facts,
});

const plain = ({ command, args }: HostStart) => ({ command, args });
const typed = (start: HostStart) => ({ type: 'stdio', ...plain(start) });
/** Longer than a call takes before it becomes a job. */
const seconds = 120;
const patient = (start: HostStart) => ({ ...plain(start), timeout: seconds * 1000, trust: false });

/** The hosts we write entries for, by the name that people give them on the command line. */
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
    // It does not wait for a server that is not required.
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

/** Where the person's own file of a host is on this system. */
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

/** Where Windows keeps what a packaged program puts into %APPDATA%; undefined when there is none such. */
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
