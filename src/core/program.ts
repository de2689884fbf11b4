import type { Line, Piece, Template, Values } from './command-line.ts';
import type {
  Category,
  DatabaseEngine,
  Effect,
  ProjectFiles,
  Platform,
  DatabaseQuestion,
  InspectionRequest,
  Inspection,
} from './discoverer.ts';
import type { Input, Params } from './parameter.ts';
import type { Report } from './report.ts';
import type { ToolFacts } from './tool.ts';

/**
 * What an action is for, the kind of its answer, and the parameters it has to have. `only` (which ones), `again` (what
 * failed last) and `dev` (of what is added: for development) are called so everywhere; a test without `again` is given
 * the names that failed as `only`. What needs `only` works on single files: those of the project's evidence.
 */
export const roles = {
  status: { needs: [] },
  test: { kind: 'tests', needs: [] },
  lint: { kind: 'diagnostics', needs: [] },
  types: { kind: 'diagnostics', needs: [] },
  build: { kind: 'diagnostics', needs: [] },
  format: { needs: [] },
  tasks: { kind: 'tasks', needs: [] },
  task: { needs: ['task', 'args'] },
  list: { kind: 'packages', needs: [] },
  outdated: { kind: 'packages', needs: [] },
  audit: { kind: 'advisories', needs: [] },
  why: { needs: ['package'] },
  install: { needs: [] },
  add: { needs: ['packages'] },
  remove: { needs: ['packages'] },
  update: { needs: ['packages'] },
  query: { kind: 'rows', needs: ['sql', 'limit'] },
  tables: { kind: 'tables', needs: [] },
  describe: { kind: 'columns', needs: ['table'] },
} as const satisfies Record<string, { kind?: string; needs: readonly string[] }>;
export type Role = keyof typeof roles;

interface Common<P extends Params> {
  role?: Role;
  params?: P;
  /** Values of the example; its command line is computed. */
  given?: Input<P>;
  /** Left out: what the program says is shown. */
  out?: Report;
}

/** Runs the program. */
interface Runs<P extends Params> extends Common<P> {
  run: Line<P>;
  /** False: the program does not know `--`. */
  dashes?: false;
  /** Exit codes that are an answer; [0] when left out. */
  ok?: readonly number[];
  /** Goes on until it is ended, as what listens does: it is a job from its beginning. */
  serves?: true;
  /**
   * Opens a window in which a person works when the call is answered: of programs of the category `editor`
   * alone.
   */
  window?: true;
  /** Globs of files it writes by itself; those newer than the call are its report. */
  collects?: readonly string[];
  /** Looks at what would happen: shown to who is asked, and nothing runs when it fails. */
  first?: Template<P>;
  /**
   * The act in a person's words, for the question about it: `git push main to origin (…), 3 commits`. `asks` are
   * lines that only look, run in a trusted folder; what one prints is known by its name, or not at all. It is a part
   * of what is agreed to: an answer about `main` is none about another branch.
   */
  wording?: {
    readonly asks: Readonly<Record<string, Template<P>>>;
    /** The same, for who reads the question alone. */
    readonly tells?: Readonly<Record<string, Template<P>>>;
    says(values: Values, known: Readonly<Record<string, string>>): string;
  };
  /** What has to be done before `run`, which is left out when this fails. */
  prepare?: Template<P>;
  /** Exit codes of `first` that let it go on; [0] when left out. */
  firstOk?: readonly number[];
  /** Look-ups afterwards, for the report: what is now. */
  after?: Readonly<Record<string, Template<P>>>;
  /**
   * Where undo brings back all that the action could lose. `changes` makes the program print the files it could change,
   * each with a NUL at its end, below the top of the work tree: the checkpoint before it has to have them all. `unless`
   * makes it print what no checkpoint has. Neither changes anything.
   */
  takenBack?: { readonly changes: Template<P>; readonly unless: Template<P> };
}

/** Reads the first of these files that is there, from the folder upwards, instead of starting the program. */
interface Reads<P extends Params> extends Common<P> {
  reads: readonly string[];
}

/** Asks a database server over its own protocol; its parameters `profile` and `database` say which. */
interface Asks<P extends Params> extends Common<P> {
  database: DatabaseEngine;
  databaseQuestion: DatabaseQuestion;
}

/** A program beside a database's client, which is told in its environment where to connect: a dump. */
interface Connects<P extends Params> extends Common<P> {
  database: DatabaseEngine;
  /** Names of the program, best first. */
  client: readonly string[];
  run: Line<P>;
  /** The parameter with the path of the new file that what it prints goes to. */
  writes?: Extract<keyof P, string>;
}

/** The same act by other programs, for the systems that have them: the first whose program is there is taken. */
export interface Way<P extends Params = Params> {
  by: string;
  on: readonly Platform[];
  run: Line<P>;
  out: Report;
  dashes?: false;
  ok?: readonly number[];
}
interface Ways<P extends Params> extends Common<P> {
  ways: readonly Way<P>[];
}

