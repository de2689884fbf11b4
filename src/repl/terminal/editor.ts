import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets a person write a text in their editor: `$VISUAL`, `$EDITOR`, or the one that every system has. `run` starts it
 * in the terminal and returns its exit code. Undefined when the editor ended with an error, which is how one says
 * "no", or left no text. Throws whatever `run` throws.
 */
export async function editText(
  text: string,
  env: NodeJS.ProcessEnv,
  run: (argv: readonly string[]) => Promise<number>,
): Promise<string | undefined> {
  const editor = env['VISUAL'] || env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi');
  // A command line in words, of which quotes keep spaces; no shell looks at it.
  const words = (editor.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  // Nobody else may look into this folder.
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-'));
  const file = join(folder, 'message.md');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    if ((await run([...words, file])) !== 0) return undefined;
    return readFileSync(file, 'utf8')
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n')
      .replace(/\n+$/, '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).path === file) return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
