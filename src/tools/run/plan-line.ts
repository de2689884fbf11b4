import { existsSync } from 'node:fs';
import { printable } from '../../core/command-line.ts';
import { deniedGlobs } from '../../core/rule.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Grant, Plan, Workspace } from '../../core/tool.ts';
import { isInside } from '../../machine/paths/inside.ts';
import { protectedReason } from '../../machine/paths/protected-paths.ts';
import { realPath } from '../../machine/paths/real-path.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import type { Stage } from '../../machine/processes/pipe.ts';
import { asStarted } from '../../machine/processes/child.ts';
import { namedProgram, type NamedProgram } from '../../machine/programs/named-program.ts';
import { projectFolders } from '../../machine/programs/project-folders.ts';
import type { ToolPlanContext } from '../define-tool.ts';
import type { Catalogue } from '../../machine/catalogue.ts';
import { isEveryday, isPrinting, makesEmpty, walksFolders } from './everyday.ts';
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
}

/** One program of it. */
interface Prepared {
  readonly stage: PreparedLine['pipes'][number][number];
  readonly found: NamedProgram;
  readonly of: LineProgram;
  readonly bare: string;
  /** It needs no more than trust in the folder. */
  readonly isEveryday: boolean;
  /** What it names inside the roots, and itself where it lies there. */
  readonly touches: readonly string[];
}

/** Of a longer command line something may be left out where it is shown. */
const longestPlain = 1000;

/** A variable that could lead elsewhere, or be run, is read by a person. */
const plainValue = /^[\w.,:=@%+-]*$/;

/**
 * What a line would run; nothing is started. Throws ARG_INVALID, PROGRAM_NOT_FOUND, and what the gate throws.
 */
export async function planLine(
  given: GivenLine,
  { workspace, rules, session }: Pick<ToolPlanContext, 'workspace' | 'rules' | 'session'>,
): Promise<Plan<PreparedLine>> {
  const { input, cwd } = given;
  const parsed = parsedFrom(given);
  const options = { kind: 'folder', mustExist: true } as const;
  const start = cwd === undefined ? workspace.home : await workspace.resolve(cwd, options);
  const folder =
    parsed.folder === undefined ? start : await workspace.resolve(parsed.folder, { ...options, from: start });
  const prepare = await preparer(folder, { workspace, rules, session });
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
  const whole: Plan<PreparedLine> = {
    effects: [...new Set(all.flatMap(effectsOf))],
    subject: command,
    folder,
    paths: all.flatMap(({ touches }) => touches),
    trust: 'runs a program in this folder',
    ...(preview !== '' && { preview }),
    isUndoable: false,
    fingerprint: JSON.stringify([
      folder,
      input,
      pipes.map((pipe) => pipe.map(({ found, of }) => [found, of])),
    ]),
    work: { folder, command, pipes: pipes.map((pipe) => pipe.map(({ stage }) => stage)) },
  };
  // What is set for it is read each time. A part of the line is never agreed to: beside other words it is
  // another act.
  const canLast = all.every(({ of }) => Object.keys(of.variables).length === 0);
  const programs = all.map(({ found }) => found.program);
  const grant = {
    act: JSON.stringify(['run', realPath(folder), command, programs]),
    words: `exactly ${command} in ${displayPath(folder)}`,
  };
  return { ...whole, parts: all.flatMap((one) => partsOf(one, whole, canLast ? grant : undefined)) };
}

/** What one program of a line could do, as far as that is known. */
const effectsOf = ({ isEveryday: isWork }: Prepared): Plan['effects'] => [
  ...(['write', 'execute', 'network'] as const),
  ...(isWork ? [] : (['publish', 'destroy'] as const)),
];

/**
 * What is decided about one program of a line: with the variables before it, and without them what is denied.
 */
