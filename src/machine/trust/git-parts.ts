/** What of a text decides what runs. */
export interface Counted {
  readonly text: string;
  /** Where it says that there is more. */
  readonly targets?: GitTargets;
}

/** What a configuration of git sets. Not as one key: a long section may have very many of them. */
interface GitEntry {
  readonly section: Section;
  /** In lower case. */
  readonly name: string;
  /** Undefined when only the name is there, which means true. */
  readonly value: string | undefined;
}

interface Section {
  /** In lower case. */
  readonly name: string;
  /** As it is written, for those that have one. */
  readonly sub: string | undefined;
}

/**
 * Names that run nothing and send nothing elsewhere, whatever their value, by section. Taken from what clone, init and
 * everyday commands write; a name that is not here counts.
 */
const harmless: Readonly<Record<string, string>> = {
  core: 'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath abbrev',
  extensions: 'objectformat refstorage worktreeconfig',
  remote: 'fetch prune tagopt gh-resolved',
  branch: 'remote merge rebase description pushremote vscode-merge-base gh-merge-base github-pr-owner-number',
  submodule: 'active branch shallow path',
  user: 'name email signingkey',
  init: 'defaultbranch',
  pull: 'rebase ff',
  push: 'default autosetupremote',
  fetch: 'prune',
  lfs: 'repositoryformatversion access',
  gc: 'auto autodetach autopacklimit',
  maintenance: 'auto strategy',
  rerere: 'enabled',
  color: '*',
  advice: '*',
  column: '*',
  gui: 'wmstate geometry',
};

/** Servers that git reaches by itself, with what the user has for them. */
const plainAddress = /^(?:https:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:(?!:))[^\s]*$/i;

/** Thousands of branches have as many settings; these take some ten milliseconds. */
const mostEntries = 20_000;

/**
 * What of a configuration of git counts, as one, and where there is more; undefined when git would not read it either. Throws
 * for one with more settings than are looked at.
 */
export function gitParts(text: string): Counted | undefined {
  const entries = gitEntries(text);
  if (!entries) return undefined;
  const lines: string[] = [];
  let last: Section | undefined;
  for (const entry of entries) {
    if (isHarmless(entry)) continue;
    const { section, name, value } = entry;
    if (section !== last)
      lines.push(
        section.sub === undefined ? `[${section.name}]` : `[${section.name} ${JSON.stringify(section.sub)}]`,
      );
    last = section;
    lines.push(value === undefined ? name : `${name} = ${oneLine(value)}`);
  }
  return { text: lines.join('\n'), targets: targetsOf(entries) };
}

const oneLine = (value: string): string => (/["\n\\]|^\s|\s$/.test(value) ? JSON.stringify(value) : value);

function isHarmless({ section, name, value = '' }: GitEntry): boolean {
  if ((section.name === 'remote' || section.name === 'submodule') && name === 'url')
    return plainAddress.test(value);
  const names = Object.hasOwn(harmless, section.name) ? ` ${harmless[section.name]} ` : '';
  return names === ' * ' || names.includes(` ${name} `);
}

/** Where a configuration says that more of it, hooks, and its work tree are: paths as they are written there. */
export interface GitTargets {
  readonly includes: readonly string[];
  readonly hooks: readonly string[];
  readonly workTree?: string | undefined;
}

function targetsOf(entries: readonly GitEntry[]): GitTargets {
  const ofCore = (wanted: string) =>
    entries.flatMap(({ section, name, value }) =>
      section.name === 'core' && section.sub === undefined && name === wanted && value ? [value] : [],
    );
  const includes = entries.flatMap(({ section, name, value }) =>
    /^include(?:if)?$/.test(section.name) && name === 'path' && value ? [value] : [],
  );
  return {
    includes: [...new Set(includes)],
    hooks: [...new Set(ofCore('hookspath'))],
    workTree: ofCore('worktree').at(-1),
  };
}

// Each is tried where the one before has ended, and goes over no letter more than twice.
const skipped = /\s*(?:[#;][^\n]*\s*)*/y;
const header = /\[\s*([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]*))?(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]/y;
const named = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)/y;

/** By git's own grammar (git-config, "Syntax"); undefined when something in it is not. */
function gitEntries(given: string): GitEntry[] | undefined {
  const text = given.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const entries: GitEntry[] = [];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text) ?? undefined;
    if (found) at = pattern.lastIndex;
    return found;
  };
  let section: Section | undefined;
  for (;;) {
    next(skipped);
    if (at === text.length) return entries;
    const opened = text.charAt(at) === '[' ? next(header) : undefined;
    if (opened) {
      const [, name = '', old, sub = old?.toLowerCase()] = opened;
      section = { name: name.toLowerCase(), sub: sub?.replaceAll(/\\(.)/g, '$1') };
      continue;
    }
    const [, name, equals] = next(named) ?? [];
    if (section === undefined || name === undefined) return undefined;
    if (equals === '' && at < text.length && !'\n#;'.includes(text.charAt(at))) return undefined;
    const read = equals === '' ? { value: undefined, end: at } : valueAt(text, at);
    if (!read) return undefined;
    if (entries.length >= mostEntries) throw new RangeError('more settings than are looked at');
    entries.push({ section, name: name.toLowerCase(), value: read.value });
    at = read.end;
  }
}

const escaped: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  b: '\b',
  '"': '"',
  '\\': '\\',
  '\n': '',
};

const plainRun = /[^\s"\\#;]+/y;

/** The value from there to the end of its line; undefined for a quote or escape that git refuses. */
function valueAt(text: string, start: number): { value: string; end: number } | undefined {
  let value = '';
  let length = 0;
  let quoted = false;
  let at = start;
  for (; at < text.length; at++) {
    plainRun.lastIndex = at;
    const [run = ''] = plainRun.exec(text) ?? [];
    if (run !== '') {
      value += run;
      length = value.length;
      at += run.length;
    }
    const sign = text.charAt(at);
    if (sign === '\n' || (!quoted && (sign === '#' || sign === ';'))) break;
    if (sign === '"') {
      quoted = !quoted;
      length = value.length;
    } else if (sign === '\\') {
      const meant = escaped[text.charAt(++at)];
      if (meant === undefined) return undefined;
      value += meant;
      length = value.length;
    } else if (quoted || !/\s/.test(sign)) {
      value += sign;
      length = value.length;
    } else if (value !== '') value += sign;
  }
  if (quoted) return undefined;
  const line = text.indexOf('\n', at);
  return { value: value.slice(0, length), end: line < 0 ? text.length : line };
}
