import { version } from '../machine/version.ts';
import { exitCodeOf, runCommand, UsageError } from './usage.ts';

/**
 * The subcommands except `serve` and `chat`, which toolcrib.ts runs. Each file is loaded only when its
 * command is used.
 */
const commands: Record<string, (args: string[]) => Promise<number>> = {
  call: (args) => import('./call.ts').then((m) => m.callCommand(args)),
  list: (args) => import('./list.ts').then((m) => m.list(args)),
  exposure: (args) => import('./exposure.ts').then((m) => m.exposure(args)),
  config: (args) => import('./config-host.ts').then((m) => m.configCommand(args)),
  doctor: (args) => import('./doctor.ts').then((m) => m.doctor(args)),
  try: (args) => import('./try.ts').then((m) => m.tryCommand(args)),
  trust: (args) => import('./trust.ts').then((m) => m.trustCommand(args)),
  audit: (args) => import('./audit.ts').then((m) => m.auditCommand(args)),
  completion: (args) => import('./completion.ts').then((m) => m.completionCommand(args)),
  // The command that the scripts of `completion` run.
  complete: (args) => import('./completion.ts').then((m) => m.completeCommand(args)),
};

/** Runs one command line; returns the exit code. 2 is a wrong command line, 1 a failure. */
export async function main(args: string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === '--version' || first === '-v' || first === 'version') return print(`${version}\n`);
  if (first === '--licenses') return print(await licenses());
  const isHelp = first === undefined || ['--help', '-h', 'help'].includes(first);
  const name = isHelp ? rest[0] : first;
  // `call TOOL --help` is answered by `call`.
  const isAboutTool = first === 'call' && rest[0]?.startsWith('-') === false;
  if (isHelp || (!isAboutTool && rest.some((arg) => arg === '--help' || arg === '-h')))
    return exitCodeOf(async () => print(await helpFor(name)));
  const command = commands[first];
  return runCommand(async () => {
    if (!command) throw await unknownCommand(first);
    return command(rest);
  });
}

async function helpFor(command: string | undefined): Promise<string> {
  const { help, pages } = await import('./help.ts');
  if (command === undefined) return help;
  if (Object.hasOwn(pages, command)) return pages[command] ?? help;
  throw await unknownCommand(command);
}

/**
 * The licences of toolcrib and of all that comes with it. The package contains them, and so does the
 * executable.
 */
async function licenses(): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), 'utf8');
  return `${await read('LICENSE')}\n${await read('THIRD-PARTY-LICENSES.md')}`;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

async function unknownCommand(name: string): Promise<UsageError> {
  const { nearest } = await import('../core/nearest.ts');
  const known = ['serve', 'chat', ...Object.keys(commands).filter((each) => each !== 'complete')];
  const best = nearest(name, known);
  return new UsageError(
    `there is no command "${name}"${best ? `; did you mean ${best}?` : '.'} toolcrib --help lists them.`,
  );
}
