/**
 * Keys of a repository's configuration that name no program, no file and nobody to talk to while something is
 * read.
 */
const ordinaryKeys: Readonly<Record<string, string>> = {
  core:
    'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode ' +
    'symlinks autocrlf eol ' +
    'safecrlf quotepath abbrev',
  remote: 'url pushurl fetch prune tagopt',
  branch: 'remote merge rebase description vscode-merge-base',
  submodule: 'url active',
  user: 'name email',
  init: 'defaultbranch',
  pull: 'rebase ff',
  push: 'default autosetupremote',
  fetch: 'prune',
  gc: 'auto autodetach autopacklimit',
  maintenance: 'auto',
};

/**
 * The first setting, or line, that is not among what clone, init, and everyday commands write. Stricter than
 * git's own parser: every line must be blank, a comment, a whole section header, or a key with a value that
 * ends on its line.
 */
export function unusualSetting(text: string): string | undefined {
  let section = '';
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    const header = /^\[([A-Za-z]{1,40})(?: "[^"\\]*")?\]\r?$/.exec(line)?.[1];
    if (header !== undefined) {
      section = header.toLowerCase();
      continue;
    }
    const [, name, value] = /^[ \t]*([A-Za-z][A-Za-z0-9-]{0,60})([^]*)$/.exec(line) ?? [];
    if (name === undefined || section === '') return `line ${index + 1} of .git/config`;
    const key = name.toLowerCase();
    if (!isOrdinary(section, key) || !/^ *= *[^"\\\r]*\r?$/.test(value ?? '')) return `${section}.${key}`;
  }
  return undefined;
}

const isOrdinary = (section: string, key: string): boolean =>
  Object.hasOwn(ordinaryKeys, section) && ordinaryKeys[section]?.split(' ').includes(key) === true;
