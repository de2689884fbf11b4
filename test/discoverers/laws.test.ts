import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { effects } from '../../src/core/discoverer.ts';
import { ToolcribError } from '../../src/core/errors.ts';
import type { Param, Params } from '../../src/core/parameter.ts';
import { pathFacts } from '../../src/core/params.ts';
import type { Values } from '../../src/core/command-line.ts';
import { roles, type ProgramAction, type Role } from '../../src/core/program.ts';
import { annotationsOf, textOf } from '../../src/core/tool.ts';
import { programResult, saidNothing } from '../../src/machine/actions/action-result.ts';
import { describeAction, schemaOf } from '../../src/machine/actions/describe.ts';
import { values, valuesOf } from './any-values.ts';
import {
  allActions,
  allPrograms,
  alternativesOf,
  answersOf,
  exampleLines,
  exampleValues,
  linesOf,
  readsOf,
  stepsOf,
  written,
  type NamedAction,
} from './programs.ts';

/** Variables by which a program runs code, or takes another program's place. */
const runsCode =
  /^(?:PATH|LD_.*|DYLD_.*|BASH_.*|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|ZDOTDIR|NODE_(?:OPTIONS|PATH)|npm_config_(?:node_options|(?:script_)?shell|git)|PYTHON.*|PERL5.*|RUBY(?:OPT|LIB)|.*JAVA_(?:TOOL_)?OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS|COR.*_PROFILER.*|RUSTC.*|(?:GNU)?MAKE(?:FLAGS|FILES)|MFLAGS|GIT_(?:SSH.*|EXTERNAL_DIFF|PROXY_COMMAND|ASKPASS|CONFIG|CONFIG_(?:COUNT|KEY|VALUE|PARAMETERS).*|.*EDITOR|PAGER|EXEC_PATH|TEMPLATE_DIR)|EDITOR|VISUAL|(?:MAN)?PAGER|LESS(?:OPEN|CLOSE)|BROWSER|.*ASKPASS)$/i;

const isEnum = (schema: z.core.$ZodType): boolean => {
  const { type, innerType } = schema._zod.def as { type: string; innerType?: z.ZodType };
  return innerType ? isEnum(innerType) : type === 'enum';
};
/** The same call with other texts and numbers: what differs in its arguments is where values stand. */
const replaced = (params: Params, from: Values, text: string, number: number): Values =>
  Object.fromEntries(
    Object.entries(from).map(([key, value]) => {
      const other = (one: unknown) =>
        typeof one === 'string' ? text : typeof one === 'number' ? number : one;
      const kept = isEnum(params[key]!.schema);
      return [key, kept ? value : Array.isArray(value) ? value.map(other) : other(value)];
    }),
  );
function commonStart(one: string, other: string): string {
  let end = 0;
  while (end < one.length && one[end] === other[end]) end += 1;
  return one.slice(0, end);
}

/** What checks or formats a whole project, or packages of it, and cannot be told which files. */
const wholeOnly = new Set([
  ...['cargo_check', 'cargo_clippy', 'cargo_format', 'dotnet_format', 'tsc_types'],
  ...['terraform_validate', 'tofu_validate'],
]);
/** Kinds that answer a role's question. */
const roleOf: Readonly<Record<string, readonly (Role | undefined)[]>> = {
  tests: ['test'],
  tasks: ['tasks'],
  packages: ['list', 'outdated'],
  advisories: ['audit'],
  rows: ['query'],
  tables: ['tables', undefined],
  columns: ['describe'],
};

type Line = ReturnType<typeof linesOf>[number][1];

/** Whether a call was written; a value that is refused is none. */
function obeys({ of, action, params }: NamedAction, line: Line, call: Values): boolean {
  const words = Object.keys(params).find((key) => params[key]?.place === 'words');
  const argvOf = (from: Values) => written(of, action, line, from).argv;
  let whole: readonly string[];
  try {
    whole = argvOf(call);
  } catch (error) {
    expect(error).toBeInstanceOf(ToolcribError);
    return false;
  }
  const without = { ...call, ...(words && { [words]: [] }) };
  const argv = argvOf(without);
  const [here, there] = [
    argvOf(replaced(params, without, 'x', 1)),
    argvOf(replaced(params, without, 'yy', 22)),
  ];
  expect(argv, 'a value became two arguments, or none').toHaveLength(here.length);
  for (const [at, arg] of argv.entries()) {
    const [left = '', right = ''] = [here[at], there[at]];
    if (left === right) {
      expect(arg, 'a fixed word changed').toBe(left);
      continue;
    }
    const start = commonStart(left, right);
    expect(arg.startsWith(start), `${arg} lost ${start}`).toBe(true);
    // No value becomes an option, or a file of options.
    if (start === '') for (const mark of of.marks ?? '-') expect(arg.startsWith(mark), arg).toBe(false);
  }
  // Words are passed on whole, together, and nothing else is.
  const passed = words ? (call[words] as string[]) : [];
  const dashes = whole.length - argv.length - passed.length;
  expect([0, 1]).toContain(dashes);
  if (passed.length === 0) return true;
  const at = whole.findIndex(
    (_, from) =>
      passed.every((word, next) => whole[from + next] === word) && (dashes === 0 || whole[from - 1] === '--'),
  );
  expect(at).toBeGreaterThanOrEqual(0);
  return true;
}

