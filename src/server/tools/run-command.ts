import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import * as z from 'zod';
import { printable } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';
import { text } from '../../core/params.ts';
import { defineTool, type Lasting, type Plan, type PlanContext, type Tool } from '../../core/tool.ts';
import type { Answers } from '../../machine/actions/action-result.ts';
import { runProgram, type PreparedProgram } from '../../machine/actions/run-program.ts';
import { isInside } from '../../machine/paths/inside.ts';
import { asStarted } from '../../machine/processes/windows-command.ts';
import { namedProgram, type NamedProgram } from '../../machine/programs/named-program.ts';
import { projectFolders } from '../../machine/programs/project-folders.ts';
import type { Manifest } from '../published.ts';
import type { OwnServices } from '../own-tools.ts';

/** Of any program it is known only that it succeeds with 0, and prints text. */
export const anyProgram: Answers = {};

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
    effects: ['write', 'execute', 'network', 'publish', 'destroy'],
    params,
    plan: (given, context) => planCommand(given, services, context),
    run: ({ work }, context) => runProgram(work, anyProgram, context, services),
  });

async function planCommand(
  given: Given,
  { host, discovery, environment, checkpoint, catalogue }: OwnServices,
  { workspace }: PlanContext,
): Promise<Plan<PreparedProgram>> {
  refuseNul(given);
  const { args, input } = given;
  const folder =
    given.cwd === undefined
      ? workspace.home
      : await workspace.resolve(given.cwd, { kind: 'folder', mustExist: true });
  const { path } = await discovery();
  const found = await namedProgram(given.program, { folder, workspace, host, path });
  const { program, digest, leading } = found;
  const argv = [...leading, ...args];
  // Throws for what a Windows batch file would read a second time: nobody is asked about what cannot be run.
  asStarted(program, argv, host.platform);
  const env = environment(inheritedBy(given.program, catalogue.manifest), {});
  const project = await projectFolders(workspace.roots);
  const line = commandLine(found, given);
  const { inside, leadsOut } = placesIn(args, folder, workspace.roots);
  // What lies outside of the roots nobody could trust, so that is read each time.
  const lasting = input === undefined && !leadsOut ? prefixOf(program, args) : undefined;
  return {
    effects: ['write', 'execute', 'network', 'publish', 'destroy'],
    // Rules, and who is asked, are about all that it is given.
    subject: input === undefined ? line : `${line} < ${printable([input])}`,
    folder,
    touches: [...(digest === undefined ? [] : [program]), ...inside],
    asks: 'program',
    trust: 'runs a program in this folder',
    ...(lasting && { lasting }),
    preview: previewOf(found, given),
    takenBack: false,
    exactly: JSON.stringify([program, digest, argv, folder, input]),
    work: {
      program,
      argv,
      folder,
      env: { ...env, PATH: project.pathWithout(env['PATH'] ?? '') },
      command: input === undefined ? line : `${line} < (input)`,
      input,
      notes: [],
      keeps: checkpoint ? 'first' : 'no',
      lasts: true,
    },
  };
}

/** Programs that run what they are given: an answer about one of their command lines says nothing about the next. */
const interpreters: ReadonlySet<string> = new Set(
  [
    'cmd powershell pwsh node nodejs deno bun tsx py perl ruby php lua r rscript julia osascript wsl env',
    'busybox toybox xargs find fd ssh sudo doas su nohup setsid chroot flock strace time timeout nice',
    'watch parallel entr tmux screen script expect awk gawk sed make gdb lldb',
  ].flatMap((line) => line.split(' ')),
);

function runsWhatItIsGiven(program: string): boolean {
  const name = basename(program)
    .toLowerCase()
    .replace(/\.exe$/, '');
  return interpreters.has(name) || /^(?:[a-z]*sh|python[\d.]*|pypy[\d.]*)$/.test(name);
}

/** Words after which the next one says what is really done: `npm run build`, `docker compose up`. */
const leadsOn: ReadonlySet<string> = new Set(['run', 'exec', 'x', 'dlx', 'compose', 'tool']);

/** The program and its first words, when "always" can be said about them. */
function prefixOf(program: string, args: readonly string[]): Lasting | undefined {
  if (runsWhatItIsGiven(program)) return undefined;
  // `poetry run python …` would be any code as well.
  const isWord = (arg: string) => /^@?[a-z][\w:.@/-]*$/i.test(arg) && !runsWhatItIsGiven(arg);
  const last = args.findIndex((arg) => !leadsOn.has(arg));
  const words = args.slice(0, last + 1);
  return last >= 0 && words.every(isWord) ? { kind: 'prefix', program, words } : undefined;
}

/** What arguments name in other folders or in this one, also behind an option: `--root=../other`, `-C/w/other`. */
function placesIn(args: readonly string[], folder: string, roots: readonly string[]) {
  const pieces = args
    .filter((arg) => !arg.includes('://'))
    .flatMap((arg) => [arg, ...arg.split(/[=:,\s]/), arg.replace(/^-\w/, '')])
    .filter((piece) => piece !== '')
    .map((piece) => resolve(folder, piece));
  const isOpen = (path: string) => roots.some((root) => isInside(path, root));
  const places = [...new Set(pieces)].filter((path) => !isInside(path, folder) || existsSync(path));
  return { inside: places.filter(isOpen), leadsOut: !places.every(isOpen) };
}

/** Throws ARG_INVALID for what no program could be given. */
function refuseNul({ program, args }: Given): void {
  const found = [program, ...args].findIndex((value) => value.includes('\0'));
  if (found < 0) return;
  const name = found === 0 ? 'program' : `args[${found - 1}]`;
  throw new ToolcribError('ARG_INVALID', `${name}: contains a NUL character.`, 'Leave it out.');
}

/** As a person would type it, so that rules can be about it: what the project has in it by its whole path. */
const commandLine = ({ program, digest }: NamedProgram, given: Given): string =>
  printable([digest === undefined ? given.program : program, ...given.args]);

/** The variables that one of the known programs needs to work as it does elsewhere: DOCKER_HOST, JAVA_HOME. */
const inheritedBy = (program: string, { programs }: Manifest): readonly string[] =>
  programs
    .filter(({ called }) => called.some((name) => name.split(' ')[0] === program))
    .flatMap(({ environment = [] }) => environment);

/** The program that was found, and what the command line alone would not tell. */
function previewOf({ program, leading }: NamedProgram, { args, input }: Given): string {
  // An argument that is quoted can look like two, and one with several lines like several.
  const isPlain = args.join('').length < longestPlain && args.every((arg) => printable([arg]) === arg);
  return [
    [program, ...leading].join(' '),
    ...(isPlain ? [] : args.map((arg) => JSON.stringify(arg))),
    ...(input === undefined ? [] : ['input:', input]),
  ].join('\n');
}
