import { ToolcribError } from '../../core/errors.ts';
import type { Platform } from '../../core/discoverer.ts';

export interface Started {
  file: string;
  args: readonly string[];
  /** Whether `args` is already quoted for Windows. */
  verbatim: boolean;
}

/**
 * What to hand to the operating system. Only a Windows batch file needs more than its own path: it is run by cmd.exe,
 * which reads its arguments a second time (CVE-2024-27980). Each argument is quoted for that, and one that cannot
 * be quoted safely is refused with ARG_INVALID.
 */
export function asStarted(program: string, argv: readonly string[], platform: Platform): Started {
  if (platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(program))
    return { file: program, args: argv, verbatim: false };
  const line = [program, ...argv].map(quotedForCmd).join(' ');
  const root = process.env['SystemRoot'] ?? 'C:\\Windows';
  // /d: no AutoRun commands; /v:off: "!" is a character; /s with outer quotes: the line is taken as it is.
  return {
    file: `${root}\\System32\\cmd.exe`,
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

function quotedForCmd(argument: string): string {
  const found = /[%!"\r\n\0]/.exec(argument);
  if (found) {
    throw new ToolcribError(
      'ARG_INVALID',
      `"${argument}": ${JSON.stringify(found[0])} cannot be passed safely to a Windows batch file.`,
      'Leave the character out.',
    );
  }
  // Backslashes before the closing quote would escape it for the program's own parser.
  return `"${argument.replace(/\\+$/, (slashes) => slashes + slashes)}"`;
}
