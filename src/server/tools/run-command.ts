import * as z from 'zod';
import { printable } from '../../core/argv.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { AnyDiscoverer } from '../../core/discoverer.ts';
import { text } from '../../core/params.ts';
import { defineTool, type CallContext, type PermitRequest, type Tool } from '../../core/tool.ts';
import { discoverers } from '../../discoverers/index.ts';
import { namedProgram, type NamedProgram } from '../../machine/programs/named-program.ts';
import { runPermitted, type Permitted } from '../../machine/actions/run-permitted.ts';
import { asStarted } from '../../machine/processes/windows-command.ts';
import type { OwnServices } from '../own-tools.ts';

const params = z.strictObject({
  program: z
    .string()
    .min(1)
    .max(4096)
    .describe('Name of an installed program, or path of one inside the folders that are open'),
  args: z.array(z.string()).max(1000).default([]).describe('Its arguments, each as it is: there is no shell'),
  cwd: z.string().min(1).optional(),
  input: text('What it reads on standard input').optional(),
});

/** Of a longer command line something may be left out where it is shown. */
const longestPlain = 1000;

type Given = z.output<typeof params>;

/** Runs any program, with arguments and never by way of a shell; a person is asked each time, unless a rule decides. */
export const runCommand = (services: OwnServices): Tool =>
  defineTool({
    name: 'run_command',
    program: 'toolcrib',
    title: 'Run a program',
    description: 'Runs any program without a shell; the person is asked. Prefer the tool made for it.',
    // It is not known what it does.
    effects: ['write', 'execute', 'network', 'destroy'],
    permits: true,
    params,
    async call(given, context) {
      const { workspace } = context;
      refuseNul(given);
      const folder =
        given.cwd === undefined
          ? workspace.home
          : await workspace.resolve(given.cwd, { kind: 'folder', mustExist: true });
      const env = services.environment(await inheritedBy(given.program), {});
      return runPermitted(() => decided(given, { folder, env }, services, context), context, services);
    },
  });

/** The program as it is now, which may be run. Throws what namedProgram() and `permit` throw. */
async function decided(
  given: Given,
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
  { host, discovery }: OwnServices,
  { workspace, permit }: CallContext,
): Promise<Permitted> {
  const { path } = await discovery();
  const found = await namedProgram(given.program, { folder, workspace, host, path });
  const { program, digest, leading } = found;
  const argv = [...leading, ...given.args];
  // Throws for what a Windows batch file would read a second time: nobody is asked about what cannot be run.
  asStarted(program, argv, host.platform);
  const command = commandLine(found, given);
  await permit({
    asks: 'command',
    effects: ['write', 'execute', 'network', 'destroy'],
    folder,
    command,
    shows: shownOf(found, given),
    always: {
      key: JSON.stringify([program, digest, argv, folder, given.input]),
      says: 'this very command in this folder',
    },
  });
  return { program, argv, folder, env, command, input: given.input };
}

/** Throws ARG_INVALID for what no program could be given. */
function refuseNul({ program, args }: Given): void {
  const found = [program, ...args].findIndex((value) => value.includes('\0'));
  if (found < 0) return;
  const name = found === 0 ? 'program' : `args[${found - 1}]`;
  throw new ToolcribError('ARG_INVALID', `${name}: contains a NUL character.`, 'Leave it out.');
}

/** As a person would type it, so that rules can be about it: what the project has in it by its whole path. */
function commandLine({ program, digest }: NamedProgram, given: Given): string {
  const line = printable([digest === undefined ? given.program : program, ...given.args]);
  return given.input === undefined ? line : `${line} < (input)`;
}

/** The variables that one of the known programs needs to work as it does elsewhere: DOCKER_HOST, JAVA_HOME. */
async function inheritedBy(program: string): Promise<readonly string[]> {
  if (!Object.hasOwn(discoverers, program)) return [];
  const known: AnyDiscoverer = (await discoverers[program as keyof typeof discoverers]()) as AnyDiscoverer;
  return known.environment ?? [];
}

/** The program that was found, and what the command line alone would not tell. */
function shownOf(
  { program, leading }: NamedProgram,
  { args, input }: Given,
): NonNullable<PermitRequest['shows']> {
  // An argument that is quoted can look like two, and one with several lines like several.
  const isPlain = args.join('').length < longestPlain && args.every((arg) => printable([arg]) === arg);
  return [
    { title: 'Program', text: [program, ...leading].join(' '), whole: true },
    ...(isPlain
      ? []
      : [{ title: 'Arguments, one a line', text: args.map((arg) => JSON.stringify(arg)).join('\n') }]),
    ...args.flatMap((arg, index) =>
      arg.includes('\n') ? [{ title: `Argument ${index + 1}, with its lines`, text: arg }] : [],
    ),
    ...(input === undefined ? [] : [{ title: 'Input', text: input, whole: true }]),
  ];
}
