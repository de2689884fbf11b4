// https://learn.microsoft.com/windows/win32/fileio/naming-a-file; the superscript digits count as digits there.
const deviceName = /^(?:CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])$/i;

/**
 * What Windows would read in a path other than names of folders and files, as the end of a sentence; undefined when
 * there is nothing. Short 8.3 names and junctions are not tricks: asking for the real path undoes them.
 */
export function windowsPathTrick(path: string): string | undefined {
  const slashed = path.replaceAll('/', '\\');
  if (/^\\(?:\\[?.]|\?\?)\\/.test(slashed)) return 'begins with a device prefix';
  if (slashed.startsWith('\\\\'))
    return 'names a share of another machine, which would be sent your credentials';
  if (/^[a-z]:(?!\\)/i.test(slashed)) return "is relative to a drive's own working folder";
  const names = slashed.replace(/^[a-z]:/i, '');
  if (names.includes(':')) return 'names a stream inside a file';
  // oxlint-disable-next-line no-control-regex
  if (/[<>"|?*\u0001-\u001f]/.test(names)) return 'has a character that Windows does not allow in names';
  return names.split('\\').map(nameTrick).find(Boolean);
}

function nameTrick(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return undefined;
  const [stem = ''] = name.split('.');
  if (deviceName.test(stem.trimEnd())) return `names a device (${stem.trimEnd()})`;
  if (/[. ]$/.test(name)) return 'has a name that ends with a dot or a blank, which Windows drops';
  return undefined;
}
