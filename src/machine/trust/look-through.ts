import { dirname, join, resolve } from 'node:path';
import { createBreath } from '../paths/breath.ts';
import { isInside } from '../paths/inside.ts';
import { foldName } from '../paths/protected-paths.ts';
import { createRunsFinder, type RunsFinder } from './find-runs.ts';
import { gitPointer, pathIn, planFor, runsOf, stepInto, type Plan, type Step } from './folder-plan.ts';
import { createFolders, type FolderEntries, type Folders } from './folder-entries.ts';
import { createRunFiles, sha256, type Breathe, type RunContent, type RunFiles } from './run-file.ts';
import { gitHook, type Runs } from './runs.ts';
import { canEnter, factsOf, realOf, whereTo } from './where-to.ts';

/** Something in a project that decides what runs there. */
export interface RunItem extends Omit<RunContent, 'targets' | 'idle' | 'doubt'> {
  /** From the project, with `/`. */
  readonly path: string;
  readonly what: string;
}

/** All that decides what runs in a project, as it is now. */
export interface Look {
  /** SHA-256 of all of them, in hexadecimal. */
  readonly digest: string;
  /** By their paths. */
  readonly items: readonly RunItem[];
  /** Real paths of the folders that were looked into as parts of the project: not those of git. */
  readonly folders: ReadonlySet<string>;
  /** Folders that were left out by their names, and made or fetched ones; the first of them. */
  readonly leftOut: readonly string[];
  /** What was not looked at, and why; the first of it. */
  readonly missed: readonly string[];
  /** What of that could change without another digest; the first of it. */
  readonly doubts: readonly string[];
}

/** How much is looked at; the same for the same project, however fast the machine is. */
export interface Bounds {
  readonly entries: number;
  readonly bytes: number;
  readonly fileBytes: number;
}

/** Listing 100,000 entries takes some 0.2 s, hashing 64 MB as long. The largest that programs write for this, .pnp.cjs, has some MB. */
export const usualBounds: Bounds = { entries: 100_000, bytes: 64 * 1024 * 1024, fileBytes: 16 * 1024 * 1024 };

/** More names than anybody reads. */
const mostNamed = 20;
/** As many folders inside one another; far more than build tools can cope with. */
const deepest = 100;
/** As many places that configurations of git name; each takes some microseconds. */
const mostTargets = 1000;

/**
 * Looks through a project again and again; what has not changed since is not read again. `own` is a folder that is no
 * part of it, should it lie there.
 */
export function createLooks(project: string, bounds: Bounds, own?: string): () => Promise<Look> {
  const [files, folders] = [createRunFiles(), createFolders()];
  let finder: RunsFinder | undefined;
  const plans = new WeakMap<FolderEntries, Plan>();
  return () =>
    lookThrough({
      project,
      bounds,
      own: own === undefined ? undefined : realOf(own),
      files,
      folders,
      plans,
      finder: (finder ??= createRunsFinder()),
    });
}

interface Kit {
  readonly project: string;
  readonly own: string | undefined;
  readonly bounds: Bounds;
  readonly files: RunFiles;
  readonly folders: Folders;
  readonly finder: RunsFinder;
  readonly plans: WeakMap<FolderEntries, Plan>;
}

/** Level by level, so that the folders further up are covered before any bound is reached. */
async function lookThrough(kit: Kit): Promise<Look> {
  const look = new Walk(kit);
  await look.walk();
  return look.result();
}

class Walk {
  readonly #kit: Kit;
  readonly #breathe: Breathe = createBreath();
  readonly #items = new Map<string, RunItem>();
  readonly #folders = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #leftOut: string[] = [];
  readonly #missed: string[] = [];
  readonly #doubts: string[] = [];
  /** Of what is no item, and counts all the same. */
  readonly #marks: string[] = [];
  readonly #steps: Step[];
  #entries = 0;
  #bytes = 0;
  #targets = 0;

  constructor(kit: Kit) {
    this.#kit = kit;
    this.#steps = [{ path: '', real: kit.project, folded: '', depth: 0 }];
  }

