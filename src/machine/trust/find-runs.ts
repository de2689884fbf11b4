import { foldName } from '../paths/protected-paths.ts';
import { aboutSources, gitData, leftOut, leftOutWith, runs, sources, type Runs } from './runs.ts';

/** Tells by its names what something in a project is. Folders are given folded, from the project down: `/sub/gradle`. */
export interface RunsFinder {
  /** What a file decides; undefined for one that does not count. */
  fileIn(folder: string, name: string): Runs | undefined;
  /** What all in a folder decides, if all of it does. */
  folder(folder: string): Runs | undefined;
  /** Whether a folder of that (folded) name is not looked into. */
  isLeftOut(name: string): boolean;
  /** Whether a file of that (folded) name says so of the folder it is in. */
  leavesOut(name: string): boolean;
  isGitData(name: string): boolean;
}

interface Pattern {
  fits(name: string): boolean;
  /** Whether it says nothing of how a name ends. */
  readonly isOpen: boolean;
}

interface Below {
  /** The folders it must lie in, from above, with a slash before each. */
  readonly parents: string;
  readonly found: Runs;
}

/** Makes one of the list, which takes about a millisecond. */
export function createRunsFinder(): RunsFinder {
  const names = new Map<string, Below[]>();
  const endings = new Map<string, Runs>();
  const patterns: (Below & Pattern)[] = [];
  const folders = new Map<string, Below[]>();
  for (const found of runs)
    for (const path of found.paths.flatMap(alternatives)) {
      const whole = path.endsWith('/**');
      const steps = (whole ? path.slice(0, -3) : path).split('/');
      const name = steps.pop() ?? '';
      const below: Below = { parents: steps.map((step) => `/${step}`).join(''), found };
      if (whole) add(folders, name, below);
      else if (!name.includes('*')) add(names, name, below);
      else if (/^\*\.[^*]+$/.test(name) && below.parents === '') endings.set(name.slice(2), found);
      else patterns.push({ ...below, fits: starred(name), isOpen: name.endsWith('*') });
    }
  const closed = leftOut.flatMap(alternatives).map(starred);
  const sourceEndings = new Set(alternatives(sources));
  const about = alternatives(aboutSources).map(starred);
  /** Whether a name only happens to fit a pattern. */
  const isSource = (name: string, { isOpen }: Pattern) =>
    isOpen ? sourceEndings.has(name.slice(name.lastIndexOf('.') + 1)) : about.some((fits) => fits(name));
  const closing = new Set(alternatives(leftOutWith));
  const data = new Set(alternatives(gitData));
  return {
    fileIn: (folder, given) => {
      const name = foldName(given);
      return (
        names.get(name)?.find(({ parents }) => folder.endsWith(parents))?.found ??
        byEnding(endings, name) ??
        patterns.find((one) => one.fits(name) && folder.endsWith(one.parents) && !isSource(name, one))?.found
      );
    },
    folder: (folder) => {
      const at = folder.lastIndexOf('/');
      const above = folder.slice(0, at);
      return folders.get(folder.slice(at + 1))?.find(({ parents }) => above.endsWith(parents))?.found;
    },
    isLeftOut: (name) => closed.some((fits) => fits(name)),
    leavesOut: (name) => closing.has(name),
    isGitData: (name) => data.has(name),
  };
}

function byEnding(endings: ReadonlyMap<string, Runs>, name: string): Runs | undefined {
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const found = endings.get(name.slice(dot + 1));
    if (found) return found;
  }
  return undefined;
}

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

/** Whether a name fits a pattern in which `*` is any characters; in time linear to the name, whatever it is. */
function starred(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return name.length - at >= last.length;
  };
}

/** `a{b,c}` is `ab` and `ac`; braces may hold braces. */
function alternatives(text: string): string[] {
  const [, before, inner, after] = /^(.*)\{([^{}]*)\}(.*)$/s.exec(text) ?? [];
  if (before === undefined || inner === undefined || after === undefined) return [text];
  return [...new Set(inner.split(',').flatMap((one) => alternatives(`${before}${one}${after}`)))];
}
