import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { printable, renderArgv } from '../../src/core/argv.ts';
import {
  effects,
  toolName,
  type AnyAction,
  type AnyDiscoverer,
  type Arg,
  type QueryAction,
} from '../../src/core/discoverer.ts';
import { ToolcribError } from '../../src/core/errors.ts';
import { pathFacts, pathKind } from '../../src/core/params.ts';
import { annotationsOf } from '../../src/core/tool.ts';
import { discoverers } from '../../src/discoverers/index.ts';
import { describeAction } from '../../src/machine/actions/action-tool.ts';

const all: [string, AnyDiscoverer][] = await Promise.all(
  Object.entries(discoverers).map(async ([id, load]): Promise<[string, AnyDiscoverer]> => [
    id,
    (await load()) as AnyDiscoverer,
  ]),
);
const actions = all.flatMap(([, discoverer]) =>
  Object.entries(discoverer.actions).map(([name, action]) => ({
    tool: toolName(discoverer, name),
    discoverer,
    name,
    action,
  })),
);

/** Variables by which a program runs code, or takes another program's place. */
const runsCode =
  /^(?:PATH|LD_.*|DYLD_.*|BASH_.*|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|IFS|ZDOTDIR|NODE_(?:OPTIONS|PATH)|npm_config_(?:node_options|(?:script_)?shell|git)|PYTHON.*|PERL5.*|RUBY(?:OPT|LIB)|.*JAVA_(?:TOOL_)?OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS|COR.*_PROFILER.*|RUSTC.*|(?:GNU)?MAKE(?:FLAGS|FILES)|MFLAGS|GIT_(?:SSH.*|EXTERNAL_DIFF|PROXY_COMMAND|ASKPASS|CONFIG|CONFIG_(?:COUNT|KEY|VALUE|PARAMETERS).*|.*EDITOR|PAGER|EXEC_PATH|TEMPLATE_DIR)|EDITOR|VISUAL|(?:MAN)?PAGER|LESS(?:OPEN|CLOSE)|BROWSER|.*ASKPASS)$/i;

it.each(all)(
  'ATTACK 94: %s inherits no variable that makes a program run code',
  (_, { environment = [] }) => {
    expect(environment.filter((name) => runsCode.test(name) || name.includes('*'))).toEqual([]);
  },
);

function argvOf(action: AnyAction): readonly Arg[] {
  if ('argv' in action) return action.argv;
  return 'template' in action ? (action.template as readonly Arg[]) : [];
}

/** What an action does with these values, as its example says it. */
function runsWith(discoverer: AnyDiscoverer, action: AnyAction, values: Record<string, unknown>): string {
  if ('reads' in action) return `reads ${action.reads.join(', ')}`;
  if ('asks' in action) return asked(action, values);
  const argv = renderArgv(argvOf(action), values);
  if (!('client' in action))
    return printable([discoverer.programs[0] ?? '', ...(discoverer.prefix ?? []), ...argv]);
  const output = action.writes === undefined ? '' : ` > ${String(values[action.writes as string])}`;
  return printable([action.client[0] ?? '', ...argv]) + output;
}

function asked({ database, asks }: QueryAction, values: Record<string, unknown>): string {
  if ('query' in asks) return `asks ${database}: ${String(values[asks.query])}`;
  if ('explain' in asks) return `asks ${database} to explain: ${String(values[asks.explain])}`;
  const given = asks.binds.map((name) => String(values[name])).join(', ');
  return `asks ${database} for ${Object.keys(asks.lists).join(', ')}${given && ` (${given})`}`;
}
const schemaOf = (action: AnyAction) => z.strictObject(action.params as Record<string, z.ZodType>);

/** Every parameter with a value of its own type, `hostile` wherever text goes. */
function valuesWith(action: AnyAction, hostile: string): Record<string, unknown> {
  const json = z.toJSONSchema(schemaOf(action), { io: 'input' });
  return Object.fromEntries(
    Object.entries(json.properties ?? {}).map(([name, property]) => {
      const schema = property as { type?: string; minimum?: number; enum?: unknown[]; default?: unknown };
      if (schema.enum) return [name, schema.enum[0]];
      if (schema.type === 'array') return [name, [hostile]];
      if (schema.type === 'integer' || schema.type === 'number')
        return [name, schema.default ?? schema.minimum ?? 1];
      return [name, schema.type === 'boolean' ? true : hostile];
    }),
  );
}

