import type { Line, Template, Values } from './command-line.ts';
import type {
  Category,
  Effect,
  Inspection,
  InspectionRequest,
  Platform,
  ProjectFiles,
} from './discoverer.ts';
import type { Input, Params } from './parameter.ts';
import type { Report } from './report.ts';
import type { ToolFacts } from './tool.ts';

/**
 * The purposes of actions, with the kind of their answer, and the parameters they have to have. `only` (which
 * ones),
 * `again` (what failed last) and `dev` (of what is added: for development) are called so everywhere; a test
 * without
 * `again` is given the names that failed as `only`. What needs `only` works on single files: those of the
 * project's evidence.
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

/** An action as its callers see it, whatever does it. */
export interface Action {
  readonly title: string;
  readonly description: string;
  readonly effects: readonly Effect[];
  readonly role?: Role;
  /** The effects that a call with some values has beside these: a target that publishes. */
  readonly moreEffects?: (values: Values) => readonly Effect[];
  readonly params: Params;
  /** Values of the example; its command line is computed. */
  readonly given?: Values;
  /** The reader of its answer. Left out: what the program says is shown. */
  readonly out?: Report;
}

/** The fields of an action that say what it is for, whatever does it. */
export interface ActionFields<P extends Params> {
  role?: Role;
  /** The effects that a call with some values has beside those of the action: a target that publishes. */
  moreEffects?(values: Values): readonly Effect[];
  params?: P;
  given?: Input<P>;
  out?: Report;
}

/** A file of the project that is read, because asking the program would run the project's code. */
export interface FileReading {
  /** Names of the file: the first that is there is read, from the folder upwards. */
  readonly reads: readonly string[];
}

/** The same act by another program, for the systems that have it. */
export interface Alternative<P extends Params> {
  readonly by: string;
  readonly on: readonly Platform[];
  readonly run: Line<P>;
  readonly out: Report;
  readonly dashes?: false;
  readonly ok?: readonly number[];
}
export interface Alternatives<P extends Params> {
  /** The first whose program is there is taken. */
  readonly alternatives: readonly Alternative<P>[];
}

/**
 * A line of the program beside the action's own; with the exit codes that let the call go on, [0] when left
 * out.
 */
export type Step<P> = Template<P> | { readonly line: Template<P>; readonly ok: readonly number[] };

/**
 * The lines before and after an action's own, and the files it leaves. Previews, looks and undo change
 * nothing.
 */
export interface Steps<P> {
  /** Shows what would happen to who is asked, in a trusted folder only. The call stops when it fails. */
  readonly preview?: Step<P>;
  /** Done before `run`. The call stops when it fails. */
  readonly before?: Step<P>;
  /** Looks at what is now, for the report, which knows each by its name. One that fails is left out. */
  readonly after?: Readonly<Record<string, Template<P>>>;
  /** Globs of files that the program writes by itself; those newer than the call are its report. */
  readonly reports?: readonly string[];
  readonly undo?: UndoSteps<P>;
  readonly wording?: Wording<P>;
}

/** Tells that undo brings back all that the action could lose. */
export interface UndoSteps<P> {
  /**
   * Prints the files that the action could change, each with a NUL at its end, below the top of the work
   * tree: the checkpoint before it has to have them all.
   */
  readonly changes: Template<P>;
  /** Prints what no checkpoint has. */
  readonly unkept: Template<P>;
}

/**
 * The act in a person's words, for the question about it: `git push main to origin (…), 3 commits`. Its looks
 * run in a trusted folder; what one prints is known by its name, or not at all.
 */
export interface Wording<P> {
  /** Parts of what is agreed to: an answer about `main` is none about another branch. */
  readonly agreed: Readonly<Record<string, Template<P>>>;
  /** Told to who reads the question, and no part of what is agreed to. */
  readonly told?: Readonly<Record<string, Template<P>>>;
  says(values: Values, known: Readonly<Record<string, string>>): string;
}

/** The fields of an action that say how it is done with a program. */
interface Invocation<P extends Params> {
  readonly run: Line<P> | FileReading | Alternatives<P>;
  /** False: the program does not know `--`. */
  readonly dashes?: false;
  /** Exit codes that are an answer; [0] when left out. */
  readonly ok?: readonly number[];
  /**
   * It goes on when the call is answered: as a job from its beginning, since it ends only when it is told to;
   * or in a window in which a person works, of programs of the category `editor` alone.
   */
  readonly stays?: 'job' | 'window';
  readonly steps?: Steps<P>;
}

/** An action as a program file writes it, beside its title, description and effects. */
export interface ActionSpec<P extends Params> extends ActionFields<P>, Invocation<P> {}
/** An action that starts an installed program, or reads a file in its place. */
export interface ProgramAction extends Action, Invocation<never> {}

/** Defines an action; names and example values are checked against its parameters. */
export const action = <const P extends Params = Record<never, never>>(
  title: string,
  description: string,
  effects: readonly Effect[],
  spec: ActionSpec<P>,
): ProgramAction => ({ params: {}, ...spec, title, description, effects }) as unknown as ProgramAction;

/**
 * A sign that a project uses a program: an entry of its folder, `*` being any part of a name; or a text in
 * it.
 */
export type Evidence = string | { readonly file: string; readonly has: RegExp };
/** A source of programs: each knows one by a name; a site has a page that says how to get it. */
export type Source = 'apt' | 'brew' | 'winget' | 'npm' | 'pip' | 'cargo' | 'site';

/** The question to a program for its version. */
interface VersionQuestion {
  readonly args: readonly string[];
  readonly pattern: RegExp;
  /** Variables that say where it keeps things, of one that does not ask HOME or XDG_CACHE_HOME for that. */
  readonly caches?: readonly string[];
}

/** A program is data: how it is called, where it hides, and what can be done with it. */
export interface Program<A extends Action = ProgramAction> {
  readonly id: string;
  readonly title: string;
  readonly category: Category;
  readonly site: string;
  readonly get: Readonly<Partial<Record<Source, string>>>;
  /** Names of the program with its first words, best first: `pip`, `python3 -m pip`. Its id when left out. */
  readonly called?: readonly string[];
  /** The only systems that have it. */
  readonly on?: readonly Platform[];
  /**
   * Run in an empty folder with a scrubbed environment. Left out: `--version`, and the first number with a
   * point.
   */
  readonly version?: VersionQuestion | 'unknown';
  readonly project?: readonly Evidence[];
  /**
   * Places of a project's own copy, relative to the action's folder or any above it up to the root, or below
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
   * Looks at the project before each action, and says what has to be done about it. Throws a ToolcribError
   * where the program has nothing to work on. What it returns must not depend on `trusted`, but for `trust`.
   */
  inspect?(look: ProjectFiles, situation: InspectionRequest): Promise<Inspection>;
  /** Ways out of the failures that its users meet most, told by what it says on standard error. */
  readonly hints?: readonly { readonly says: RegExp; readonly wayOut: string }[];
  /**
   * Beginnings of the command lines that are everyday work of a project, and change or lose nothing
   * elsewhere, so that trust in the folder is all they need: one of these words, `exec…` being followed by a
   * line of its own; or an expression, whose group `file` or `module` lies in the project and `line` is such
   * a line. By the name it is typed by, where they differ. Left out: of a `build` program all lines, of a
   * `runtime` those that run a file.
   */
  readonly everyday?: string | RegExp | Readonly<Record<string, string | RegExp>>;
  readonly actions: Readonly<Record<string, A>>;
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
