import * as z from 'zod';
import { nearest } from './check-params.ts';
import { questionModes } from './policy.ts';
import { decisions, ruleProblem, unknownTool, type Decision, type Rule } from './rule.ts';
import type { Budgets, Config, DatabaseProfile } from './settings.ts';

type Path = readonly (string | number)[];

/** What is wrong at one place of a settings file; `path` is empty for the whole. */
export interface Complaint {
  readonly path: Path;
  readonly says: string;
}

export type Checked = { readonly config: Config } | { readonly complaints: readonly Complaint[] };

/** What names can be meant. */
export interface KnownNames {
  readonly tools: readonly string[];
  readonly toolsets: readonly string[];
}

/** Each is tried on every call. */
const mostRules = 500;
/** Only the first is shown; a file that has nothing else is not worth the time. */
const mostComplaints = 20;

interface ConfigFile {
  /** A project's file may narrow what the operator's says, and has no settings but those that can. */
  readonly whose: 'operator' | 'project';
  /** How it is called when one of its rules decides. */
  readonly file: string;
  /** Names of tools and toolsets are checked when they are given. */
  readonly known?: KnownNames | undefined;
}

/**
 * The settings that the content of a file stands for, or all that is wrong with it. `content` is as JSON has it;
 * objects without a prototype are fine.
 */
export function checkConfig(content: unknown, { whose, file, known }: ConfigFile): Checked {
  const schema = whose === 'operator' ? operatorSchema : projectSchema;
  // A compiled check pays off with the second file.
  const parsed = schema.safeParse(content, { jitless: true });
  if (!parsed.success)
    return { complaints: parsed.error.issues.flatMap((issue) => complaintsOf(issue, schema)) };
  const { folders = {}, databases = {}, ...written } = parsed.data as z.output<typeof operatorSchema>;
  const complaints = [
    ...(written.roots ?? []).flatMap((root, at) => rootComplaint(root, ['roots', at], whose)),
    ...namesComplaints(written, [], known),
    ...Object.entries(folders).flatMap(([folder, narrower]) => [
      ...rootComplaint(folder, ['folders', folder], 'operator'),
      ...namesComplaints(narrower, ['folders', folder], known),
    ]),
    ...Object.entries(databases).flatMap(databaseComplaint),
  ];
  if (complaints.length > 0) return { complaints };
  const ofFolders = Object.entries(folders).map(
    ([folder, narrower]) => [folder, withRules(narrower, `folders ${shown(folder)} of ${file}`)] as const,
  );
  const operators = { databases: byName(Object.entries(databases)), folders: byName(ofFolders) };
  return { config: { ...withRules(written, file), ...(whose === 'operator' && operators) } };
}

/** Without a prototype: nothing is found in it that nobody has written. */
const byName = <V>(entries: readonly (readonly [string, V])[]): Record<string, V> =>
  Object.assign(Object.create(null) as Record<string, V>, Object.fromEntries(entries));

type Written = z.output<typeof folderSchema>;

/** The same, with a list of rules that know where they stand. */
const withRules = <T extends Written>({ rules = {}, ...rest }: T, where: string) => ({
  ...rest,
  rules: Object.entries(rules).map(([pattern, decision]): Rule => ({
    pattern,
    decision,
    setting: `rules "${pattern}" of ${where}`,
  })),
});

const budget = (least: number, most: number) => z.exactOptional(z.int().min(least).max(most));

/** The upper bounds are what nobody needs more of: an hour for a call, a week for a job, 100 GB, a year. */
const budgets = z.strictObject({
  callSeconds: budget(1, 3600),
  jobMinutes: budget(1, 10_080),
  jobs: budget(1, 1000),
  calls: budget(1, 1000),
  outputMegabytes: budget(1, 102_400),
  outputHours: budget(1, 8760),
} satisfies Record<keyof Budgets, z.ZodType>);

/** What can be said of one folder, in the operator's file. */
const folderSchema = z.strictObject({
  readOnly: z.exactOptional(z.boolean()),
  toolsets: z.exactOptional(z.array(z.string())),
  rules: z.exactOptional(z.record(z.string(), z.enum(decisions))),
  questions: z.exactOptional(z.enum(questionModes)),
  checkpoints: z.exactOptional(z.boolean()),
  scripts: z.exactOptional(z.boolean()),
  budgets: z.exactOptional(budgets),
});

const projectSchema = z.strictObject({
  // None would be taken for not said, and open what others say.
  roots: z.exactOptional(z.array(z.string().min(1)).min(1)),
  ...folderSchema.shape,
});

const operatorSchema = z.strictObject({
  ...projectSchema.shape,
  folders: z.exactOptional(z.record(z.string(), folderSchema)),
  databases: z.exactOptional(
    z.record(
      z.string(),
      z.strictObject({
        engine: z.enum(['postgresql', 'mysql']),
        url: z.exactOptional(z.string()),
        urlFrom: z.exactOptional(z.string()),
      }),
    ),
  ),
});

function rootComplaint(root: string, path: Path, whose: ConfigFile['whose']): Complaint[] {
  const isAbsolute = /^(?:[/\\]|[A-Za-z]:|~(?:[/\\]|$))/.test(root);
  const complain = (says: string) => [{ path, says: `${shown(root)} ${says}` }];
  if (/\p{Cc}/u.test(root)) return complain('has a control character.');
  if (whose === 'operator')
    return isAbsolute ? [] : complain('is not absolute; where a host starts the server is not known.');
  if (!isAbsolute && staysInside(root)) return [];
  return complain(
    'leads outside of the project, whose file can only narrow what is open: name folders inside it.',
  );
}

