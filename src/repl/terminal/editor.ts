import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatError } from '../errors.ts';

/**
 * Lets a person write a text in their editor: `$VISUAL`, `$EDITOR`, or the one that every system has. `run` starts it
 * in the terminal and returns its exit code. Undefined when the editor ended with an error, which is how one says "no".
 * Throws PROGRAM_FAILED when the file is gone afterwards, and whatever `run` throws.
 */
export async function editText(
  text: string,
  env: NodeJS.ProcessEnv,
  run: (argv: readonly string[]) => Promise<number>,
): Promise<string | undefined> {
  const editor = env['VISUAL'] || env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi');
  // Nobody else may look into this folder.
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-'));
  const file = join(folder, 'message.md');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    if ((await run([...wordsOf(editor), file])) !== 0) return undefined;
    return readFileSync(file, 'utf8')
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n')
      .replace(/\n+$/, '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).path !== file) throw error;
    throw new ChatError('PROGRAM_FAILED', `${editor} left no text behind: ${String(error)}`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A command line in words; quotes keep spaces. No shell looks at it. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}
