import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { checkConfig, type Config } from '../core/settings.ts';
import { UsageError } from './usage.ts';

/** Where the operator's configuration is kept: the folder the platform has for that. */
export function configFile(
  env: NodeJS.ProcessEnv = process.env,
  platform: string = process.platform,
): string {
  const base = platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  return join(base && isAbsolute(base) ? base : join(homedir(), '.config'), 'toolcrib', 'config.json');
}

/**
 * The operator's configuration; empty when there is no file. One that cannot be understood stops the server: falling
 * back could be more open than what was written. Throws UsageError.
 */
export async function readConfig(file = configFile()): Promise<Config> {
  const facts = await stat(file).catch(() => undefined);
  if (!facts) return {};
  // Whoever can write to it would decide what a model may do.
  if (process.platform !== 'win32' && (facts.mode & 0o002) !== 0) {
    throw new UsageError(`${file}: everybody can write to it. chmod o-w makes it usable.`);
  }
  try {
    const config = checkConfig(JSON.parse(await readFile(file, 'utf8')));
    const roots = config.roots?.map((root) => expanded(root, file));
    return { ...config, ...(roots ? { roots } : {}) };
  } catch (error) {
    if (error instanceof ToolcribError || error instanceof SyntaxError) {
      throw new UsageError(`${file}: ${error.message.replaceAll('\n', ' ')}`);
    }
    throw error;
  }
}

function expanded(root: string, file: string): string {
  if (root.startsWith('~/')) return join(homedir(), root.slice(2));
  if (isAbsolute(root)) return root;
  throw new UsageError(
    `${file}: roots: "${root}" is not absolute; where a host starts the server is not known.`,
  );
}
