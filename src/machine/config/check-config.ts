import { posix } from 'node:path';
import * as z from 'zod';
import { nearest } from '../../core/nearest.ts';
import { decisions, ruleProblem, unknownTool, type Rule } from '../../core/rule.ts';
import { exposeModes, questionModes, type Budgets, type Config } from '../../core/settings.ts';
import { displayPath } from '../paths/display-path.ts';

type Path = readonly (string | number)[];

/** A problem at one place of a settings file; `path` is empty for the whole file. */
export interface Complaint {
  readonly path: Path;
  readonly says: string;
}

/** The names that settings may use. */
export interface KnownNames {
  readonly tools: readonly string[];
  readonly toolsets: readonly string[];
}

export interface ConfigFile {
  /**
   * The author of the file. A project's file can only narrow what the operator's says, and has only the
   * settings that do.
   */
  readonly whose: 'operator' | 'project';
  /** The name of the file in messages about its rules. */
  readonly file: string;
  /** The names of tools and toolsets, which are checked when this is given. */
  readonly known?: KnownNames | undefined;
}

/** Checks the content of a file, as parsed from JSON. Returns its settings, or the first problem. */
export function checkConfig(
  content: unknown,
  { whose, file, known }: ConfigFile,
): { readonly config: Config } | Complaint {
  const schema = whose === 'operator' ? operatorSchema(known) : projectSchema(known);
  // Compiling the check pays off only with a second file.
  const parsed = schema.safeParse(content, { jitless: true });
  const [issue] = parsed.error?.issues ?? [];
  if (issue) return complaintOf(issue, schema);
  const { folders = {}, databases = {}, programs = {}, ...own } = parsed.data as FileContent;
  if (whose === 'project') return { config: withRules(own, file) };
  const ofFolders = Object.entries(folders).map(
    ([folder, narrower]) => [folder, withRules(narrower, `folders ${displayed(folder)} of ${file}`)] as const,
  );
  return {
    config: { ...withRules(own, file), databases, programs, folders: Object.fromEntries(ofFolders) },
  };
}

/** The valid content of a settings file, of a project or of the operator. */
interface FileContent extends Omit<Config, 'rules' | 'folders'> {
  readonly rules?: Readonly<Record<string, Rule['decision']>>;
  readonly folders?: Readonly<Record<string, Omit<FileContent, 'folders'>>>;
}

/** Replaces the rules of settings by a list of rules that name their place in the file. */
const withRules = <T extends { rules?: Readonly<Record<string, Rule['decision']>> }>(
  { rules = {}, ...rest }: T,
  place: string,
) => ({
  ...rest,
  rules: Object.entries(rules).map(([pattern, decision]): Rule => ({
    pattern,
    decision,
    setting: `rules "${pattern}" of ${place}`,
  })),
});

const budget = (most: number) => z.exactOptional(z.int().min(1).max(most));

/**
 * The schema of budgets. Nobody needs more than the upper bounds: an hour for a call, a week for a job, 100
 * GB, a year.
 */
const budgets = z.strictObject({
  callSeconds: budget(3600),
  jobMinutes: budget(10_080),
  jobs: budget(1000),
  calls: budget(1000),
  outputMegabytes: budget(102_400),
  outputHours: budget(8760),
  memoryPercent: budget(100),
} satisfies Record<keyof Budgets, z.ZodType>);

/** The settings that one folder can be given, by its own file or in the operator's. */
const narrower = (known: KnownNames | undefined) => ({
  readOnly: z.exactOptional(z.boolean()),
  toolsets: z.exactOptional(z.array(toolset(known))),
  rules: z.exactOptional(rulesSchema(['ask', 'deny'], known)),
  budgets: z.exactOptional(budgets),
});

const projectSchema = (known: KnownNames | undefined) =>
  z.strictObject({
    // An empty list would count as unset, and open what the operator allows.
    roots: z.exactOptional(z.array(inside()).min(1)),
    ...narrower(known),
  });

const operatorSchema = (known: KnownNames | undefined) =>
  z.strictObject({
    roots: z.exactOptional(z.array(absolute()).min(1)),
    ...narrower(known),
    rules: z.exactOptional(rulesSchema(decisions, known)),
    questions: z.exactOptional(z.enum(questionModes)),
    checkpoints: z.exactOptional(z.boolean()),
    expose: z.exactOptional(z.enum(exposeModes)),
    folders: z.exactOptional(z.record(absolute(), z.strictObject(narrower(known)))),
    databases: z.exactOptional(z.record(databaseName, database)),
    path: z.exactOptional(z.array(absolute())),
    programs: z.exactOptional(z.record(toolset(known), absolute())),
  });

/** Makes an error message of the rejected text and what is wrong with it. */
const rejection = (says: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `${displayed(String(input))} ${says}`,
});

