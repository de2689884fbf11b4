import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { decodeText, readRegularFile } from './read-files.ts';
import { fitLines, wrapped } from './elements.ts';

/** What agents call their instructions; in each folder only the best of them is read. */
const names = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md', '.cursorrules'];
/** Bytes of all instructions together: they are sent with every request. */
const mostBytes = 32 * 1024;

export interface InstructionFile {
  readonly path: string;
  /** Of its content: SHA-256. */
  readonly hash: string;
  /** As the model is shown it. */
  readonly text: string;
}

export interface Instructions {
  /** All of them for the system prompt; empty when there are none. */
  readonly text: string;
  readonly files: readonly InstructionFile[];
  /** When each file that was looked for was changed, and its size: it tells whether anything has to be read again. */
  readonly stamps?: string;
}

export interface Places {
  /** Absolute. */
  readonly roots: readonly string[];
  readonly cwd: string;
  /** The folder of the person's own configuration. */
  readonly config: string;
}

/**
 * The instructions for agents: the person's own, then those of the project from its root down to the working
 * folder, then those of the other roots; 32 KB of them. `previous` is given back when no file has changed, come or
 * gone.
 */
export async function readInstructions(places: Places, previous?: Instructions): Promise<Instructions> {
  const folders = placesOf(places);
  const stamps = JSON.stringify(
    folders.map((place) => place.candidates.map((path) => [path, stampOf(path)])),
  );
  if (stamps === previous?.stamps) return previous;
  const files: InstructionFile[] = [];
  const seen = new Set<string>();
  let left = mostBytes;
  for (const { within, candidates } of folders) {
    for (const path of candidates) {
      const real = stampOf(path) === '' ? undefined : await inside(within, path);
      if (real === undefined) continue;
      const file = seen.has(real) ? undefined : await readOne(path, left);
      seen.add(real);
      if (file) {
        files.push(file);
        left = Math.max(0, left - Buffer.byteLength(file.text));
      }
      break;
    }
  }
  return { text: files.map(({ text }) => text).join('\n\n'), files, stamps };
}

interface Place {
  /** What is read has to lie in here; the person's own may be a link to anywhere. */
  readonly within?: string;
  /** Absolute paths, best first. */
  readonly candidates: readonly string[];
}

function placesOf({ roots, cwd, config }: Places): Place[] {
  const own = { candidates: [join(config, 'AGENTS.md')] };
  const found = new Map<string, Place>();
  for (const root of [cwd, ...roots]) {
    const folders = foldersTo(root);
    for (const folder of folders) {
      const candidates = names.map((name) => join(folder, name));
      if (!found.has(folder)) found.set(folder, { within: folders[0] ?? root, candidates });
    }
  }
  return [own, ...found.values()];
}

/**
 * The folders from the root of the repository down to a folder; only that folder where there is no repository. What
 * lies above may be anybody's, as in /tmp: a repository counts when it belongs to whom the folder does.
 */
function foldersTo(folder: string): string[] {
  const owner = ownerOf(folder);
  const folders: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    folders.unshift(at);
    if (owner !== undefined && ownerOf(join(at, '.git')) === owner) return folders;
    if (dirname(at) === at) return [folder];
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined; // Not there, or not to be looked at.
  }
}

function stampOf(path: string): string {
  try {
    const facts = statSync(path);
    return facts.isFile() ? `${facts.mtimeMs} ${facts.size}` : '';
  } catch {
    return '';
  }
}

/** Where a file really is; undefined when a link in a project leads out of it, to what nobody meant to send. */
async function inside(folder: string | undefined, path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    const from = folder === undefined ? '' : relative(await realpath(folder), real);
    return from === '..' || from.startsWith(`..${sep}`) ? undefined : real;
  } catch {
    return undefined;
  }
}

async function readOne(path: string, left: number): Promise<InstructionFile | undefined> {
  const bytes = await readRegularFile(path, 1024 * 1024).catch(() => undefined);
  const whole = bytes && decodeText(bytes);
  if (bytes === undefined || whole === undefined || whole.trim() === '') return undefined;
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (Buffer.byteLength(whole) <= left) return { path, hash, text: wrapped('instructions', { path }, whole) };
  const { text, part } = fitLines(whole, Math.floor(left / 4));
  const notice = `[truncated: ${part ?? 'all of it'}; instructions may have 32 KB in all]`;
  return { path, hash, text: wrapped('instructions', { path }, `${text.trimEnd()}\n${notice}`) };
}
