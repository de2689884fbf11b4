import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ToolcribError } from '../core/errors.ts';
import type { Platform } from '../core/discoverer.ts';
import { stateFolder } from '../machine/folders.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import { createTrust, type Trust, type TrustState } from '../machine/trust/trust.ts';
import { styler } from './table.ts';
import { changeLines, projectLines, runLines } from './trust-lines.ts';
import { parseCommandLine, UsageError, workingFolder } from './usage.ts';

/** What `toolcrib trust` works with; replaced in tests. */
export interface TrustWorld {
  readonly trust: Trust;
  print(text: string): void;
  readonly colour: boolean;
  /** Asks the person; undefined when there is no terminal to ask on. */
  readonly ask?: (question: string) => Promise<string>;
}

const options = {
  yes: { type: 'boolean' },
  list: { type: 'boolean' },
  revoke: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/**
 * `toolcrib trust [FOLDER]`: shows what would run in a project, and trusts it when the person says so; with --list all that
 * are trusted, with --revoke no more. Exit code 1 when it was not done.
 */
export async function trustCommand(args: string[], world: TrustWorld = thisTerminal()): Promise<number> {
  const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
  if (positionals.length > 1) throw new UsageError('trust: one folder at a time.');
  if (values.list && (values.revoke || values.yes || positionals.length > 0))
    throw new UsageError('--list takes nothing else but --json.');
  if (values.revoke && values.yes) throw new UsageError('--revoke asks nothing; leave --yes out.');
  try {
    if (values.list) return await list(world, values.json === true);
    const given = resolve(positionals[0] ?? workingFolder());
    if (values.revoke) return await revoke(given, world, values.json === true);
    return await trustFolder(given, world, values);
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    process.stderr.write(`toolcrib: ${error.code}: ${error.message}\n`);
    return 1;
  }
}

function thisTerminal(): TrustWorld {
  const folder = stateFolder(process.platform as Platform, process.env, homedir());
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return {
    trust: createTrust({ folder }),
    print: (text) => process.stdout.write(text),
    colour: process.stdout.isTTY === true && !process.env['NO_COLOR'],
    ...(interactive && { ask }),
  };
}

/** What is typed; nothing when the input ends instead. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new Promise<string>((end) => lines.once('close', () => end('')));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

async function list({ trust, print, colour }: TrustWorld, json: boolean): Promise<number> {
  const { projects, damaged } = await trust.list();
  if (json) print(asJson({ projects, damaged }));
  else print(projectLines(projects, damaged, styler(colour)));
  return 0;
}

async function revoke(given: string, { trust, print }: TrustWorld, json: boolean): Promise<number> {
  // What was trusted may be gone by now; then it is known by the path it had.
  const project = await realpath(given).catch(() => given);
  const revoked = trust.revoke(project);
  if (json) print(asJson({ project, revoked }));
  else print(`${shownPath(project)}: ${revoked ? 'is not trusted any more.' : 'was not trusted.'}\n`);
  return revoked ? 0 : 1;
}

async function trustFolder(
  given: string,
  world: TrustWorld,
  { yes = false, json = false }: { yes?: boolean | undefined; json?: boolean | undefined },
): Promise<number> {
  const project = await realpath(given).catch(() => undefined);
  if (project === undefined || !(await stat(project)).isDirectory())
    throw new UsageError(`${shownPath(given)}: there is no such folder.`);
  const { trust, print } = world;
  const state = await trust.stateOf(project);
  if (state.untrustable !== undefined)
    throw new UsageError(`${shownPath(state.untrustable)}; trust the projects in it, one by one.`);
  const done = (trusted: boolean) => {
    if (json) print(asJson({ project, ...state, trusted }));
    return trusted ? 0 : 1;
  };
  // Asking for JSON alone is looking.
  if (json && !yes) return done(state.trusted);
  if (!json) print(describe(project, state, world));
  if (state.trusted) return done(true);
  if (!yes && !(await isAgreed(world))) {
    print('It is not trusted.\n');
    return 1;
  }
  await trust.trust(project, state.digest);
  if (!json)
    print(`It is trusted until something of this changes. toolcrib trust --revoke takes that back.\n`);
  return done(true);
}

async function isAgreed({ ask: question }: TrustWorld): Promise<boolean> {
  if (!question)
    throw new UsageError('there is no terminal to ask on; --yes trusts what is shown here without asking.');
  return /^\s*y(?:es)?\s*$/i.test(await question('Trust this project? [y/N] '));
}

function describe(project: string, state: TrustState, { colour }: TrustWorld): string {
  const style = styler(colour);
  const says = state.trusted
    ? 'is trusted as it is now'
    : state.changes.length > 0
      ? 'has changed since it was trusted'
      : 'is not trusted';
  return [
    `${style('bold', shownPath(project))} ${says}.\n`,
    ...(state.problem === undefined ? [] : [style('yellow', `${shownPath(state.problem)}.`), '\n']),
    runLines(state, style),
    state.changes.length > 0 ? changeLines(state.changes, style) : '',
  ].join('');
}

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