const path = (isFit: (path: string) => boolean, otherwise: string) =>
  z
    .string()
    .min(1)
    .refine((text) => !/\p{Cc}/u.test(text), rejection('has a control character.'))
    .refine(isFit, rejection(otherwise));

const isAbsolute = (text: string): boolean => /^(?:[/\\]|[A-Za-z]:|~(?:[/\\]|$))/.test(text);
const absolute = () => path(isAbsolute, 'is not absolute; where a host starts the server is not known.');

const leadsOut = (text: string): boolean =>
  isAbsolute(text) || /^\.\.(?:\/|$)/.test(posix.normalize(text.replaceAll('\\', '/')));
const inside = () =>
  path(
    (text) => !leadsOut(text),
    'leads outside of the project, whose file can only narrow what is open: name folders inside it.',
  );

const toolset = (known: KnownNames | undefined) =>
  z.string().refine((name) => known === undefined || known.toolsets.includes(name), {
    error: ({ input }) => {
      const name = String(input);
      return `${displayed(name)}: there is no such toolset${suggestion(name, known?.toolsets ?? [])}`;
    },
  });

/** The most rules, because each is tried on every call. */
const mostRules = 500;

const narrowerSays = 'a project can only narrow: expected "ask" or "deny"';

const rulesSchema = (allowed: readonly Rule['decision'][], known: KnownNames | undefined) =>
  z
    .record(z.string(), z.enum(allowed, allowed === decisions ? undefined : narrowerSays))
    .refine((rules) => Object.keys(rules).length <= mostRules, `has more than ${mostRules}.`)
    .superRefine((rules, context) => {
      for (const [pattern, decision] of Object.entries(rules)) {
        const message = ruleProblem(pattern, decision) ?? (known && unknownTool(pattern, known.tools));
        if (message !== undefined) context.addIssue({ code: 'custom', message, path: [pattern] });
      }
    });

const schemes = { postgresql: ['postgresql:', 'postgres:'], mysql: ['mysql:', 'mariadb:'] } as const;

/** The schema of a database. Its messages quote no address, because there may be a password in it. */
const database = z
  .strictObject({
    engine: z.enum(['postgresql', 'mysql']),
    url: z.exactOptional(z.string()),
    urlFrom: z.exactOptional(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, like "DATABASE_URL"'),
    ),
  })
  .superRefine(({ engine, url, urlFrom }, context) => {
    const allowed: readonly string[] = schemes[engine];
    const complain = (message: string, path: string[]) => context.addIssue({ code: 'custom', message, path });
    if ((url === undefined) === (urlFrom === undefined))
      complain('needs either url, or urlFrom: the variable that holds it.', []);
    else if (url !== undefined && !(URL.canParse(url) && allowed.includes(new URL(url).protocol)))
      complain(`expected ${allowed[0]}//user@host/name.`, ['url']);
  });

const databaseName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,49}$/,
    'a name has small letters, digits, "_" and "-", begins with a letter and has at most 50.',
  );

function complaintOf(issue: z.core.$ZodIssue, schema: z.ZodObject): Complaint {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    return { path: [...path, key], says: unknownKey(key, path, schema) };
  }
  if (issue.code === 'too_small' && issue.minimum === 1 && ['array', 'string'].includes(issue.origin))
    return { path, says: 'is empty; leave it out to say nothing.' };
  const { message = 'is no name' } = issue.code === 'invalid_key' ? (issue.issues[0] ?? {}) : issue;
  const says = message.replace(/^Invalid (?:input|option): /, '');
  return { path, says: /[.?]$/.test(says) ? says : `${says}.` };
}

function unknownKey(key: string, path: Path, schema: z.ZodObject): string {
  if (path[0] === 'folders' && path.length === 2 && key === 'roots')
    return 'the folder itself is meant; "roots" beside "folders" are the folders that are open.';
  if (path.length !== 1 && Object.hasOwn(operatorSchema(undefined).shape, key))
    return (
      'only the operator can set it, in a file of their own, for everything: ' +
      "a project's file can only narrow."
    );
  const ofFolder = path[0] === 'folders' ? narrower(undefined) : schema.shape;
  const shape =
    path.at(-1) === 'budgets' ? budgets.shape : path[0] === 'databases' ? database.shape : ofFolder;
  const names = Object.keys(shape);
  return `there is no such setting${suggestion(key, names)} The settings are ${names.join(', ')}.`;
}

const suggestion = (word: string, known: readonly string[]): string => {
  const best = nearest(word, known);
  return best === undefined ? '.' : `; did you mean ${best}?`;
};

/**
 * Formats the path of a setting for people. A project's file may have any keys: they are cut, and cannot
 * control the terminal or hide.
 */
export const placeOf = (path: Path): string => path.map((step) => displayed(String(step))).join('.');

const displayed = (text: string): string => displayPath(text.length > 60 ? `${text.slice(0, 60)}…` : text);
