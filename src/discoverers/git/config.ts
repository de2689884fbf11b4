/** Keys of a repository's configuration that name no program, no file and nobody to talk to while something is read. */
const ordinaryKeys: Readonly<Record<string, string>> = {
  core: 'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath abbrev',
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
 * Whether a configuration holds nothing but what clone, init, and everyday commands write. Stricter than git's own
 * parser: every line must be blank, a comment, a whole section header, or a key with a value that ends on its line.
 */
export function isOrdinaryConfig(text: string): boolean {
  let keys: readonly string[] = [];
  return text.split('\n').every((line) => {
    if (/^\s*(?:[#;].*)?$/.test(line)) return true;
    const section = /^\[([a-z]+)(?: "[^"\\]*")?\]\r?$/.exec(line)?.[1];
    if (section !== undefined) {
      keys = Object.hasOwn(ordinaryKeys, section) ? (ordinaryKeys[section]?.split(' ') ?? []) : [];
      return keys.length > 0;
    }
    const key = /^[ \t]*([A-Za-z][A-Za-z0-9-]*) *= *[^"\\\r]*\r?$/.exec(line)?.[1];
    return key !== undefined && keys.includes(key.toLowerCase());
  });
}
