import { readFileSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { prunePrivate, readPrivate, writePrivate } from '../store/own-files.ts';
import { digestOf, stampOf } from '../server/start/start-cache.ts';

/**
 * The first requests are answered then, and the server has not changed the flags that compiled code depends
 * on.
 */
const startedMs = 900;
const mostFiles = 50;

/**
 * The folder of compiled code, and the functions that are kept: those that were called in this use of a file.
 */
interface CodeCache {
  readonly folder: string | undefined;
  readonly use: string;
}

/**
 * Returns what a CommonJS file exports, loaded with the code that V8 compiled for it the last time. Node has
 * a cache for that as well (enableCompileCache), but without the functions that are compiled when they are
 * first called.
 */
export function requireCompiled(file: string, { folder, use }: CodeCache): unknown {
  const source = nodeModule.wrap(readFileSync(file, 'utf8'));
  // V8 looks at the length of the source alone, so the name says which build it is.
  const build = digestOf(JSON.stringify([file, stampOf(file)])).toString(16);
  const name = `${process.version}-${process.arch}-${cachedDataVersionTag()}-${build}-${use}`;
  const cachedData = readPrivate(folder, name);
  const script = new Script(source, { filename: file, ...(cachedData ? { cachedData } : {}) });
  if (folder !== undefined && (!cachedData || script.cachedDataRejected)) {
    const keep = () => {
      process.off('exit', keep);
      prunePrivate(folder, mostFiles);
      writePrivate(folder, name, script.createCachedData());
    };
    setTimeout(keep, startedMs).unref();
    process.once('exit', keep);
  }
  const made = { exports: {} };
  script.runInThisContext()(made.exports, createRequire(file), made, file, dirname(file));
  return made.exports;
}