/** Whether no step of a relative path is above where it starts. */
function staysInside(path: string): boolean {
  let depth = 0;
  return path.split(/[/\\]/).every((step) => {
    if (step === '..') depth--;
    else if (step !== '' && step !== '.') depth++;
    return depth >= 0;
  });
}

/** What is wrong with rules and toolsets, whoever they are for. */
function namesComplaints(
  { rules = {}, toolsets = [] }: Written,
  path: Path,
  known: KnownNames | undefined,
): Complaint[] {
  const patterns = Object.entries(rules);
  return [
    ...(patterns.length > mostRules
      ? [{ path: [...path, 'rules'], says: `has more than ${mostRules}.` }]
      : []),
    ...patterns.flatMap(([pattern, decision]: [string, Decision]) => {
      const problem = ruleProblem(pattern, decision) ?? (known && unknownTool(pattern, known.tools));
      return problem === undefined ? [] : [{ path: [...path, 'rules', pattern], says: sentence(problem) }];
    }),
    ...toolsets.flatMap((name, at) => {
      if (known === undefined || known.toolsets.includes(name)) return [];
      const says = `${shown(name)}: there is no such toolset${meant(name, known.toolsets)}`;
      return [{ path: [...path, 'toolsets', at], says }];
    }),
  ];
}

/** Says nothing of what an address holds: there may be a password in it. */
function databaseComplaint([name, { engine, url, urlFrom }]: [string, DatabaseProfile]): Complaint[] {
  const path = ['databases', name];
  if (!/^[a-z][a-z0-9_-]{0,49}$/.test(name))
    return [
      {
        path,
        says: 'a name has small letters, digits, "_" and "-", begins with a letter and has at most 50.',
      },
    ];
  if ((url === undefined) === (urlFrom === undefined))
    return [{ path, says: 'needs either url, or urlFrom: the variable that holds it.' }];
  if (urlFrom !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(urlFrom))
    return [{ path: [...path, 'urlFrom'], says: 'expected the name of a variable, like "DATABASE_URL".' }];
  const schemes = engine === 'postgresql' ? ['postgresql:', 'postgres:'] : ['mysql:', 'mariadb:'];
  if (url === undefined || (URL.canParse(url) && schemes.includes(new URL(url).protocol))) return [];
  return [{ path: [...path, 'url'], says: `expected ${schemes[0]}//user@host/name.` }];
}

function complaintsOf(issue: z.core.$ZodIssue, schema: z.ZodObject): Complaint[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, mostComplaints)
      .map((key) => ({ path: [...path, key], says: unknownKey(key, path, schema) }));
  if (issue.code === 'too_small' && issue.minimum === 1 && ['array', 'string'].includes(issue.origin))
    return [{ path, says: 'is empty; leave it out to say nothing.' }];
  return [{ path, says: sentence(issue.message.replace(/^Invalid (?:input|option): /, '')) }];
}

/** Settings of earlier versions, and what says the same now. */
const successors: Readonly<Record<string, string>> = {
  effects: '"readOnly": true, or "rules": {"run(git push*)": "deny"}, says it for what is meant.',
  allow: '"rules": {"run(npm test*)": "allow"} says it for what is meant.',
  whenUnasked: '"questions": "none" is for where nobody is there; toolcrib trust FOLDER for one folder.',
  callsPerSecond: 'budgets.calls says how many go on at once.',
};

function unknownKey(key: string, path: Path, schema: z.ZodObject): string {
  if (Object.hasOwn(successors, key)) return `there is no such setting any more; ${successors[key]}`;
  if (path[0] === 'folders' && path.length === 2 && key === 'roots')
    return 'the folder itself is meant; "roots" beside "folders" are the folders that are open.';
  if (path.length === 0 && Object.hasOwn(operatorSchema.shape, key))
    return "only the operator can set it, in a file of their own: a project's file says nothing but less.";
  const known = keysAt(schema, path);
  return `there is no such setting${meant(key, known)} The settings are ${known.join(', ')}.`;
}

function keysAt(schema: z.core.$ZodType, [step, ...rest]: Path): string[] {
  if (schema instanceof z.ZodExactOptional)
    return keysAt(schema.unwrap(), step === undefined ? [] : [step, ...rest]);
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  const next: unknown =
    step !== undefined && Object.hasOwn(schema.shape, step) ? schema.shape[step] : undefined;
  return next === undefined ? Object.keys(schema.shape) : keysAt(next as z.core.$ZodType, rest);
}

const meant = (word: string, known: readonly string[]): string => {
  const best = nearest(word, known);
  return best === undefined ? '.' : `; did you mean ${best}?`;
};

const sentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`);

/** Where in the settings, for people. A project's file may have any keys: they are cut, and cannot command or hide. */
export const placeOf = (path: Path): string => path.map((step) => shown(String(step))).join('.');

function shown(text: string): string {
  const cut = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  if (!/[\p{C}\p{Z}"]/u.test(cut)) return cut;
  return JSON.stringify(cut).replaceAll(
    /[\p{C}\u2028\u2029]/gu,
    (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
