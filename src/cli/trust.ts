import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, parse, resolve } from 'node:path';
import type { Platform } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { stateFolder } from '../store/own-files.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { sanitize } from '../machine/sanitize.ts';
import type { TrustScope } from '../core/policy.ts';
import { createTrust, type Trust, type TrustedFolder } from '../machine/trust/trust.ts';
import { displayLine } from '../server/approvals/display-text.ts';
import { ask, canAsk } from './confirm.ts';
import { print } from './print.ts';
import { parseCommandLine, UsageError, workingFolder } from './usage.ts';

const flag = { type: 'boolean', default: false } as const;

/**
 * Runs `toolcrib trust [FOLDER]`: trusts a folder when the person agrees; also --list and --revoke. Exit code
 * 1 when nothing was done.
 */
export async function trustCommand(args: string[]): Promise<number> {
  const options = { yes: flag, list: flag, revoke: flag, json: flag };
  const { values, positionals } = parseCommandLine({ args, options, allowPositionals: true });
  if (positionals.length > 1) throw new UsageError('trust: one folder at a time.');
  if (values.list && (values.revoke || positionals[0])) throw new UsageError('--list takes only --json.');
  const trust = createTrust({ folder: stateFolder(process.platform as Platform, process.env, homedir()) });
  try {
    if (values.list) return await list(trust, values.json);
    const folder = resolve(positionals[0] ?? workingFolder());
    return await (values.revoke ? revoke(folder, trust, values.json) : trustFolder(folder, trust, values));
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    process.stderr.write(`toolcrib: ${error.code}: ${error.message}\n`);
    return 1;
  }
}

async function list(trust: Trust, json: boolean): Promise<number> {
  const folders = (await trust.list()).sort((a, b) => (a.folder < b.folder ? -1 : 1));
  return print(json ? asJson({ folders }) : folders.map(linesOf).join('') || 'No folder is trusted.\n');
}

function linesOf({ folder, trustedAt, origin, current, always }: TrustedFolder): string {
  const since = trustedAt === undefined ? 'not trusted' : `trusted ${trustedAt.slice(0, 10)}`;
  const from = origin ? `, from ${origin}` : '';
  const change = current ? '' : ', another one by now: asked again';
  const lines = [
    `${displayPath(folder)}  ${since}${from}${change}`,
    ...always.map((words) => `  always: ${displayLine(words)}`),
  ];
  return lines.map((line) => `${oneLine(line)}\n`).join('');
}

async function revoke(given: string, trust: Trust, json: boolean): Promise<number> {
  const { folder } = await subjectOf(given, trust);
  // A trusted folder may have become a link since, and is then recorded by its earlier path.
  const results = [given, folder].map((path) => trust.revoke(path));
  const revoked = results.includes(true);
  const says = revoked ? 'is not trusted any more' : 'was not trusted by itself; --list shows what is';
  print(json ? asJson({ folder, revoked }) : `${displayPath(folder)} ${says}.\n`);
  return revoked ? 0 : 1;
}

/**
 * The top of the repository that a folder is in, or the folder itself when there is none or it can never be
 * trusted.
 */
async function subjectOf(folder: string, trust: Trust): Promise<TrustScope> {
  const widest = await trust.subjectOf(folder, [parse(folder).root]);
  return widest.refused === undefined ? widest : await trust.subjectOf(folder, []);
}

async function trustFolder(given: string, trust: Trust, { yes = false, json = false }): Promise<number> {
  if (!existsSync(given)) throw new UsageError(`${displayPath(given)}: there is no such folder.`);
  const { folder, origin, refused } = await subjectOf(given, trust);
  if (refused) throw new UsageError(`${displayPath(folder)} ${refused}; trust projects, one by one.`);
  const before = await trust.isTrusted(folder);
  const kind = `a ${existsSync(join(folder, '.git')) ? 'git repository' : 'plain folder'}`;
  const what = oneLine(origin === undefined ? kind : `${kind}, from ${origin}`);
  if (!json) print(`${displayPath(folder)}: ${what}\n${before ? 'It is trusted.\n' : meaning}`);
  // With --json alone, the trust is only shown.
  const trusted = before || yes || (!json && (await isAgreed()));
  if (trusted && !before) await trust.trust(folder);
  const says = trusted ? 'toolcrib trust --revoke takes it back.\n' : 'It is not trusted.\n';
  print(json ? asJson({ folder, origin, trusted }) : says);
  return trusted ? 0 : 1;
}

const meaning = `\
A model may then run this folder's own code without asking: its tests, builds, scripts and git hooks, \
and let git write.
What can lose work for good or changes what others see is still asked about.
`;

async function isAgreed(): Promise<boolean> {
  if (!canAsk()) throw new UsageError('there is no terminal to ask on; --yes trusts what is shown unasked.');
  return /^\s*y(?:es)?\s*$/i.test(await ask('Trust this folder? [y/N] '));
}

/** Formats a text as one line without terminal controls. */
const oneLine = (text: string): string => sanitize(text).replaceAll(/\s/g, ' ');
const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