  async walk(): Promise<void> {
    // More are added while it goes on.
    for (const step of this.#steps) await this.#enter(step);
  }

  result(): Look {
    const items = [...this.#items.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const lines = items.map(({ path, hash }) => JSON.stringify([path, hash]));
    return {
      digest: sha256(['toolcrib trust 2', ...lines, ...this.#marks].join('\n')),
      items,
      folders: this.#folders,
      leftOut: this.#leftOut,
      missed: this.#missed,
      doubts: this.#doubts,
    };
  }

  async #enter(step: Step): Promise<void> {
    const key = `${step.git ? 'git' : (step.whole?.what ?? '')}\0${step.real}`;
    if (this.#seen.has(key) || step.real === this.#kit.own) return;
    this.#seen.add(key);
    const left = this.#kit.bounds.entries - this.#entries;
    if (step.depth > deepest) return this.#doubt(step.path, 'lies too deep to be looked into');
    const entries = await this.#kit.folders.list(step.real, left, this.#breathe);
    if (entries === undefined) return this.#unlisted(step);
    if (entries === 'more') return this.#doubt(step.path, 'has more in it than is looked through');
    this.#entries += entries.count;
    const plan = await this.#planOf(step, entries);
    if (plan.isLeftOut) return this.#leave(step.path);
    if (!step.git) this.#folders.add(step.real);
    for (const { path, real, found } of plan.files) await this.#add(path, real, found);
    for (const name of entries.links) await this.#link(step, name);
    for (const path of plan.leftOut) this.#leave(path);
    for (const next of plan.steps) this.#steps.push(next);
    await this.#breathe();
  }

  /** What nobody but the system can enter runs nothing; what has names that are known can be used without a list. */
  #unlisted({ path, real }: Step): void {
    if (canEnter(real)) this.#doubt(path, 'cannot be listed');
    else this.#miss(path, 'is closed to this user', 'closed');
  }

  /** What comes of a folder's names does not change as long as they do not. */
  async #planOf(step: Step, entries: FolderEntries): Promise<Plan> {
    const known = this.#kit.plans.get(entries);
    if (known?.step.path === step.path && known.step.whole === step.whole && known.step.git === step.git)
      return known;
    const plan = await planFor(step, entries, this.#kit.finder, this.#breathe);
    this.#kit.plans.set(entries, plan);
    return plan;
  }

  async #link(step: Step, name: string): Promise<void> {
    const path = pathIn(step, name);
    const at = join(step.real, name);
    const leads = whereTo(at);
    const found = runsOf(step, name, this.#kit.finder);
    if (!leads.isFolder && !found) return;
    if (!step.whole && this.#kit.finder.isLeftOut(foldName(name))) return;
    const what = leads.isFolder ? 'link to a folder' : (found?.what ?? 'link');
    const text = `-> ${leads.text}`;
    const link = { path, what, size: text.length, hash: sha256(text), text };
    if (leads.real === undefined || !isInside(leads.real, this.#kit.project)) {
      const facts = leads.real === undefined ? '' : factsOf(leads.real);
      this.#items.set(path, {
        ...link,
        hash: sha256(`${text} ${facts}`),
        unread: 'leads out of the project',
      });
      const whole = this.#kit.finder.folder(`${step.folded}/${foldName(name)}`);
      if (leads.isFolder && whole) this.#doubt(path, 'leads out of the project');
      else if (found) this.#miss(path, 'leads out of the project', facts);
      return;
    }
    this.#items.set(path, link);
    if (leads.isFolder) return this.#linked(step, name, leads.real);
    if (!found) return;
    await this.#add(path, leads.real, found);
    const content = this.#items.get(path);
    if (content) this.#items.set(path, { ...content, hash: sha256(`${text} ${content.hash}`) });
  }

  /** Only where the name of the link makes something of what is in the folder; else that is covered where it lies. */
  #linked(step: Step, name: string, real: string): void {
    const folded = foldName(name);
    const whole = step.whole ?? this.#kit.finder.folder(`${step.folded}/${folded}`);
    if (!whole && !step.git && folded !== '.git') return;
    const next = stepInto(step, name, real, this.#kit.finder);
    if (next) this.#steps.push(next);
  }

  async #add(path: string, real: string, found: Runs): Promise<void> {
    const { files, bounds, project } = this.#kit;
    const most = Math.min(bounds.fileBytes, bounds.bytes - this.#bytes);
    const { targets, idle, doubt, ...content } = await files.read(real, found, most, this.#breathe);
    this.#bytes += content.unread === undefined ? content.size : 0;
    if (!idle) this.#items.set(path, { path, what: found.what, ...content });
    if (doubt !== undefined) this.#doubt(path, doubt);
    // Its facts are in the hash.
    else if (content.unread !== undefined) this.#miss(path, content.unread, '');
    if (found === gitPointer) this.#pointer(path, real, content.text ?? '');
    if (!targets) return;
    for (const target of targets.includes) {
      const at = this.#target(resolve(dirname(real), target), target, path);
      if (at === undefined || this.#seen.has(`include\0${at}`)) continue;
      this.#seen.add(`include\0${at}`);
      await this.#add(this.#pathOf(at), at, found);
      await this.#breathe();
    }
    const top =
      targets.workTree === undefined ? topOf(real, project) : resolve(dirname(real), targets.workTree);
    for (const target of targets.hooks) {
      const at = this.#target(resolve(top, target), target, path);
      if (at !== undefined) this.#hooks(at);
      await this.#breathe();
    }
  }

  /** Where in the project a configuration leads to; what lies outside is told. */
  #target(at: string, given: string, path: string): string | undefined {
    if (++this.#targets > mostTargets) {
      if (this.#targets === mostTargets + 1) this.#doubt(path, 'names more places than are looked at');
      return undefined;
    }
    const real = given.startsWith('~') ? undefined : realOf(at);
    if (real !== undefined && isInside(real, this.#kit.project)) return real;
    const facts = real === undefined ? '' : factsOf(real);
    if (real !== undefined || given.startsWith('~')) this.#miss(path, 'names what lies elsewhere', facts);
    return undefined;
  }

  #hooks(real: string): void {
    const path = this.#pathOf(real);
    this.#steps.push({ path, real, folded: `/${path.toLowerCase()}`, depth: 0, whole: gitHook });
  }

  #pointer(path: string, real: string, text: string): void {
    const target = /^gitdir: (.+)$/m.exec(text)?.[1];
    const data = target === undefined ? undefined : realOf(resolve(dirname(real), target));
    if (data === undefined || !isInside(data, this.#kit.project))
      this.#miss(path, 'says that the repository, with its hooks and settings, lies elsewhere', '');
    else this.#steps.push({ path: this.#pathOf(data), real: data, folded: '', depth: 0, git: true });
  }

  #pathOf(real: string): string {
    return real.slice(this.#kit.project.length).replaceAll('\\', '/').replace(/^\/+/, '');
  }

  #leave(path: string): void {
    if (this.#leftOut.length < mostNamed) this.#leftOut.push(path);
  }

  /** Told, and noticed by what is marked when it changes. */
  #miss(path: string, why: string, mark: string): void {
    this.#marks.push(JSON.stringify([path, why, mark]));
    named(this.#missed, `${path || '.'} ${why}`);
  }

  /** Told, and could change unnoticed. */
  #doubt(path: string, why: string): void {
    this.#miss(path, why, '');
    named(this.#doubts, `${path || '.'} ${why}`);
  }
}

/** Adds one to a list that people read. */
function named(list: string[], one: string): void {
  if (list.length < mostNamed) list.push(one);
  else if (list.length === mostNamed) list.push('and more');
}

/** Hooks are run, and looked for, from the top of the work tree. */
function topOf(config: string, project: string): string {
  const at = config.lastIndexOf(`${join('/', '.git')}`);
  return at < project.length ? project : config.slice(0, at);
}
