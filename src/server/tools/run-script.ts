import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import {
  defineTool,
  type CallContext,
  type Plan,
  type PlanContext,
  type Tool,
  type ToolResult,
} from '../../core/tool.ts';
import { namedProgram, type NamedProgram } from '../../machine/programs/named-program.ts';
import { runProgram } from '../../machine/actions/run-program.ts';
import { projectFolders } from '../../machine/programs/project-folders.ts';
import type { OwnServices } from '../own-tools.ts';
import { anyProgram } from './run-command.ts';

interface Language {
  /** Names of the program that reads it, best first. */
  readonly programs: readonly string[];
  readonly leading: readonly string[];
  fileName(script: string): string;
  /** What the file begins with. */
  readonly mark?: string;
}

const languages = {
  bash: { programs: ['bash'], leading: ['--noprofile', '--norc'], fileName: () => 'script.sh' },
  powershell: {
    programs: ['pwsh', 'powershell'],
    leading: ['-NoLogo', '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File'],
    fileName: () => 'script.ps1',
    // Without it Windows PowerShell takes a script for the system's own code page.
    mark: '\ufeff',
  },
  python: { programs: ['python3', 'python', 'py'], leading: [], fileName: () => 'script.py' },
  node: {
    programs: ['node'],
    leading: [],
    // The ending decides what `import` and `require` mean.
    fileName: (script) => (/^\s*(?:import|export)\b/m.test(script) ? 'script.mjs' : 'script.cjs'),
  },
} satisfies Record<string, Language>;

type LanguageName = keyof typeof languages;

const params = z.strictObject({
  language: z.enum(['bash', 'powershell', 'python', 'node']).describe('What it is written in'),
  script: z.string().min(1).describe('The whole script; the person sees it'),
  cwd: z.string().min(1).optional(),
});

/**
 * Runs a script that was written for it, once a person has seen it; offered only where the operator has turned it on.
 */
export const runScript = (services: OwnServices): Tool =>
  defineTool({
    name: 'run_script',
    program: 'toolcrib',
    title: 'Run a script',
    description: 'Runs a script; the person is shown it and asked.',
    effects: ['write', 'execute', 'network', 'publish', 'destroy'],
    params,
    plan: (given, context) => planScript(given, services, context),
    run: ({ work }, context) => runScriptOf(work, services, context),
  });

interface PreparedScript {
  readonly given: z.output<typeof params>;
  readonly interpreter: NamedProgram;
  readonly folder: string;
}

async function planScript(
  given: z.output<typeof params>,
  services: OwnServices,
  context: PlanContext,
): Promise<Plan<PreparedScript>> {
  const { language, script, cwd } = given;
  if (script.includes('\0'))
    throw new ToolcribError('ARG_INVALID', 'script: contains a NUL character.', 'Leave it out.');
  const { workspace } = context;
  const folder =
    cwd === undefined ? workspace.home : await workspace.resolve(cwd, { kind: 'folder', mustExist: true });
  const interpreter = await interpreterOf(language, folder, context, services);
  const lines = script.trimEnd().split('\n').length;
  return {
    effects: ['write', 'execute', 'network', 'publish', 'destroy'],
    // All of it: a rule that fits one script must not fit the next.
    subject: `${language} script (${lines} ${lines === 1 ? 'line' : 'lines'}): ${script.trimEnd()}`,
    folder,
    touches: [],
    asks: 'script',
    preview: script,
    takenBack: false,
    exactly: JSON.stringify([given, interpreter, folder]),
    work: { given, interpreter, folder },
  };
}

async function runScriptOf(
  { given: { language, script }, interpreter, folder }: PreparedScript,
  services: OwnServices,
  context: CallContext,
): Promise<ToolResult> {
  const { program, leading } = interpreter;
  const { leading: own } = languages[language];
  const env = services.environment([], {});
  const project = await projectFolders(context.workspace.roots);
  return withScript(languages[language], script, (file) =>
    runProgram(
      {
        program,
        argv: [...leading, ...own, file],
        folder,
        env: { ...env, PATH: project.pathWithout(env['PATH'] ?? '') },
        command: `${language} script`,
        notes: [],
        keeps: services.checkpoint ? 'first' : 'no',
        lasts: true,
      },
      anyProgram,
      context,
      services,
    ),
  );
}

async function interpreterOf(
  language: LanguageName,
  folder: string,
  { workspace }: PlanContext,
  { host, discovery }: OwnServices,
): Promise<NamedProgram> {
  const { path } = await discovery();
  const { programs } = languages[language];
  for (const name of programs) {
    try {
      return await namedProgram(name, { folder, workspace, host, path });
    } catch (error) {
      if (!(error instanceof ToolcribError && error.code === 'PROGRAM_NOT_FOUND')) throw error;
    }
  }
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `language: there is no ${programs.join(' or ')} on this machine.`,
    'toolcrib doctor tells where it was looked for.',
  );
}

/** Does something with the script in a file that nobody else can read, which is gone afterwards. */
async function withScript<T>(
  language: Language,
  script: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  // mkdtemp makes it for this user alone.
  const folder = await mkdtemp(join(tmpdir(), 'toolcrib-script-'));
  try {
    const file = join(folder, language.fileName(script));
    await writeFile(file, (language.mark ?? '') + script, { flag: 'wx', mode: 0o600 });
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
