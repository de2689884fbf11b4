import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Every attack that is known, by its number in the list that this project was begun with. A test carries the number. */
const rows = [
  { number: 1, title: 'an option in the place of a revision writes a file' },
  { number: 2, title: 'an option in the place of what is compared writes a file' },
  { number: 3, title: 'free arguments read any file' },
  { number: 4, title: 'a pager that is a command' },
  { number: 5, title: 'a remote that is an option with a command' },
  { number: 8, title: 'an archive from a command, or to any place' },
  { number: 9, title: 'subcommands of git that run commands' },
  { number: 12, title: 'configuration of git that runs commands' },
  { number: 13, title: 'an address that is a command' },
  { number: 14, title: 'a file from outside is added' },
  { number: 15, title: 'a repository is made in a folder of secrets' },
  { number: 16, title: 'a repository outside, or no roots at all' },
  { number: 17, title: 'one text that is split into arguments' },
  { number: 18, title: 'options of ripgrep that run or read' },
  { number: 19, title: 'targets and variables of make that run commands' },
  { number: 20, title: 'modes of cmake that run commands' },
  { number: 22, title: 'packages from elsewhere, or that are options' },
  { number: 23, title: 'options of build tools that run code' },
  { number: 24, title: 'a monitor of the repository runs on status' },
  { number: 25, title: 'a converter of the repository runs on diff' },
  { number: 26, title: 'a filter of the repository runs on status' },
  { number: 27, title: 'hooks of the repository' },
  { number: 29, title: 'transports and credentials of the repository' },
  { number: 30, title: 'a repository of another user' },
  { number: 31, title: 'submodules' },
  { number: 32, title: 'scripts of an installation' },
  { number: 33, title: 'the .npmrc of a project names programs' },
  { number: 34, title: 'a version is asked for in a project that answers' },
  { number: 35, title: 'the options of Maven that a project gives' },
  { number: 37, title: 'a dry run of make that runs code' },
  { number: 38, title: 'configuring with CMake runs code' },
  { number: 40, title: 'tests and checks run code' },
  { number: 41, title: 'a compose file wants the machine' },
  { number: 42, title: 'a project widens its own permissions' },
  { number: 43, title: 'what a program says of itself commands a model' },
  { number: 44, title: 'controls and hidden characters in what is shown' },
  { number: 45, title: 'a program of the project is found by a bare name' },
  { number: 47, title: 'a program of the project shadows the machine’s' },
  { number: 48, title: 'a login shell that talks, asks, hangs or starts daemons' },
  { number: 49, title: 'programs are called to find out what they can' },
  { number: 51, title: 'a sibling whose name begins like a root' },
  { number: 52, title: 'a link that leads outside' },
  { number: 53, title: 'a link whose name has no slash' },
  { number: 54, title: 'a root in another case' },
  { number: 56, title: 'a client replaces the roots of the operator' },
  { number: 57, title: 'FIFOs, sockets and devices' },
  { number: 58, title: 'pseudo-filesystems' },
  { number: 59, title: 'a folder is swapped for a link between check and use' },
  { number: 61, title: 'names that Windows reads otherwise' },
  { number: 63, title: 'a write to what others run or obey' },
  { number: 64, title: 'an edit that fits several places' },
  { number: 65, title: 'line endings change' },
  { number: 66, title: 'encodings are destroyed' },
  { number: 67, title: 'a file has changed since it was read' },
  { number: 68, title: 'files and lines without end' },
  { number: 69, title: 'patterns that take for ever' },
  { number: 71, title: 'links in the place of what we keep' },
  { number: 73, title: 'backslash commands of psql' },
  { number: 74, title: 'backslash commands of psql that reach a shell or files' },
  { number: 75, title: 'COPY to a program, although read-only' },
  { number: 77, title: 'a read-only session is left' },
  { number: 79, title: 'a change that begins like a question' },
  { number: 80, title: 'commands of the mysql client, and files by SQL' },
  { number: 81, title: 'dot commands of sqlite3' },
  { number: 82, title: 'functions of sqlite3 that reach files or load code' },
  { number: 84, title: 'passwords in arguments, results and logs' },
  { number: 85, title: 'a query without end' },
  { number: 86, title: 'the machine’s disk in a container' },
  { number: 87, title: 'ways out of a container, and other machines' },
  { number: 89, title: 'paths and daemons of docker' },
  { number: 90, title: 'what a shell would read' },
  { number: 91, title: 'a placeholder that becomes two arguments' },
  { number: 92, title: 'batch files of Windows' },
  { number: 93, title: 'commands that a list of forbidden ones lets through' },
  { number: 94, title: 'variables that run code' },
  { number: 95, title: 'secrets in the environment' },
  { number: 96, title: 'children outlive their time limit' },
  { number: 97, title: 'a program asks' },
  { number: 99, title: 'output without end' },
  { number: 100, title: 'output in other encodings' },
  { number: 102, title: 'a client vanishes' },
  { number: 103, title: 'a call takes longer than a client waits' },
  { number: 104, title: 'a tool lifts its own limits' },
  { number: 105, title: 'a model approves itself' },
  { number: 107, title: 'a tool that writes is called read-only' },
  { number: 108, title: 'what is written into the file of a host' },
  { number: 109, title: 'a web page drives the server' },
  { number: 112, title: 'a thousand calls, a million characters' },
];

const folder = fileURLToPath(new URL('..', import.meta.url));

/** The numbers that names of tests carry: as they stand there, or from the table that a name is filled from. */
function numbersIn(source: string): number[] {
  const named = [...source.matchAll(/ATTACK ([\d, –]*\d)/g)].flatMap(([, list = '']) => numbersOf(list));
  const isTable = /'ATTACK %[is]/.test(source);
  const tabled = isTable
    ? [...source.matchAll(/^\s*\[\s*'?(\d{1,3})'?,/gm)].map(([, number]) => Number(number))
    : [];
  return [...named, ...tabled];
}

/** `5, 13` and `24–29`. */
function numbersOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [from = NaN, to = from] = part.split('–').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

const tested = new Set<number>();
for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!path.endsWith('.test.ts') || path.endsWith('rows.test.ts')) continue;
  for (const number of numbersIn(readFileSync(join(folder, path), 'utf8'))) tested.add(number);
}

it.each(rows)('attack $number has a test: $title', ({ number }) => {
  expect(tested.has(number)).toBe(true);
});

it('names each attack once, and finds no unknown number in a test', () => {
  const numbers = rows.map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  // 28, which no list has, lies within a range.
  expect([...tested].filter((number) => number !== 28 && !numbers.includes(number))).toEqual([]);
});

it('listens to no port but where it serves HTTP, which attack 109 is about', () => {
  const source = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      /^(?:server|tools)[\\/].*\.ts$/.test(path) && !path.startsWith(join('server', 'wire', 'http', '')),
  );
  expect(files.length).toBeGreaterThan(80);
  // fetch_url asks others.
  const asking = join('tools', 'fetch', 'request.ts');
  for (const path of files) {
    const text = readFileSync(join(source, path), 'utf8');
    expect(text, path).not.toMatch(/createServer|\.listen\(|streamableHttp/i);
    if (path !== asking) expect(text, path).not.toMatch(/node:https?'/);
  }
});
