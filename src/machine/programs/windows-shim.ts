import { win32 } from 'node:path';
import { variable, type Host } from '../host.ts';

/** The script that a batch file runs, in the forms that npm, cmd-shim and pnpm write. */
const scriptPatterns: readonly RegExp[] = [
  /^SET "NP[MX]_CLI_JS=%~dp0\\?([^"%]+\.js)"\s*$/im,
  /"%_prog%"\s+"%(?:~dp0|dp0%)\\?([^"%]+)"\s+%\*/i,
  /^\s*"%~dp0\\node\.exe"\s+"%~dp0\\?([^"%]+)"\s+%\*/im,
];

/**
 * Resolves the program behind a Node.js batch shim, so that `node.exe script.js` is started and cmd.exe,
 * which reads arguments a second time, is left out. Undefined for any other batch file. execa, which knows no
 * shims, would run the batch file: npm could then be given no argument with `%`, `!`, `"` or a line end.
 */
export async function behindShim(
  shim: string,
  host: Host,
  nodeOnPath: () => Promise<string | undefined>,
): Promise<{ program: string; leading: string[] } | undefined> {
  const text = (await host.head(shim, 4096)) ?? '';
  const target = scriptPatterns
    .map((pattern) => pattern.exec(text)?.[1])
    .find((found) => found !== undefined);
  if (!target || !/\bnode\b/i.test(text)) return undefined;
  const beside = win32.dirname(shim);
  const script = (await ownNpm(target, host)) ?? win32.join(beside, target);
  if (!(await host.stat(script))?.isFile) return undefined;
  const node = win32.join(beside, 'node.exe');
  const program = (await host.stat(node))?.isFile ? node : await nodeOnPath();
  return program === undefined ? undefined : { program, leading: [script] };
}

/** npm.cmd prefers the npm that was installed globally over the one that came with Node.js. */
async function ownNpm(target: string, host: Host): Promise<string | undefined> {
  const name = /node_modules\\npm\\bin\\(np[mx]-cli\.js)$/i.exec(target)?.[1];
  const roaming = variable(host, 'APPDATA');
  if (!name || !roaming) return undefined;
  const script = win32.join(roaming, 'npm', 'node_modules', 'npm', 'bin', name);
  return (await host.stat(script))?.isFile ? script : undefined;
}
