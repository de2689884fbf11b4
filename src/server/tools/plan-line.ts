import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { printable } from '../../core/command-line.ts';
import { deniedGlobs } from '../../core/rule.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Plan, PlanContext } from '../../core/tool.ts';
import { isInside } from '../../machine/paths/inside.ts';
import type { Stage } from '../../machine/processes/pipe.ts';
import { asStarted } from '../../machine/processes/child.ts';
import { namedProgram, type NamedProgram } from '../../machine/programs/named-program.ts';
import { projectFolders } from '../../machine/programs/project-folders.ts';
import type { OwnServices } from '../own-tools.ts';
import type { Manifest } from '../published.ts';
import { isEveryday } from './everyday.ts';
import { prefixOf } from './lasting-prefix.ts';
import { onlyLooks } from './looking.ts';
import { parseLine, printProgram, type LineProgram, type ParsedLine } from './parse-line.ts';

/** What is to be run, as it was given. */
export interface GivenLine {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly input?: string | undefined;
}

/** A line of which all programs were found. */
export interface PreparedLine {
  readonly folder: string;
  /** As a person would type it. */
  readonly command: string;
  /** Pipes, one after another until one fails; `line`: a program as a person would type it. */
  readonly pipes: readonly (readonly (Stage & { readonly line: string })[])[];
  /** No program of it can change anything. */
  readonly looks: boolean;
}

/** One program of it. */
interface Prepared {
  readonly stage: PreparedLine['pipes'][number][number];
  readonly found: NamedProgram;
  readonly of: LineProgram;
  readonly bare: string;
  /** It shows what is in the roots, or what it is given, and does no more. */
  readonly looks: boolean;
  /** It needs no more than trust in the folder. */
  readonly isEveryday: boolean;
  /** What it names inside the roots, and itself where it lies there. */
  readonly touches: readonly string[];
  readonly leadsOut: boolean;
}

/** Of a longer command line something may be left out where it is shown. */
const longestPlain = 1000;

/** A variable that could lead elsewhere, or be run, is read by a person. */
const plainValue = /^[\w.,:=@%+-]*$/;

/** What a line would run; nothing is started. Throws ARG_INVALID, PROGRAM_NOT_FOUND, and what the gate throws. */
export async function planLine(
  given: GivenLine,
  services: OwnServices,
  { workspace, rules }: Pick<PlanContext, 'workspace' | 'rules'>,
): Promise<Plan<PreparedLine>> {
  const { input, cwd } = given;
  const parsed = parsedFrom(given);
  const options = { kind: 'folder', mustExist: true } as const;
  const start = cwd === undefined ? workspace.home : await workspace.resolve(cwd, options);
  const folder =
    parsed.folder === undefined ? start : await workspace.resolve(parsed.folder, { ...options, from: start });
  const isFree = deniedGlobs(rules).length === 0;
  const prepare = await preparer(folder, services, { workspace, isFree });
  const pipes: Prepared[][] = [];
  for (const pipe of parsed.pipes)
    pipes.push(
      await Promise.all(
        pipe.map((of, at) => prepare(of, at + pipes.length === 0 ? input : undefined, pipes.length > 0)),
      ),
    );
  const all = pipes.flat();
  const command = pipes
    .map((pipe) => pipe.map(({ stage, of }) => stage.line + (of.joinsErrors ? ' 2>&1' : '')).join(' | '))
    .join(' && ');
  const preview = [...all.flatMap(previewOf), ...(input === undefined ? [] : ['input:', input])].join('\n');
  const looks = all.every((one) => one.looks);
  const whole: Plan<PreparedLine> = {
    effects: [...new Set(all.flatMap(effectsOf))],
    subject: command,
    folder,
    touches: all.flatMap(({ touches }) => touches),
    ...(!looks && { trust: 'runs a program in this folder' }),
    preview,
    takenBack: false,
    exactly: JSON.stringify([folder, input, pipes.map((pipe) => pipe.map(({ found, of }) => [found, of]))]),
    work: { folder, command, pipes: pipes.map((pipe) => pipe.map(({ stage }) => stage)), looks },
  };
  return { ...whole, parts: all.flatMap((one) => partsOf(one, whole, input === undefined)) };
}

/** What one program of a line could do, as far as that is known. */
const effectsOf = ({ looks, isEveryday: isWork }: Prepared): Plan['effects'] => {
  if (looks) return ['read'];
  return ['write', 'execute', 'network', ...(isWork ? [] : (['publish', 'destroy'] as const))];
};