describe.each(all)('%s', (id, discoverer) => {
  it('has the id it is listed under', () => {
    expect(discoverer.id).toBe(id);
    expect(id).toMatch(/^[a-z][a-z0-9_]{0,19}$/);
  });

  it('says how to get it on every platform it runs on', () => {
    expect(Object.values(discoverer.install).filter((hint) => hint.length > 3).length).toBeGreaterThan(0);
    expect(discoverer.homepage).toMatch(/^https:\/\//);
  });

  it('has a version pattern with one group, without flags', () => {
    if (!discoverer.version) return;
    expect(discoverer.version.pattern.flags).toBe('');
    expect(new RegExp(`${discoverer.version.pattern.source}|`).exec('')?.length).toBe(2);
  });
});

describe.each(actions)('$tool', ({ tool, discoverer, name, action }) => {
  it('has a name, title and description that every host takes', () => {
    expect(tool).toMatch(/^[a-z][a-z0-9_]{0,49}$/);
    expect(action.title.length).toBeLessThanOrEqual(60);
    expect(action.description).toMatch(/^[A-Z].*\.$/s);
    expect(action.description.length).toBeLessThanOrEqual(300);
  });

  it('runs what its example says', () => {
    const values = schemaOf(action).parse(action.example.given ?? {});
    expect(action.example.runs).toBe(runsWith(discoverer, action, values));
  });

  it('describes every parameter', () => {
    const json = z.toJSONSchema(describeAction(discoverer, name, action).params, { io: 'input' });
    for (const [param, property] of Object.entries(json.properties ?? {})) {
      // What cwd is stands in the instructions of the server, once for all.
      if (param !== 'cwd') expect((property as { description?: string }).description, param).toBeTruthy();
      expect(param).toMatch(/^[a-z][a-z0-9_]*$/);
    }
    expect(Object.keys(action.params)).not.toContain('cwd');
  });

  it('refuses parameters it does not have', () => {
    const given = { ...(action.example.given as object | undefined), no_such_parameter: 1 };
    expect(describeAction(discoverer, name, action).params.safeParse(given).success).toBe(false);
  });

  it('declares its effects', () => {
    expect(action.effects.length).toBeGreaterThan(0);
    for (const effect of action.effects) expect(effects).toContain(effect);
    const annotations = annotationsOf(action.effects);
    if (annotations.readOnlyHint) expect(annotations.destructiveHint).toBe(false);
    // Code of the project can do anything, and what others have seen stays seen.
    const dangerous = action.effects.some((effect) => ['destroy', 'execute', 'publish'].includes(effect));
    expect(annotations.destructiveHint).toBe(dangerous);
    expect(annotations.readOnlyHint).toBe(
      action.effects.every((effect) => effect === 'read' || effect === 'network'),
    );
    if (action.effects.includes('network')) expect(annotations.openWorldHint).toBe(true);
    if (action.effects.includes('read')) expect(['read', 'read,network']).toContain(String(action.effects));
    if ('reads' in action) expect(action.effects).toEqual(['read']);
    if ('takenBack' in action) expect(action.effects).toContain('destroy');
  });

  it('never turns a value into an option', () => {
    for (const hostile of ['--upload-pack=evil', '-x', '-']) {
      const values = valuesWith(action, hostile);
      const rest = argvOf(action).flatMap((arg) =>
        typeof arg === 'object' && 'rest' in arg ? [arg.rest] : [],
      );
      const given = Object.fromEntries(Object.entries(values).filter(([name]) => !rest.includes(name)));
      let argv: string[] = [];
      try {
        argv = renderArgv(argvOf(action), given);
      } catch (error) {
        expect(error).toBeInstanceOf(ToolcribError);
        expect((error as ToolcribError).code).toBe('ARG_FLAG');
      }
      expect(argv.filter((arg) => arg === hostile || arg.startsWith(`${hostile} `))).toEqual([]);
    }
  });

  it('keeps every value in one argument', () => {
    const hostile = 'a; rm -rf ~ $(touch x) `y` | z\n"q"';
    const argv = renderArgv(argvOf(action), valuesWith(action, hostile));
    for (const arg of argv.filter((item) => item.includes('rm -rf'))) expect(arg).toContain(hostile);
  });

  it('passes arguments through only to code it declares to run', () => {
    const passes = argvOf(action).findIndex((arg) => typeof arg === 'object' && 'rest' in arg);
    if (passes < 0) return;
    expect(action.effects).toContain('execute');
    expect(passes).toBe(argvOf(action).length - 1);
  });

  it('parses exactly when it has a result', () => {
    const answers = action.result !== undefined && !('asks' in action);
    expect(action.parse !== undefined).toBe(answers || 'reads' in action);
    if (action.result)
      expect(Object.keys(action.result.shape)).not.toEqual(expect.arrayContaining(['omitted', 'notes']));
  });

  it('puts every parameter to use', () => {
    if ('reads' in action) return;
    // Where to ask is the business of what connects.
    const connects = 'database' in action ? ['profile', 'database', 'writes' in action && action.writes] : [];
    const used = JSON.stringify(['asks' in action ? action.asks : argvOf(action), connects]);
    for (const name of Object.keys(action.params)) expect(used).toContain(`"${name}"`);
  });

  it('has a path parameter wherever a name says path', () => {
    for (const [name, schema] of Object.entries(action.params as Record<string, z.ZodType>)) {
      if (/(?:^|_)(?:path|paths|folder|directory|dir|dockerfile)$/.test(name)) {
        expect(pathKind(schema), name).toBeTruthy();
      }
    }
  });
});

it('marks the paths that are made or replaced', () => {
  const written = actions.flatMap(({ tool, action }) =>
    Object.entries(action.params as Record<string, z.ZodType>).flatMap(([name, schema]) =>
      pathFacts(schema)?.written === true ? [`${tool} ${name}`] : [],
    ),
  );
  expect(written).toEqual([
    'cmake_configure build',
    'cmake_build build',
    'ctest_list build',
    'ctest_run build',
    'git_stash paths',
    'git_restore paths',
    'mysql_dump path',
    'psql_dump path',
  ]);
});

it('gives every tool its own name', () => {
  const names = actions.map(({ tool }) => tool);
  expect(new Set(names).size).toBe(names.length);
});

it('ATTACK 9, 12, 15: offers nothing that hands git a command or changes its configuration', () => {
  const first = actions
    .filter(({ discoverer }) => discoverer.id === 'git')
    .map(({ action }) => String(argvOf(action)[0]));
  for (const forbidden of [
    'config',
    'rebase',
    'bisect',
    'submodule',
    'difftool',
    'mergetool',
    'archive',
    'init',
    'clone',
  ]) {
    expect(first).not.toContain(forbidden);
  }
});
