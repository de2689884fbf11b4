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

/** A command line as a caller gives it. */
export interface LineRequest {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly input?: string | undefined;
}

/** A command line of which all programs were found. */
export interface PreparedLine {
  readonly folder: string;
  /** The line as a person would type it. */
  readonly command: string;
  /** Pipes, run one after another until one fails; `line` is a program as a person would type it. */
  readonly pipes: readonly (readonly (Stage & { readonly line: string })[])[];
}

/** A program of the line, with what is decided about it. */
interface PreparedProgram {
  readonly stage: PreparedLine['pipes'][number][number];
  readonly resolved: NamedProgram;
  readonly parsed: LineProgram;
  /** The program and its arguments as a person would type them, without the variables before it. */
  readonly withoutVariables: string;
  /** The program needs no more than trust in the folder. */
  readonly isEveryday: boolean;
  /** The paths inside the roots that its arguments name, and its own path when that is inside too. */
  readonly paths: readonly string[];
}

/** Characters of the arguments; a longer line may be shortened where it is shown, and needs a preview. */
const longestPlain = 1000;

/** Values of variables that can neither lead elsewhere nor be run; a person is asked about all others. */
const plainValue = /^[\w.,:=@%+-]*$/;

/**
 * Plans a command line without starting anything. Throws ARG_INVALID, PROGRAM_NOT_FOUND, and what the gate
 * throws.
 */
export async function planLine(
  request: LineRequest,
  { workspace, rules, session }: Pick<ToolPlanContext, 'workspace' | 'rules' | 'session'>,
): Promise<Plan<PreparedLine>> {
  const { input, cwd } = request;
  const parsed = parseRequest(request);
  const options = { kind: 'folder', mustExist: true } as const;
  const start = cwd === undefined ? workspace.home : await workspace.resolve(cwd, options);
  const folder =
    parsed.folder === undefined ? start : await workspace.resolve(parsed.folder, { ...options, from: start });
  const prepare = await programPreparer(folder, { workspace, rules, session });
  const pipes: PreparedProgram[][] = [];
  for (const [index, pipe] of parsed.pipes.entries()) {
    const isFirst = index === 0;
    // The input of the call goes to the first program of the first pipe.
    const prepared = pipe.map((program, at) =>
      prepare(program, isFirst && at === 0 ? input : undefined, !isFirst),
    );
    pipes.push(await Promise.all(prepared));
  }
  const all = pipes.flat();
  const command = pipes.map((pipe) => pipe.map(printStage).join(' | ')).join(' && ');
  const preview = [...all.flatMap(previewOf), ...(input === undefined ? [] : ['input:', input])].join('\n');
  const whole: Plan<PreparedLine> = {
    effects: [...new Set(all.flatMap(effectsOf))],
    subject: command,
    folder,
    paths: all.flatMap(({ paths }) => paths),
    trust: 'runs a program in this folder',
    ...(preview !== '' && { preview }),
    isUndoable: false,
    fingerprint: JSON.stringify([
      folder,
      input,
      pipes.map((pipe) => pipe.map((program) => [program.resolved, program.parsed])),
    ]),
    work: { folder, command, pipes: pipes.map((pipe) => pipe.map(({ stage }) => stage)) },
  };
  // A person reads the variables of a line each time. "Always" covers the whole line and never a part of it,
  // which would be another act beside other programs.
  const canBeGranted = all.every((program) => Object.keys(program.parsed.variables).length === 0);
  const programs = all.map(({ resolved }) => resolved.program);
  const grant = {
    act: JSON.stringify(['run', realPath(folder), command, programs]),
    words: `exactly ${command} in ${displayPath(folder)}`,
  };
  const parts = all.flatMap((program) => planParts(program, whole, canBeGranted ? grant : undefined));
  return { ...whole, parts };
}

const printStage = ({ stage, parsed }: PreparedProgram): string =>
  stage.line + (parsed.joinsErrors ? ' 2>&1' : '');

/** The effects that one program of a line may have: everyday lines neither publish nor destroy. */
function effectsOf({ isEveryday: isExpected }: PreparedProgram): Plan['effects'] {
  const effects = ['write', 'execute', 'network'] as const;
  return isExpected ? effects : [...effects, 'publish', 'destroy'];
}

/**
 * The parts of a plan that are decided about for one program: the program with its variables; and without
 * them, so that a rule that denies the program itself matches.
 */
function planParts(program: PreparedProgram, whole: Plan, grant: Grant | undefined): Plan[] {
  const { withoutVariables, paths } = program;
  const { line } = program.stage;
  const { trust: _trust, ...rest } = whole;
  const approval = program.isEveryday ? {} : { approval: 'program' as const, ...(grant && { grant }) };
  return [
    { ...whole, effects: effectsOf(program), subject: line, paths, ...approval },
    ...(withoutVariables === line ? [] : [{ ...rest, effects: [], subject: withoutVariables }]),
  ];
}

