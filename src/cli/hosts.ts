import { win32 } from 'node:path';
import type { Host } from '../machine/host.ts';

/** What a host starts. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
}

/** A program that starts MCP servers, as far as its configuration goes. */
export interface HostFacts {
  readonly title: string;
  /**
   * Its file: the person's, and one in a project. `~` is expanded, and `%CONFIG%`: where desktop programs of the system
   * keep theirs.
   */
  readonly user: string;
  /** Where that is something else on Windows. */
  readonly onWindows?: string;
  readonly project?: string;
  /** The keys that lead to the entries. */
  readonly under: readonly string[];
  readonly entry: (start: Start) => Readonly<Record<string, unknown>>;
  /** It cannot show our questions, and asks by itself; what it has to be told for that. */
  readonly asks?: { readonly under: readonly string[]; readonly value: unknown } | 'by itself';
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

const plain = ({ command, args }: Start) => ({ command, args });
const typed = (start: Start) => ({ type: 'stdio', ...plain(start) });
/** Longer than a call takes before it becomes a job. */
const seconds = 120;
const patient = (start: Start) => ({ ...plain(start), timeout: seconds * 1000, trust: false });
/** The hosts we write entries for, by the name that people give them on the command line. */
export const hosts: Readonly<Record<string, HostFacts>> = {
  'claude-desktop': host('Claude Desktop', {
    user: '%CONFIG%/Claude/claude_desktop_config.json',
    asks: 'by itself',
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
    project: '.zed/settings.json',
    under: ['context_servers'],
    entry: (start) => ({ source: 'custom', ...plain(start) }),
    asks: 'by itself',
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
    asks: 'by itself',
  }),
  opencode: host('opencode', {
    user: '~/.config/opencode/opencode.json',
    project: 'opencode.json',
    under: ['mcp'],
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
    // It may allow everything otherwise.
    asks: { under: ['permission', 'toolcrib_*'], value: 'ask' },
  }),
  copilot: host('Copilot CLI', {
    user: '~/.copilot/mcp-config.json',
    entry: (start) => ({ type: 'local', ...plain(start), tools: ['*'], deferTools: 'never' }),
  }),
  qwen: host('Qwen Code', {
    user: '~/.qwen/settings.json',
    project: '.qwen/settings.json',
    entry: patient,
    asks: 'by itself',
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
    project: '.junie/mcp/mcp.json',
    needsRoots: true,
    afterwards: 'AI Assistant takes the same: Settings, Tools, AI Assistant, MCP, As JSON.',
  }),
  lmstudio: host('LM Studio', {
    user: '~/.lmstudio/mcp.json',
    asks: 'by itself',
    needsFiles: true,
    needsRoots: true,
    afterwards: 'It is there at once.',
  }),
};

/** Where the person's own file of a host is on this system. */
export function userFile(
  { user, onWindows = user }: HostFacts,
  { platform, env, home }: Pick<Host, 'platform' | 'env' | 'home'>,
): string {
  if (platform !== 'win32') {
    const config = platform === 'darwin' ? '~/Library/Application Support' : '~/.config';
    return user.replace('%CONFIG%', config).replace(/^~/, () => home);
  }
  const roaming = env['APPDATA'] ?? win32.join(home, 'AppData', 'Roaming');
  return win32.normalize(onWindows.replace('%CONFIG%', () => roaming).replace(/^~/, () => home));
}
