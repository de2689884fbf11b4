import { pathsOf, type FileFacts, type Host } from '../host.ts';
import { variable } from '../variables.ts';

/** A place where a program may be. */
export interface Candidate {
  readonly path: string;
  readonly source: string;
  /** What to say when another one is better. */
  readonly ifLater: string;
}

export type Judged = Candidate & {
  readonly facts: FileFacts;
  /** Why it cannot be used. */ readonly why?: string;
};

/** What is at a candidate's path and why it cannot be started, if so; undefined when there is nothing. */
export async function judge(candidate: Candidate, host: Host): Promise<Judged | undefined> {
  const facts = await host.stat(candidate.path);
  if (!facts) return undefined;
  const why = whyNotStartable(facts, host) ?? (await whyStub(candidate.path, host));
  return { ...candidate, facts, ...(why !== undefined && { why }) };
}

/** The same for a place whose folder is not on the search path, hence has not been looked at. */
export async function judgeWithFolder(candidate: Candidate, host: Host): Promise<Judged | undefined> {
  const [judged, folder] = await Promise.all([
    judge(candidate, host),
    host.stat(pathsOf(host).dirname(candidate.path)),
  ]);
  if (!judged || judged.why !== undefined || !folder || (folder.mode & 0o002) === 0) return judged;
  return { ...judged, why: 'in a folder that everyone can write to' };
}

function whyNotStartable(facts: FileFacts, host: Host): string | undefined {
  if (!facts.isFile) return 'not a file';
  // On Windows the name's ending decides, and the mode means nothing.
  if (host.platform === 'win32') return undefined;
  if ((facts.mode & 0o002) !== 0) return 'world-writable: anyone could have put something else there';
  return isExecutable(facts, host.uid) ? undefined : 'not executable';
}

/** Groups are not looked up: where the group may run it, we say yes and let the start fail. */
function isExecutable({ mode, uid }: FileFacts, ours: number): boolean {
  if (ours === 0) return (mode & 0o111) !== 0;
  return (mode & (uid === ours ? 0o100 : 0o011)) !== 0;
}

/** macOS has these in /usr/bin before they are installed; starting one opens a dialog that offers to install them. */
const xcodeStubs: Readonly<Record<string, readonly string[]>> = {
  tools: [
    'git',
    'make',
    'gnumake',
    'python3',
    'pip3',
    'm4',
    'gm4',
    'bison',
    'yacc',
    'flex',
    'lex',
    'gperf',
    'ctags',
  ],
  compilers: [
    'gcc',
    'g++',
    'cc',
    'c++',
    'cpp',
    'clang',
    'clang++',
    'clangd',
    'swift',
    'swiftc',
    'lldb',
    'xcodebuild',
  ],
  binaries: ['ld', 'ar', 'nm', 'as', 'strip', 'ranlib', 'otool', 'size', 'strings', 'dwarfdump'],
};
const developerFolders = [
  '/var/db/xcode_select_link/usr/bin',
  '/Library/Developer/CommandLineTools/usr/bin',
  '/Applications/Xcode.app/Contents/Developer/usr/bin',
];

async function whyStub(path: string, host: Host): Promise<string | undefined> {
  if (host.platform !== 'darwin' || !path.startsWith('/usr/bin/')) return undefined;
  const name = path.slice('/usr/bin/'.length);
  if (!Object.values(xcodeStubs).flat().includes(name)) return undefined;
  const behind = await Promise.all(developerFolders.map((folder) => host.stat(`${folder}/${name}`)));
  if (behind.some((found) => found?.isFile)) return undefined;
  return 'a stub of macOS: install the Xcode command line tools with "xcode-select --install"';
}

/** The file names under which a program of that name can be started, best first. */
export function fileNamesOf(name: string, host: Host): string[] {
  if (host.platform !== 'win32') return [name];
  const endings = startableEndings(host);
  return endings.some((ending) => name.toLowerCase().endsWith(ending))
    ? [name]
    : endings.map((ending) => name + ending);
}

/** PATHEXT may also name scripts (.js, .vbs): those need a program of their own, so they cannot be started. */
function startableEndings(host: Host): string[] {
  const named = (variable(host, 'PATHEXT') ?? '').toLowerCase().split(pathsOf(host).delimiter);
  const startable = ['.com', '.exe', '.bat', '.cmd'];
  const endings = named.filter((ending) => startable.includes(ending));
  return endings.length > 0 ? endings : startable;
}
