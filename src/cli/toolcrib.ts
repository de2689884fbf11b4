import { readFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { cacheFolder, prunePrivate, readPrivate, writePrivate } from '../machine/folders.ts';

/**
 * The program's first file: loads the others together with the code V8 compiled for them the last time, which saves
 * about a third of what starting costs beyond Node itself. A cache that V8 does not accept (another version of Node)
 * is made anew; without a folder to keep it in, everything works as well, only slower.
 */
declare const MAIN: string;
/** The file that holds every chunk a server needs to start: one file is read faster than twenty. */
declare const PACK: string;

interface Chunk {
  exports: Record<string, unknown>;
}

type Body = (exports: object, require: unknown, chunk: Chunk, file: string, folder: string) => void;

/** Long enough for the first answers to be out. */
const quietMs = 300;
const mostFiles = 200;

const platform = process.platform === 'win32' || process.platform === 'darwin' ? process.platform : 'linux';
const base = cacheFolder(platform, process.env, homedir());
const folder = base && join(base, 'code');
/** FNV-1a (Fowler, Noll, Vo), 32 bits: to tell installations apart, not to keep anybody out. */
const placeHash = [...__dirname]
  .reduce((hash, char) => Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0, 0x811c9dc5)
  .toString(16);
const loaded = new Map<string, Chunk>();
const uncached = new Map<string, Script>();
const packed = evaluate(PACK, (source) => source) as Readonly<Record<string, Body>>;

function load(name: string): Chunk['exports'] {
  const known = loaded.get(name);
  if (known) return known.exports;
  const file = join(__dirname, name);
  const body = packed[name] ?? (evaluate(name, wrap) as Body);
  const chunk: Chunk = { exports: {} };
  loaded.set(name, chunk);
  const ordinary = createRequire(file);
  const ours = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : ordinary(id));
  body(chunk.exports, Object.assign(ours, { resolve: ordinary.resolve }), chunk, file, __dirname);
  return chunk.exports;
}

function evaluate(name: string, asScript: (source: string) => string): unknown {
  const file = join(__dirname, name);
  // The build writes ASCII only, which Latin-1 reads without looking at each byte.
  const source = asScript(readFileSync(file, 'latin1'));
  // Names carry a hash of the content, so they are keys for what was compiled from it; stack traces name the place.
  // V8 takes back only what it made itself, with the same flags: a server changes two once it has started.
  const key = `${process.version}-${process.arch}-${cachedDataVersionTag()}-${placeHash}-${name}`;
  const cachedData = readPrivate(folder, key);
  const script = new Script(source, { filename: file, ...(cachedData ? { cachedData } : {}) });
  if (!cachedData || script.cachedDataRejected) keepSoon(key, script);
  return script.runInThisContext();
}

function keepSoon(key: string, script: Script): void {
  if (uncached.size === 0) {
    setTimeout(keep, quietMs).unref();
    process.once('exit', keep);
  }
  uncached.set(key, script);
}

/** After they have run: functions compiled on the way are then kept too. */
function keep(): void {
  process.off('exit', keep);
  if (folder === undefined || uncached.size === 0) return;
  prunePrivate(folder, mostFiles);
  for (const [key, script] of uncached) writePrivate(folder, key, script.createCachedData());
  uncached.clear();
}

const { main } = load(MAIN) as { main(args: string[]): Promise<number> };
main(process.argv.slice(2)).then(
  (code) => leave(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    leave(70);
  },
);

/** Once standard output has taken everything: a pipe takes it later. 70 is EX_SOFTWARE of sysexits.h: a bug of ours. */
function leave(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.exit(code));
}
