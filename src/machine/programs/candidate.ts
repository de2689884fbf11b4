import type { Host } from '../host.ts';

/** Why a file cannot be taken for a program of the machine's, though it can be started. */
export async function whyNot(path: string, host: Host): Promise<string | undefined> {
  const facts = await host.stat(path);
  // On Windows the mode means nothing, and is 0.
  if (facts && (facts.mode & 0o002) !== 0)
    return 'world-writable: anyone could have put something else there';
  return whyStub(path, host);
}

/** macOS has these in /usr/bin before they are installed; starting one opens a dialog that offers to install them. */
const stubs =
  /^\/usr\/bin\/(git|g?make|python3|pip3|gcc|g\+\+|cc|c\+\+|clang(?:\+\+|d)?|swiftc?|lldb|xcodebuild)$/;
const developerFolders = [
  '/var/db/xcode_select_link/usr/bin',
  '/Library/Developer/CommandLineTools/usr/bin',
  '/Applications/Xcode.app/Contents/Developer/usr/bin',
];

async function whyStub(path: string, host: Host): Promise<string | undefined> {
  const name = host.platform === 'darwin' ? stubs.exec(path)?.[1] : undefined;
  if (name === undefined) return undefined;
  const behind = await Promise.all(developerFolders.map((folder) => host.stat(`${folder}/${name}`)));
  if (behind.some((found) => found?.isFile)) return undefined;
  return 'a stub of macOS: install the Xcode command line tools with "xcode-select --install"';
}

/** Version managers: by their folders of shims, and by the programs that stand behind links of other names. */
const shims = [
  /\/\.?(mise|asdf|pyenv|rbenv|nodenv|jenv|goenv|proto)(?:-data|\/pyenv-win)?\/shims\//i,
  /\/(rustup|corepack|mise|volta|aqua)(?:-init|-shim|-proxy)?(?:\/dist\/\w+\.js)?(?:\.exe)?$/i,
];

/**
 * The version manager whose stand-in a program is. Such a one may download a whole toolchain when it is called, so it
 * is not called without being asked. Undefined for a program of its own, also for the managers themselves.
 */
export async function shimOf(program: string, host: Host): Promise<string | undefined> {
  const paths = [(await host.realPath(program)) ?? program, program].map((path) =>
    path.replaceAll('\\', '/'),
  );
  const found = paths.flatMap((path) => shims.map((shim) => shim.exec(path)?.[1]));
  const manager = found.find((name) => name !== undefined)?.toLowerCase();
  const name = paths.at(-1)?.replace(/.*\//, '');
  return manager === undefined || name?.startsWith(manager) ? undefined : manager;
}
