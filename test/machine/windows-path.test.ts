import { describe, expect, it } from 'vitest';
import { windowsPathTrick } from '../../src/machine/paths/given-path.ts';

const tricks: [path: string, trick: RegExp][] = [
  ['notes.txt:hidden', /stream/],
  ['C:\\work\\notes.txt::$DATA', /stream/],
  ['C:\\work:x\\y', /stream/],
  ['\\\\?\\C:\\Windows', /device prefix/],
  ['//?/C:/Windows', /device prefix/],
  ['\\\\.\\pipe\\docker_engine', /device prefix/],
  ['\\??\\C:\\Windows', /device prefix/],
  ['/??/C:/Windows', /device prefix/],
  ['\\\\server\\share\\x', /another machine/],
  ['//server/share/x', /another machine/],
  ['/\\server/share', /another machine/],
  ['\\\\?\\UNC\\server\\share', /device prefix/],
  ['CON', /device \(CON\)/],
  ['src\\nul.txt', /device \(nul\)/],
  ['C:\\work\\COM1.log', /device/],
  ['lpt9', /device/],
  ['COM¹', /device/],
  ['aux .c', /device/],
  ['CONIN$', /device/],
  ['NUL/x', /device/],
  ['secret.txt.', /ends with a dot or a blank/],
  ['secret.txt ', /ends with a dot or a blank/],
  ['folder. \\x', /ends with a dot or a blank/],
  ['..\\...\\x', /ends with a dot or a blank/],
  ['C:foo', /relative to a drive/],
  ['c:..\\x', /relative to a drive/],
  ['a|b', /not allow/],
  ['what?', /not allow/],
  ['a\u0007b', /not allow/],
];

describe('ATTACK 61: a Windows path', () => {
  it.each(tricks)('is refused: %j', (path, trick) => {
    expect(windowsPathTrick(path)).toMatch(trick);
  });

  const plain = String.raw`a.txt|C:\work\a b\c.txt|c:/work|..\x|.|./a/../b|console.log|com10.txt|NULL|\work|.gitignore|PROGRA~1`;
  it.each(plain.split('|'))('is taken as it is: %j', (path) => {
    expect(windowsPathTrick(path)).toBeUndefined();
  });
});
