import { basename, delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printable } from '../../core/command-line.ts';

/**
 * The command line by which a person starts this very program: its name where that is on their PATH, else
 * Node and its script.
 */
export function ownCommandLine({
  execPath,
  argv,
  env,
}: Pick<NodeJS.Process, 'execPath' | 'argv' | 'env'> = process): string {
  const [, started = ''] = argv;
  // Imported by another program, it is not what was started.
  const script = /^toolcrib(?:\.cjs)?$/.test(basename(started))
    ? started
    : fileURLToPath(new URL('toolcrib.cjs', import.meta.url));
  const onPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(script));
  // A package runner's own folder is on the PATH of what it starts, and not of the person's shell.
  const isLasting = !/[\\/]_npx[\\/]|[\\/]node_modules[\\/]\.bin$/.test(dirname(script));
  return basename(script) === 'toolcrib' && onPath && isLasting ? 'toolcrib' : printable([execPath, script]);
}
