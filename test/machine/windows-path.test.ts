import { describe, expect, it } from 'vitest';
import { windowsPathTrick } from '../../src/machine/paths/given-path.ts';

/** The message of a refusal, and paths that are refused so. */
const tricks = {
  stream: ['notes.txt:hidden', 'C:\\work\\notes.txt::$DATA', 'C:\\work:x\\y'],
  'device prefix': [
    '\\\\?\\C:\\Windows',
    '//?/C:/Windows',
    '\\\\.\\pipe\\docker_engine',
    '\\??\\C:\\Windows',
  ],
  'a device prefix': ['/??/C:/Windows', '\\\\?\\UNC\\server\\share'],
  'another machine': ['\\\\server\\share\\x', '//server/share/x', '/\\server/share'],
  'device (': ['CON', 'src\\nul.txt', 'C:\\work\\COM1.log', 'lpt9', 'COM¹', 'aux .c', 'CONIN$', 'NUL/x'],
  'ends with a dot or a blank': ['secret.txt.', 'secret.txt ', 'folder. \\x', '..\\...\\x'],
  'relative to a drive': ['C:foo', 'c:..\\x'],
  'not allow': ['a|b', 'what?', 'a\u0007b'],
};

describe('ATTACK 61: a Windows path', () => {
  it.each(Object.entries(tricks).flatMap(([trick, paths]) => paths.map((path) => [path, trick] as const)))(
    'is refused: %j',
    (path, trick) => {
      expect(windowsPathTrick(path)).toContain(trick);
    },
  );

  const plain = String.raw`a.txt|C:\work\a b\c.txt|c:/work|..\x|.|./a/../b|console.log|com10.txt|NULL|\work|.gitignore|PROGRA~1`;
  it.each(plain.split('|'))('is taken as it is: %j', (path) => {
    expect(windowsPathTrick(path)).toBeUndefined();
  });
});