it.each(allPrograms)('$of.id inherits no variable that makes a program run code (ATTACK 94)', ({ of }) => {
  const { environment = [] } = of;
  expect(environment.filter((name) => runsCode.test(name) || name.includes('*'))).toEqual([]);
});

it.each(allPrograms)('$of.id has an id, a page, and a version pattern with one group', ({ of }) => {
  expect(of.id).toMatch(/^[a-z][a-z0-9_]{0,19}$/);
  expect(of.site).toMatch(/^https:\/\//);
  if (typeof of.version !== 'object') return;
  expect(of.version.pattern.flags).toBe('');
  expect(new RegExp(`${of.version.pattern.source}|`).exec('')?.length).toBe(2);
});

describe.each(allActions)('$tool', (named) => {
  const { tool, of, key, action, params } = named;
  const lines = linesOf(action);

  it('has a name, title and description that every host takes', () => {
    expect(tool).toMatch(/^[a-z][a-z0-9_]{0,49}$/);
    expect(action.title.length).toBeLessThanOrEqual(60);
    expect(action.description).toMatch(/^[A-Z].*\.$/s);
    expect(action.description.length).toBeLessThanOrEqual(160);
  });

  it('describes every parameter, and refuses others', () => {
    const described = describeAction(of, key, action).params;
    const json = z.toJSONSchema(described, { io: 'input' });
    for (const [param, property] of Object.entries(json.properties ?? {})) {
      // What cwd is stands in the instructions of the server, once for all.
      if (param !== 'cwd') expect((property as { description?: string }).description, param).toBeTruthy();
      expect(param).toMatch(/^[a-z][a-z0-9_]*$/);
    }
    expect(Object.keys(params)).not.toContain('cwd');
    expect(described.safeParse({ ...(action.given as object), no_such_parameter: 1 }).success).toBe(false);
  });

  it('declares its effects', () => {
    expect(action.effects.length).toBeGreaterThan(0);
    for (const effect of action.effects) expect(effects).toContain(effect);
    const annotations = annotationsOf(action.effects);
    // Code of the project can do anything, and what others have seen stays seen.
    const dangerous = action.effects.some((effect) => ['destroy', 'execute', 'publish'].includes(effect));
    expect(annotations.destructiveHint).toBe(dangerous);
    expect(annotations.readOnlyHint).toBe(
      action.effects.every((effect) => effect === 'read' || effect === 'network'),
    );
    if (action.effects.includes('network')) expect(annotations.openWorldHint).toBe(true);
    if (action.effects.includes('read')) expect(['read', 'read,network']).toContain(String(action.effects));
    if (readsOf(action)) expect(action.effects).toEqual(['read']);
    const { undo, preview } = stepsOf(action);
    if (undo) expect(action.effects).toContain('destroy');
    if (preview)
      expect(action.effects.some((each) => ['write', 'publish', 'destroy'].includes(each))).toBe(true);
  });

  it('has an example that can be written', () => {
    const example = exampleLines(named);
    expect(example.every((line) => line.length > 0 && !/undefined|\[object/.test(line))).toBe(true);
  });

  it.each(lines)('%s: no value becomes an option or two arguments', (_, line) => {
    let accepted = 0;
    fc.assert(
      fc.property(valuesOf(params), (call) => {
        const parsed = schemaOf(params).safeParse(call);
        if (parsed.success && obeys(named, line, parsed.data)) accepted += 1;
      }),
      { numRuns: Number(process.env['RUNS'] ?? 60), seed: 7 },
    );
    expect(accepted, 'calls that were not refused').toBeGreaterThan(0);
  });

  it('puts every parameter to use', () => {
    const own = lines.filter(([name]) => name === 'run' || name === 'before');
    if (own.length === 0 || alternativesOf(action)) return;
    const call = exampleValues(named);
    const writtenWith = (all: typeof call) =>
      JSON.stringify(own.map(([, line]) => written(of, action, line, all)));
    const base = writtenWith(call);
    for (const [name, { place, schema }] of Object.entries<Param>(params)) {
      if (place === 'aside') continue;
      const isUsed = fc.sample(values(schema), { numRuns: 60, seed: 3 }).some((value) => {
        try {
          return value !== undefined && writtenWith({ ...call, [name]: value }) !== base;
        } catch {
          return false; // One that is refused.
        }
      });
      expect(isUsed, `${name} changes nothing`).toBe(true);
    }
  });

  it('passes arguments through only to code it declares to run', () => {
    if (Object.values<Param>(params).some(({ place }) => place === 'words'))
      expect(action.effects).toContain('execute');
  });

  it('leaves nothing running but the window of an editor', () => {
    // All else ends with its call, or is a job.
    const { stays } = action as Partial<ProgramAction>;
    if (stays === 'window') expect(of.category).toBe('editor');
    if (stays !== 'job') return;
    // An action that only looks is no job.
    expect(action.effects.some((effect) => effect !== 'read' && effect !== 'network')).toBe(true);
  });

  it('is a job where it says that it serves', () => {
    if (action.effects.includes('read')) return;
    const [line = ''] = exampleLines(named);
    // A word of its own command line, and not the name of a file or task.
    const listens =
      /^(?:\w+ )?(?:dev|lab|notebook|port-forward|preview|proxy|serve|server|start|watch)(?: |$)/;
    const words = line.split(' ').slice(1).join(' ');
    // Started by its engine, and stopped by it.
    if (listens.test(words) && of.category !== 'container' && of.id !== 'git')
      expect(action).toMatchObject({ stays: 'job' });
    if (/\b(?:serves?|listens?|development server)\b/i.test(`${action.title} ${action.description}`))
      expect(action).toMatchObject({ stays: 'job' });
  });

  it('has a path parameter wherever a name says path', () => {
    for (const [name, { schema }] of Object.entries<Param>(params))
      if (/(?:^|_)(?:path|paths|folder|directory|dir|dockerfile)$/.test(name))
        expect(pathFacts(schema), name).toBeTruthy();
  });

  it('keeps the contract of its role', () => {
    if (!action.role) return;
    const { kind, needs } = roles[action.role] as { kind?: string; needs: readonly string[] };
    expect(Object.keys(params)).toEqual(expect.arrayContaining([...needs]));
    if (kind) expect(answersOf(action)[0]?.out?.kind).toBe(kind);
    if (['test', 'lint', 'types', 'format'].includes(action.role) && !wholeOnly.has(tool))
      expect(z.safeParse(params['only']?.schema ?? z.never(), ['a']).success, 'only').toBe(true);
    // Whoever calls by a role alone knows no other names.
    const required = Object.keys(params).filter((key) => !params[key]!.schema.safeParse(undefined).success);
    expect(['only', 'database', 'task', 'package', 'packages', 'sql', 'table']).toEqual(
      expect.arrayContaining(required),
    );
    for (const [name, param] of Object.entries<Param>(params))
      if (action.role === 'add' && param.schema.safeParse(true).success)
        if (/\bdev/.test(String(param.write(true, String)))) expect(name).toBe('dev');
  });

  it('has the role that its answer shows', () => {
    const role = roleOf[action.out?.kind ?? ''];
    // pip_list has it for the packages of Python.
    if (role && of.category !== 'editor' && tool !== 'python_pip_list') expect(role).toContain(action.role);
  });

  it('shows what it cannot read, and is never silent', async () => {
    const given = { values: exampleValues(named), files: {}, after: {} };
    for (const { out, ok } of answersOf(action))
      for (const stdout of [
        '',
        '{',
        '[]',
        '{}',
        'Fehler: keine Verbindung\n',
        '<?xml version="1.0"?><a',
        '\uFEFF\0',
      ])
        for (const exitCode of [0, 1]) {
          const result = await programResult(
            outcomeOf(stdout, 'warning: x', exitCode),
            { ok, report: out, rest: () => Promise.resolve(given) },
            { command: tool, notes: [] },
          ).catch((error: unknown) => {
            // Some readers know better than the text what is wrong.
            expect(error).toBeInstanceOf(ToolcribError);
            return { content: [{ type: 'text' as const, text: String(error) }] };
          });
          expect(result.content?.map((part) => ('text' in part ? part.text : '')).join('')).not.toBe('');
        }
  });
});

const stream = (text: string, omittedBytes = 0) => ({ text, bytes: Buffer.from(text), omittedBytes });
const outcomeOf = (stdout: string, stderr: string, exitCode: number, omittedBytes = 0) => ({
  exitCode,
  stdout: stream(stdout, omittedBytes),
  stderr: stream(stderr),
  durationMs: 1,
  ended: 'exited' as const,
});

/** Whose exit code alone tells how it went: what else they say is what they do. */
const builds = new Set([
  ...[
    'cmake_build',
    'cmake_build_preset',
    'dotnet_build',
    'dotnet_format',
    'go_build',
    'go_vet',
    'vite_build',
  ],
  ...['gradle_build', 'maven_compile', 'javac_compile', 'make_build', 'msbuild_build', 'msbuild_rebuild'],
  ...['msbuild_restore', 'msbuild_clean', 'visual_studio_build', 'visual_studio_rebuild'],
  ...['visual_studio_clean', 'gcc_compile', 'gcc_check', 'gxx_compile', 'gxx_check', 'clang_compile'],
  ...['clang_check', 'clangxx_compile', 'clangxx_check'],
]);
const cutOff = [
  '[{"name": "a", "val',
  '{"name": "a"}\n{"na',
  '<?xml version="1.0"?><testsuites><testsuite><testcase name="a"/><testc',
];
const garbage = [
  'Segmentation fault\n',
  'Fehler: keine Verbindung\n',
  '<html>502</html>\n',
  '[+] Running 1/1\n',
];
const refused = 'error: cannot connect: connection refused\n';
type Broken = [what: string, outcome: ReturnType<typeof outcomeOf>, files?: Record<string, string>];
const broken = ({ tool, action }: NamedAction): Broken[] => [
  ['fails without a word', outcomeOf('', '', 1)],
  ...((action as Partial<ProgramAction>).ok ?? [0])
    .filter((code) => code !== 0)
    .flatMap((code): Broken[] => [
      [`ends with ${code} without a word`, outcomeOf('', '', code)],
      [`ends with ${code} and a complaint`, outcomeOf('', refused, code)],
      [`ends with ${code} and an empty list`, outcomeOf('[]', '', code)],
    ]),
  ['succeeds, and complains', outcomeOf('', refused, 0)],
  ['is too long to be read', outcomeOf('[]', '', 0, 1)],
  ...(builds.has(tool)
    ? []
    : garbage.map((text): Broken => [`says ${JSON.stringify(text)}`, outcomeOf(text, '', 0)])),
  ...cutOff.flatMap((text): Broken[] => [
    ...(builds.has(tool) ? [] : [[`is cut off: ${text}`, outcomeOf(text, '', 0)] satisfies Broken]),
    [`has a report that is cut off: ${text}`, outcomeOf('', '', 0), { 'report.xml': text }],
  ]),
];

describe.each(allActions.filter(({ action }) => answersOf(action)[0]?.out))('$tool', (named) => {
  const { tool, action } = named;
  it.each(broken(named))('is never green or empty when it %s', async (_, outcome, files = {}) => {
    for (const { out, ok } of answersOf(action)) {
      const isFiled = Object.keys(files).length > 0;
      // What reads no report file has only been silent.
      if (!out || (isFiled && out.kind !== 'tests')) continue;
      const after = Object.fromEntries(
        Object.keys(stepsOf(action).after ?? {}).map((key) => [key, outcome.stdout.text]),
      );
      const rest = () => Promise.resolve({ values: exampleValues(named), files, after });
      const answers = { ok, report: out, rest };
      const result = await programResult(outcome, answers, { command: tool, notes: [] }).catch(
        (error: unknown) => {
          expect(error).toBeInstanceOf(ToolcribError);
          return { isError: true, content: [{ type: 'text' as const, text: String(error) }], data: {} };
        },
      );
      const text = textOf(result);
      expect(text).not.toBe('');
      if (result.isError) continue;
      const { total, failed } = (result.data ?? {}) as Record<string, unknown>;
      expect(text).not.toBe(saidNothing);
      expect([total, failed]).not.toContain(0);
    }
  });
});

it('gives every tool its own name, and every action its own title', () => {
  const names = allActions.map(({ tool }) => tool);
  expect(new Set(names).size).toBe(names.length);
  const titles = allActions.map(({ action }) => action.title);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});

it('writes what it wrote before', async () => {
  const lines = allActions.flatMap((named) => exampleLines(named).map((line) => `${named.tool}: ${line}`));
  const text = lines.map((line) => line.replaceAll('\0', '').replaceAll('\n', '⏎')).join('\n');
  await expect(`${text}\n`).toMatchFileSnapshot('examples.txt');
});

it('has one shape for each kind', () => {
  const shapes = new Map<string, z.ZodType>();
  for (const { action } of allActions)
    for (const { out } of answersOf(action))
      if (out && !['data', 'text', 'entries'].includes(out.kind))
        expect(shapes.set(out.kind, shapes.get(out.kind) ?? out.result).get(out.kind)).toBe(out.result);
});

it('marks the paths that are made or replaced', () => {
  const written = allActions.flatMap(({ tool, params }) =>
    Object.entries<Param>(params).flatMap(([name, { schema }]) =>
      pathFacts(schema)?.written === true ? [`${tool} ${name}`] : [],
    ),
  );
  expect(written).toMatchSnapshot();
});