/** What is decided about one program of a line: with the variables before it, and without them what is denied. */
function partsOf(one: Prepared, whole: Plan, isAlone: boolean): Plan[] {
  const { stage, of, found, bare, looks, touches, leadsOut } = one;
  const { line } = stage;
  const { argv, variables } = of;
  const { trust: _trust, ...rest } = whole;
  const onlyRules = { ...rest, effects: [] };
  const hasVariables = Object.keys(variables).length > 0;
  // What lies outside of the roots nobody could trust, so that is read each time; so is what is set or typed for it.
  const canLast = isAlone && !leadsOut && !hasVariables;
  const lasting = canLast ? prefixOf(found.program, argv.slice(1)) : undefined;
  return [
    looks
      ? { ...onlyRules, effects: ['read'], subject: line }
      : {
          ...whole,
          effects: effectsOf(one),
          subject: line,
          touches,
          ...(!one.isEveryday && { asks: 'program' as const, ...(lasting && { lasting }) }),
        },
    ...(bare === line ? [] : [{ ...onlyRules, subject: bare }]),
  ];
}

/** With `args` nothing is read as anything but what it is. */
function parsedFrom({ command, args }: GivenLine): ParsedLine {
  if (args === undefined) return parseLine(command);
  const nul = [command, ...args].findIndex((word) => word.includes('\0'));
  if (nul >= 0)
    throw new ToolcribError(
      'ARG_INVALID',
      `${nul === 0 ? 'command' : `args[${nul - 1}]`}: contains a NUL character.`,
      'Leave it out.',
    );
  return { pipes: [[{ argv: [command, ...args], variables: {}, joinsErrors: false }]] };
}

async function preparer(
  folder: string,
  { host, discovery, environment, manifest }: OwnServices,
  { workspace, isFree }: Pick<PlanContext, 'workspace'> & { readonly isFree: boolean },
) {
  const { path } = await discovery();
  const project = projectFolders(workspace.roots);
  const own = ownPlaces(manifest, host.platform === 'win32' ? 'win32' : 'posix');
  return async (of: LineProgram, input: string | undefined, mayBeMade: boolean): Promise<Prepared> => {
    const [name, ...args] = of.argv;
    const found = await namedProgram(name, { folder, workspace, host, path, own, mayBeMade });
    const { program, digest, leading } = found;
    const argv = [...leading, ...args];
    // Throws for what a Windows batch file would read a second time: nobody is asked about what cannot be run.
    asStarted(program, argv, host.platform);
    // As a person would type it, so that rules can be about it: what the project has in it by its whole path.
    const typed: LineProgram['argv'] = [digest === undefined ? name : program, ...args];
    const places = placesIn(args, folder, workspace.roots);
    const env = environment(inheritedBy(name, manifest), {});
    const hasVariables = Object.keys(of.variables).length > 0;
    const isPlain = digest === undefined && !hasVariables;
    const isKept = !places.leadsOut && Object.values(of.variables).every((value) => plainValue.test(value));
    const looks = isPlain && (await onlyLooks(name, args, places, { roots: workspace.roots, isFree }));
    return {
      stage: {
        program,
        argv,
        env: { ...env, PATH: project.pathWithout(env['PATH'] ?? ''), ...of.variables },
        joinsErrors: of.joinsErrors,
        line: printProgram({ ...of, argv: typed }) + (input === undefined ? '' : ` < ${printable([input])}`),
      },
      found,
      of,
      bare: printable(typed),
      looks,
      isEveryday: isKept && isEveryday(of.argv, digest !== undefined, manifest, folder),
      touches: [...(digest === undefined ? [] : [program]), ...places.inside],
      leadsOut: places.leadsOut,
    };
  };
}

const ownPlaces = ({ programs }: Manifest, system: 'posix' | 'win32'): readonly string[] => [
  ...new Set(programs.flatMap(({ own }) => own?.[system] ?? []).filter((place) => !place.startsWith('$'))),
];

/** What arguments name in other folders or in this one, also behind an option: `--root=../other`, `-C/w/other`. */
function placesIn(args: readonly string[], folder: string, roots: readonly string[]) {
  const pieces = args
    .filter((arg) => !arg.includes('://'))
    .flatMap((arg) => [arg, ...arg.split(/[=:,\s]/), arg.replace(/^-\w/, '')])
    .filter((piece) => piece !== '' && !piece.includes('\0'))
    .map((piece) => resolve(folder, piece));
  const isOpen = (path: string) => roots.some((root) => isInside(path, root));
  const places = [...new Set(pieces)].filter((path) => !isInside(path, folder) || existsSync(path));
  return { inside: places.filter(isOpen), leadsOut: !places.every(isOpen) };
}

/** The variables that one of the known programs needs to work as it does elsewhere: DOCKER_HOST, JAVA_HOME. */
const inheritedBy = (program: string, { programs }: Manifest): readonly string[] =>
  programs
    .filter(({ called }) => called.some((name) => name.split(' ')[0] === program))
    .flatMap(({ environment = [] }) => environment);

/** The program that was found, and what the command line alone would not tell. */
function previewOf({ found: { program, leading }, of: { argv } }: Prepared): string[] {
  const [, ...args] = argv;
  // An argument that is quoted can look like two, and one with several lines like several.
  const isPlain = args.join('').length < longestPlain && args.every((arg) => printable([arg]) === arg);
  return [[program, ...leading].join(' '), ...(isPlain ? [] : args.map((arg) => JSON.stringify(arg)))];
}