type Without<T, U> = T & { [K in Exclude<keyof U, keyof T>]?: never };
type All<P extends Params> = Runs<P> & Reads<P> & Asks<P> & Connects<P> & Ways<P>;
type Spec<P extends Params> =
  | Without<Runs<P>, All<P>>
  | Without<Reads<P>, All<P>>
  | Without<Asks<P>, All<P>>
  | Without<Connects<P>, All<P>>
  | Without<Ways<P>, All<P>>;

// The parameters of actions differ from each other, so a list of them cannot name them all.
// oxlint-disable-next-line typescript/no-explicit-any
type AnySpec = Spec<any>;
/** What can be done with a program. */
export type ProgramAction = AnySpec & {
  readonly title: string;
  readonly description: string;
  readonly effects: readonly Effect[];
  readonly params: Params;
};

/** Defines an action; names and example values are checked against its parameters. */
export const action = <const P extends Params = Record<never, never>>(
  title: string,
  description: string,
  effects: readonly Effect[],
  spec: Spec<P>,
): ProgramAction => ({ params: {}, ...spec, title, description, effects }) as unknown as ProgramAction;

/**
 * By what a project shows that it uses a program: an entry of its folder, `*` being any part of a name; or a text
 * in it.
 */
export type Evidence = string | { readonly file: string; readonly has: RegExp };
/** How a program is installed: the name that each of these knows it by, or the page that says how. */
export type Source = 'apt' | 'brew' | 'winget' | 'npm' | 'pip' | 'cargo' | 'site';

/** How a program is asked for its version. */
interface VersionQuestion {
  readonly args: readonly string[];
  readonly pattern: RegExp;
  /** Variables that say where it keeps things, of one that does not ask HOME or XDG_CACHE_HOME for that. */
  readonly caches?: readonly string[];
}

/** A program is data: how it is called, where it hides, and what can be done with it. */
export interface Program {
  readonly id: string;
  readonly title: string;
  readonly category: Category;
  readonly site: string;
  readonly get: Readonly<Partial<Record<Source, string>>>;
  /** Names of the program with its first words, best first: `pip`, `python3 -m pip`. Its id when left out. */
  readonly called?: readonly string[];
  /** The only systems that have it. */
  readonly on?: readonly Platform[];
  /** Run in an empty folder with a scrubbed environment. Left out: `--version`, and the first number with a point. */
  readonly version?: VersionQuestion | 'unknown';
  readonly project?: readonly Evidence[];
  /**
   * Where a project keeps its own copy, relative to the action's folder or any above it up to the root, or below
   * `$NAME/`, a folder named by a variable. Preferred over the machine's, and shown to the caller.
   */
  readonly own?: { readonly posix: readonly string[]; readonly win32: readonly string[] };
  /** Absolute paths to try when it is not on the search path; `~/`, `%NAME%` and `*` are expanded. */
  readonly elsewhere?: Readonly<Partial<Record<Platform, readonly string[]>>>;
  /** Names of variables it may inherit, beside the ones every child gets. */
  readonly environment?: readonly string[];
  /** Variables it is always run with: what keeps it quiet, and from asking. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Words before those of every action, so that it does only what was asked; not shown. */
  readonly before?: readonly string[];
  /** Characters that begin an option or a file of options; `-` when left out. */
  readonly marks?: string;
  /**
   * Looks at the project before each action, and says what has to be done about it. Throws a ToolcribError where the
   * program has nothing to work on. What it returns must not depend on `trusted`, but for `trust`.
   */
  inspect?(look: ProjectFiles, situation: InspectionRequest): Promise<Inspection>;
  /** What to do about failures that its users meet most, told by what it says on standard error. */
  readonly hints?: readonly { readonly says: RegExp; readonly wayOut: string }[];
  /**
   * How the command lines begin that are everyday work of a project, and change or lose nothing elsewhere, so that
   * trust in the folder is all they need: one of these words, `exec…` being followed by a line of its own; or an
   * expression, whose group `file` or `module` lies in the project and `line` is such a line. By the name it is typed
   * by, where they differ. Left out: of a `build` program all lines, of a `runtime` those that run a file.
   */
  readonly everyday?: string | RegExp | Readonly<Record<string, string | RegExp>>;
  readonly actions: Readonly<Record<string, ProgramAction>>;
  /** Actions that every host is shown where there is room for a few tools only. */
  readonly listed?: Readonly<Record<string, Pick<ToolFacts, 'listed' | 'hint'>>>;
}

/** Defines a program. */
export const program = (id: string, spec: Omit<Program, 'id'>): Program => ({ id, ...spec });

/** Defines a table of kindred programs, a row each. */
export const family = <Row>(
  rows: Readonly<Record<string, Row>>,
  make: (row: Row, id: string) => Omit<Program, 'id'>,
): readonly Program[] => Object.entries(rows).map(([id, row]) => program(id, make(row, id)));

/** The actions of a family's member that has them: those that are undefined are left out. */
export const present = (all: Readonly<Record<string, ProgramAction | undefined>>): Program['actions'] =>
  Object.fromEntries(Object.entries(all).flatMap(([key, one]) => (one ? [[key, one]] : [])));

export type { Line, Piece, Values };