function partsOf(one: Prepared, whole: Plan, grant: Grant | undefined): Plan[] {
  const { bare, touches, isEveryday: isWork } = one;
  const { line } = one.stage;
  const { trust: _trust, ...rest } = whole;
  const asked = isWork ? {} : { approval: 'program' as const, ...(grant && { grant }) };
  return [
    { ...whole, effects: effectsOf(one), subject: line, paths: touches, ...asked },
    ...(bare === line ? [] : [{ ...rest, effects: [], subject: bare }]),
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
  { workspace, rules, session }: Pick<ToolPlanContext, 'workspace' | 'rules' | 'session'>,
) {
  const { environment } = session;
  const { host, catalogue } = environment;
  const hasDenied = deniedGlobs(rules).length > 0;
  const { path } = await environment.discovery();
  const project = projectFolders(workspace.roots);
  const own = ownPlaces(catalogue, host.platform === 'win32' ? 'win32' : 'posix');
  return async (of: LineProgram, input: string | undefined, mayBeMade: boolean): Promise<Prepared> => {
    const [name, ...args] = of.argv;
    const found = await namedProgram(name, { folder, workspace, host, path, own, mayBeMade });
    const { program, digest, leading } = found;
    const argv = [...leading, ...args];
    // Throws for what a Windows batch file would read a second time: nobody is asked about what cannot be
    // run.
    asStarted(program, argv, host.platform);
    // As a person would type it, so that rules can be about it: what the project has in it by its whole path.
    const typed: LineProgram['argv'] = [digest === undefined ? name : program, ...args];
    const named = await pathsIn(args, folder, workspace);
    const env = await environment.childEnvironment(inheritedBy(name, catalogue), {});
    // It could print what the settings keep from the model.
    const opens = hasDenied && isPrinting(name) && (named.inside.length > 0 || walksFolders(name));
    // What others run or obey is made by no everyday line.
    const makes = named.isProtected && makesEmpty(name);
    const isKept =
      !opens &&
      !makes &&
      !named.leadsOut &&
      Object.values(of.variables).every((value) => plainValue.test(value));
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
      isEveryday: isKept && isEveryday(of.argv, digest !== undefined, catalogue, folder),
      touches: [...(digest === undefined ? [] : [program]), ...named.inside],
    };
  };
}

const ownPlaces = ({ programs }: Catalogue, system: 'posix' | 'win32'): readonly string[] => [
  ...new Set(programs.flatMap(({ own }) => own?.[system] ?? []).filter((place) => !place.startsWith('$'))),
];

/**
 * The paths that arguments name, also behind an option (`--root=../other`, `-C/w/other`): those inside the
 * roots, and whether others lead out of them. The gate decides. Throws EFFECT_DENIED for one that the
 * settings keep from the model.
 */
async function pathsIn(args: readonly string[], folder: string, workspace: Workspace) {
  const pieces = args
    // An address is one piece, which the system would take for a path all the same.
    .flatMap((arg) => [arg, ...arg.split(/[=,\s]|:(?!\/\/)/), arg.replace(/^-\w/, '')])
    .filter((piece) => piece !== '' && !piece.includes('\0'));
  const inside: string[] = [];
  let leadsOut = false;
  let isProtected = false;
  for (const piece of new Set(pieces))
    try {
      const path = await workspace.resolve(piece, { from: folder });
      if (!isInside(path, folder) || existsSync(path)) inside.push(path);
      isProtected ||= protectedReason(path) !== undefined;
    } catch (error) {
      const code = error instanceof ToolcribError ? error.code : undefined;
      if (code === undefined || code === 'EFFECT_DENIED') throw error;
      if (code === 'PATH_OUTSIDE_ROOTS' || code === 'PATH_PROTECTED') leadsOut = true;
      // Any other is no path.
    }
  return { inside, leadsOut, isProtected };
}

/**
 * The variables that one of the known programs needs to work as it does elsewhere: DOCKER_HOST, JAVA_HOME.
 */
const inheritedBy = (program: string, { programs }: Catalogue): readonly string[] =>
  programs
    .filter(({ called }) => called.some((name) => name.split(' ')[0] === program))
    .flatMap(({ environment = [] }) => environment);

/** Arguments that the command line alone would not tell apart: with blanks or line ends in them. */
function previewOf({ of: { argv } }: Prepared): string[] {
  const [, ...args] = argv;
  const isPlain = args.join('').length < longestPlain && args.every((arg) => printable([arg]) === arg);
  return isPlain ? [] : args.map((arg) => JSON.stringify(arg));
}
