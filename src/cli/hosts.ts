import { posix, win32 } from 'node:path';

/** What a host starts. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
}

/** A program that starts MCP servers, as far as its configuration goes. */
export interface HostFacts {
  readonly title: string;
  /** Its file: the person's, and one in a project. `~`, and `%APPDATA%` and its equals, are expanded. */
  readonly user: string | Readonly<Partial<Record<string, string>>>;
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

const plain = ({ command, args }: Start) => ({ command, args });
const typed = (start: Start) => ({ type: 'stdio', ...plain(start) });
/** Longer than a call takes before it becomes a job. */
const seconds = 120;
const patient = (start: Start) => ({ ...plain(start), timeout: seconds * 1000, trust: false });
const restart = (title: string) => `Restart ${title}.`;
const reload = 'It is there in the next session.';

/** The hosts we write entries for, by the name that people give them on the command line. */
export const hosts: Readonly<Record<string, HostFacts>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    user: {
      darwin: '~/Library/Application Support/Claude/claude_desktop_config.json',
      win32: '%APPDATA%/Claude/claude_desktop_config.json',
      linux: '~/.config/Claude/claude_desktop_config.json',
    },
    under: ['mcpServers'],
    entry: plain,
    asks: 'by itself',
    needsFiles: true,
    needsRoots: true,
    afterwards: restart('Claude Desktop'),
  },
  'claude-code': {
    title: 'Claude Code',
    user: '~/.claude.json',
    project: '.mcp.json',
    under: ['mcpServers'],
    entry: typed,
    afterwards: reload,
  },
  vscode: {
    title: 'VS Code',
    user: {
      darwin: '~/Library/Application Support/Code/User/mcp.json',
      win32: '%APPDATA%/Code/User/mcp.json',
      linux: '~/.config/Code/User/mcp.json',
    },
    project: '.vscode/mcp.json',
    under: ['servers'],
    entry: typed,
    afterwards: 'Start it in the list of MCP servers: MCP: List Servers.',
  },
  cursor: {
    title: 'Cursor',
    user: '~/.cursor/mcp.json',
    project: '.cursor/mcp.json',
    under: ['mcpServers'],
    entry: plain,
    afterwards: 'Switch it on in Settings, MCP.',
  },
  windsurf: {
    title: 'Windsurf',
    user: '~/.codeium/windsurf/mcp_config.json',
    under: ['mcpServers'],
    entry: plain,
    needsRoots: true,
    afterwards: 'Refresh the list of MCP servers in Cascade.',
  },
  zed: {
    title: 'Zed',
    user: { win32: '%APPDATA%/Zed/settings.json', other: '~/.config/zed/settings.json' },
    project: '.zed/settings.json',
    under: ['context_servers'],
    entry: (start) => ({ source: 'custom', ...plain(start) }),
    asks: 'by itself',
    needsRoots: true,
    afterwards: 'It starts by itself; Agent Settings shows it.',
  },
  codex: {
    title: 'Codex',
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
    afterwards: reload,
  },
  gemini: {
    title: 'Gemini CLI',
    user: '~/.gemini/settings.json',
    project: '.gemini/settings.json',
    under: ['mcpServers'],
    entry: patient,
    asks: 'by itself',
    afterwards: reload,
  },
  opencode: {
    title: 'opencode',
    user: '~/.config/opencode/opencode.json',
    project: 'opencode.json',
    under: ['mcp'],
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
    // It may allow everything otherwise.
    asks: { under: ['permission', 'toolcrib_*'], value: 'ask' },
    afterwards: reload,
  },
  copilot: {
    title: 'Copilot CLI',
    user: '~/.copilot/mcp-config.json',
    under: ['mcpServers'],
    entry: (start) => ({ type: 'local', ...plain(start), tools: ['*'], deferTools: 'never' }),
    afterwards: reload,
  },
  qwen: {
    title: 'Qwen Code',
    user: '~/.qwen/settings.json',
    project: '.qwen/settings.json',
    under: ['mcpServers'],
    entry: patient,
    asks: 'by itself',
    afterwards: reload,
  },
  goose: {
    title: 'Goose',
    user: { win32: '%APPDATA%/Block/goose/config/config.yaml', other: '~/.config/goose/config.yaml' },
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
    afterwards: reload,
  },
  jetbrains: {
    title: 'JetBrains Junie',
    user: '~/.junie/mcp/mcp.json',
    project: '.junie/mcp/mcp.json',
    under: ['mcpServers'],
    entry: plain,
    needsRoots: true,
    afterwards: 'AI Assistant takes the same: Settings, Tools, AI Assistant, MCP, As JSON.',
  },
  lmstudio: {
    title: 'LM Studio',
    user: '~/.lmstudio/mcp.json',
    under: ['mcpServers'],
    entry: plain,
    asks: 'by itself',
    needsFiles: true,
    needsRoots: true,
    afterwards: 'It is there at once.',
  },
};

/** Where the person's own file of a host is on this system. */
export function userFile(
  { user }: HostFacts,
  {
    platform,
    env,
    home,
  }: { platform: string; env: Readonly<Record<string, string | undefined>>; home: string },
): string {
  const template = typeof user === 'string' ? user : (user[platform] ?? user['other'] ?? user['linux'] ?? '');
  const path = platform === 'win32' ? win32 : posix;
  const roaming = env['APPDATA'] ?? path.join(home, 'AppData', 'Roaming');
  const expanded = template
    .replace(/^~\//, () => `${home}${path.sep}`)
    .replace(/^%APPDATA%\//, () => `${roaming}${path.sep}`);
  return path.normalize(expanded);
}
