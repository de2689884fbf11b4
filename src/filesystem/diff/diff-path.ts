const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

/**
 * A path as the header of a diff has it: quoted as git does it when it has quotes, backslashes or controls, and
 * followed by a tab when it has blanks, so that `patch` does not take what follows them for a date.
 */
export function diffPath(side: 'a' | 'b', path: string, platform: string = process.platform): string {
  const plain = (platform === 'win32' ? path.replaceAll('\\', '/') : path).replace(/^\/+/, '');
  const name = `${side}/${plain}`;
  if (/[\x00-\x1f\x7f"\\]/.test(name)) return `"${name.replaceAll(/[\x00-\x1f\x7f"\\]/g, escaped)}"`;
  return name.includes(' ') ? `${name}\t` : name;
}

const escaped = (character: string): string =>
  escapes[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