/** Parses the command of a request; with `args` the words are taken as they are, and nothing is parsed. */
function parseRequest({ command, args }: LineRequest): ParsedLine {
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

/** Makes a function that finds a program of the line and checks what its arguments name. */
async function programPreparer(
  folder: string,
  { workspace, rules, session }: Pick<ToolPlanContext, 'workspace' | 'rules' | 'session'>,
) {
  const { environment } = session;
  const { host, catalogue } = environment;
  const hasDenied = deniedGlobs(rules).length > 0;
  const { path } = await environment.discovery();
  const project = projectFolders(workspace.roots);
  const own = projectCopies(catalogue, host.platform === 'win32' ? 'win32' : 'posix');
  return async (
    parsed: LineProgram,
    input: string | undefined,
    mayBeMade: boolean,
  ): Promise<PreparedProgram> => {
    const [name, ...args] = parsed.argv;
    const resolved = await namedProgram(name, { folder, workspace, host, path, own, mayBeMade });
    const { program, digest, leading } = resolved;
    const argv = [...leading, ...args];
    // Throws for arguments that a Windows batch file would read a second time: nobody is asked about a line
    // that cannot be run.
    asStarted(program, argv, host.platform);
    // Rules match the line as a person would type it, with the whole path of a program of the project.
    const typed: LineProgram['argv'] = [digest === undefined ? name : program, ...args];
    const named = await pathsIn(args, folder, workspace);
    const env = await environment.childEnvironment(inheritedBy(name, catalogue), {});
    // The program could print a file that the settings keep from the model.
    const printsDenied = hasDenied && isPrinting(name) && (named.inside.length > 0 || walksFolders(name));
    // No everyday line makes a file that others run or obey.
    const makesProtected = named.isProtected && makesEmpty(name);
    const isContained =
      !printsDenied &&
      !makesProtected &&
      !named.leadsOut &&
      Object.values(parsed.variables).every((value) => plainValue.test(value));
    return {
      stage: {
        program,
        argv,
        env: { ...env, PATH: project.pathWithout(env['PATH'] ?? ''), ...parsed.variables },
        joinsErrors: parsed.joinsErrors,
        line:
          printProgram({ ...parsed, argv: typed }) + (input === undefined ? '' : ` < ${printable([input])}`),
      },
      resolved,
      parsed,
      withoutVariables: printable(typed),
      isEveryday: isContained && isEveryday(parsed.argv, digest !== undefined, catalogue, folder),
      paths: [...(digest === undefined ? [] : [program]), ...named.inside],
    };
  };
}

/** The paths at which projects keep copies of known programs: `node_modules/.bin/eslint`. */
const projectCopies = ({ programs }: Catalogue, system: 'posix' | 'win32'): readonly string[] => [
  ...new Set(programs.flatMap(({ own }) => own?.[system] ?? []).filter((path) => !path.startsWith('$'))),
];

/** The paths that the arguments of a program name. */
interface NamedPaths {
  /** The paths inside the roots. */
  readonly inside: readonly string[];
  /** Another path leads out of the roots, or to a protected one. */
  readonly leadsOut: boolean;
  /** One of the paths is a file that others run or obey. */
  readonly isProtected: boolean;
}

/**
 * Finds the paths in arguments, also behind an option (`--root=../other`, `-C/w/other`); the gate decides
 * whether they are inside the roots. Throws EFFECT_DENIED for one that the settings keep from the model.
 */
async function pathsIn(args: readonly string[], folder: string, workspace: Workspace): Promise<NamedPaths> {
  const pieces = args
    // A URL is not split at its colon, as the system could read the whole of it as a path.
    .flatMap((arg) => [arg, ...arg.split(/[=,\s]|:(?!\/\/)/), arg.replace(/^-\w/, '')])
    .filter((piece) => piece !== '' && !piece.includes('\0'));
  const inside: string[] = [];
  let leadsOut = false;
  let isProtected = false;
  for (const piece of new Set(pieces))
    try {
      const path = await workspace.resolve(piece, { from: folder });
      if (!isInside(path, folder) || existsSync(path)) inside.push(path);
      if (protectedReason(path) !== undefined) isProtected = true;
    } catch (error) {
      const code = error instanceof ToolcribError ? error.code : undefined;
      if (code === undefined || code === 'EFFECT_DENIED') throw error;
      if (code === 'PATH_OUTSIDE_ROOTS' || code === 'PATH_PROTECTED') leadsOut = true;
      // Any other error means that the piece is not a path.
    }
  return { inside, leadsOut, isProtected };
}

/** The variables that a known program inherits from the server, to work as it does elsewhere: DOCKER_HOST. */
const inheritedBy = (program: string, { programs }: Catalogue): readonly string[] =>
  programs
    .filter(({ called }) => called.some((name) => name.split(' ')[0] === program))
    .flatMap(({ environment = [] }) => environment);

/** The arguments one by one, when some have blanks or line ends in them, or the line is long. */
function previewOf({ parsed: { argv } }: PreparedProgram): string[] {
  const [, ...args] = argv;
  const isPlain = args.join('').length < longestPlain && args.every((arg) => printable([arg]) === arg);
  return isPlain ? [] : args.map((arg) => JSON.stringify(arg));
}
