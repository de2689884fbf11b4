import { version } from '../server/version.ts';
import { exitCodeOf, UsageError } from './usage.ts';

/** Subcommands but `serve`, which toolcrib.ts runs. Each file is loaded only when its command is used. */
const commands: Record<string, (args: string[]) => Promise<number>> = {
  chat: (args) => import('./chat.ts').then((m) => m.chatCommand(args)),
  call: (args) => import('./call.ts').then((m) => m.callCommand(args)),
  list: (args) => import('./list.ts').then((m) => m.list(args)),
  exposure: (args) => import('./exposure.ts').then((m) => m.exposure(args)),
  config: (args) => import('./config-host.ts').then((m) => m.configCommand(args)),
  doctor: (args) => import('./doctor.ts').then((m) => m.doctor(args)),
  try: (args) => import('./try.ts').then((m) => m.tryCommand(args)),
  trust: (args) => import('./trust.ts').then((m) => m.trustCommand(args)),
  audit: (args) => import('./audit.ts').then((m) => m.auditCommand(args)),
};

export const help = `toolcrib ${version} - the development tools of this machine, for a model

  toolcrib serve [options]          MCP server on standard input and output: what a host starts; serve --help: over HTTP
  toolcrib list [--json] [--all]    programs that were found; --all: the missing ones too, and why
  toolcrib exposure [options]       which tools a host is shown in this folder, and why
  toolcrib config HOST [--write]    the entry for a host: claude-code, cursor, codex, …; --remove, --scope project
  toolcrib doctor [program]         how programs are looked for, and what is wrong
  toolcrib call TOOL [key=value…]   one call, through a real client; lists: key=a key=b; or --json ARGS
  toolcrib call [TOOL --help]       the tools there are, or the parameters of one
  toolcrib try                      find, call and show, as a host would; ends with the entry to paste
  toolcrib trust [FOLDER] [--yes]   whether a model may run a folder's own code unasked
  toolcrib trust --list | --revoke [FOLDER]    what is trusted; not any more. --json for programs
  toolcrib audit [--follow] [-n N]  the calls that were made; --tool 'git_*', --denied: only such. --json for programs
  toolcrib chat [prompt]            a model in the terminal, with these tools; chat --help has its options

Options of serve, call and try:
  --root DIR          a folder the model may use; repeat it for more (call and try: the current one)
  --read-only         only what changes nothing
  --toolsets A,B      only the tools of these programs; "files" and "toolcrib" are our own
  --rule 'WHAT=DO'    allow, ask or deny: 'git_push=ask', 'run(npm test *)=allow', 'read(**/.env)=deny'
  --questions WHO     who asks a person: server (through the client), host (its own question), none (nobody is there)
  --expose WHAT       auto: tools that suit the project (usual); all; catalogue: those of programs by find_actions only
  --no-checkpoints    keep no states of git work trees before actions that can change them

  toolcrib --version | --help
`;

/** Runs one command line; returns the exit code. 2 is a wrong command line, 1 a failure. */
export async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-v') return print(`${version}\n`);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return print(help);
  const ofTool = name === 'call' && rest[0]?.startsWith('-') === false;
  if (!ofTool && (rest.includes('--help') || rest.includes('-h'))) return print(await helpFor(name));
  const command = commands[name];
  // Whoever read our output has left (`toolcrib list | head`): nobody is there to be told.
  process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 74));
  return exitCodeOf(async () => {
    if (!command) throw await unknownCommand(name);
    return command(rest);
  });
}

async function helpFor(command: string): Promise<string> {
  if (command === 'chat') return (await import('./chat-help.ts')).chatHelp;
  if (command === 'serve') return (await import('./serve-help.ts')).serveHelp;
  return help;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

async function unknownCommand(name: string): Promise<UsageError> {
  const { nearest } = await import('../core/nearest.ts');
  const best = nearest(name, ['serve', ...Object.keys(commands)]);
  return new UsageError(
    `there is no command "${name}"${best ? `; did you mean ${best}?` : ''} toolcrib --help lists them.`,
  );
}
