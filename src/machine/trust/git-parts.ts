/** What a configuration of git sets. */
export interface GitEntry {
  /** Section, subsection as it is, and name; section and name in lower case: `remote.origin.url`. */
  readonly key: string;
  /** Undefined when only the name is there, which means true. */
  readonly value: string | undefined;
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

/** What of a configuration of git counts, one setting a line; undefined when git would not read it either. */
export function gitParts(text: string): string | undefined {
  return gitEntries(text)
    ?.filter((entry) => !isHarmless(entry))
    .map(({ key, value }) => (value === undefined ? key : `${key} = ${oneLine(value)}`))
    .join('\n');
}

const oneLine = (value: string): string => (/["\n\\]|^\s|\s$/.test(value) ? JSON.stringify(value) : value);

function isHarmless({ key, value = '' }: GitEntry): boolean {
  const section = key.slice(0, key.indexOf('.'));
  const name = key.slice(key.lastIndexOf('.') + 1);
  if ((section === 'remote' || section === 'submodule') && name === 'url') return plainAddress.test(value);
  const names = Object.hasOwn(harmless, section) ? (harmless[section] ?? '').split(' ') : [];
  return names.includes('*') || names.includes(name);
}

/** Where a configuration says that more of it, hooks, and its work tree are: paths as they are written there. */
export interface GitTargets {
  readonly includes: readonly string[];
  readonly hooks: readonly string[];
  readonly workTree?: string | undefined;
}

export function gitTargets(text: string): GitTargets {
  const valuesOf = (wanted: RegExp) =>
    (gitEntries(text) ?? []).flatMap(({ key, value }) => (wanted.test(key) && value ? [value] : []));
  return {
    includes: valuesOf(/^include(?:if\..*)?\.path$/s),
    hooks: valuesOf(/^core\.hookspath$/),
    workTree: valuesOf(/^core\.worktree$/).at(-1),
  };
}

const header = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]/;

/** By git's own grammar (git-config, "Syntax"); undefined when something in it is not. */
export function gitEntries(text: string): GitEntry[] | undefined {
  const entries: GitEntry[] = [];
  let rest = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  let section: string | undefined;
  for (;;) {
    rest = rest.replace(/^(?:\s+|[#;][^\n]*)+/, '');
    if (rest === '') return entries;
    const [whole, name = '', sub] = header.exec(rest) ?? [];
    if (whole !== undefined) {
      section = name.toLowerCase() + (sub === undefined ? '' : `.${sub.replaceAll(/\\(.)/g, '$1')}`);
      rest = rest.slice(whole.length);
      continue;
    }
    const [start, key, equals] = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)/.exec(rest) ?? [];
    if (section === undefined || start === undefined || key === undefined) return undefined;
    rest = rest.slice(start.length);
    const read = equals === '' ? { value: undefined, rest } : valueIn(rest);
    if (!read) return undefined;
    if (equals === '' && !/^(?:\n|[#;]|$)/.test(rest)) return undefined;
    entries.push({ key: `${section}.${key.toLowerCase()}`, value: read.value });
    rest = read.rest;
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

/** The value at the beginning of a text, up to the end of its line; undefined for a quote or escape that git refuses. */
function valueIn(text: string): { value: string; rest: string } | undefined {
  let value = '';
  let end = 0;
  let quoted = false;
  let at = 0;
  for (; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '\n') break;
    if (!quoted && (sign === '#' || sign === ';')) break;
    if (sign === '"') {
      quoted = !quoted;
      end = value.length;
    } else if (sign === '\\') {
      const meant = escaped[text[++at] ?? ''];
      if (meant === undefined) return undefined;
      value += meant;
      end = value.length;
    } else if (quoted || !/\s/.test(sign)) {
      value += sign;
      end = value.length;
    } else if (value !== '') value += sign;
  }
  if (quoted) return undefined;
  const line = text.indexOf('\n', at);
  return { value: value.slice(0, end), rest: line < 0 ? '' : text.slice(line) };
}
