import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chatPlace, type ChatPlace } from '../repl/support/chat.ts';
import { say } from '../repl/support/fake-model.ts';
import { startInTerminal } from '../repl/support/pty.ts';
import { temporaryRepository } from '../support/repository.ts';
import { program } from '../support/server.ts';

// Every command that a page names is run: a renamed option makes a page wrong before anybody has read it.

const pages = [
  'README.md',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
];
const ours = /^(?:toolcrib|node dist\/toolcrib\.cjs) \S/;

/** The commands of a page: lines of its blocks for a shell, and ours in its text. */
function commandsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', '').split('\n'),
  );
  const inText = [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) =>
    code.replace(/^(?=(?:config|trust|doctor|audit) \S)/, 'toolcrib '),
  );
  const lines = [...blocks, ...inText.filter((code) => ours.test(code))];
  return [...new Set(lines.map((line) => line.replace(/(?:^| +)# .*/, '').trim()))].filter(Boolean);
}

const npmCommand = /^(?:export \w+=…|npm )/;
/** A placeholder for something of the reader's own. */
const filledIn = (command: string): string =>
  command
    .replace('HOST', 'claude-code')
    .replace(/\[?FOLDER\]?/, '~/shop')
    .replace('FILE', 'servers.json')
    .replace(' trust /work', ' trust ~/shop');

/** A home with a project in it, the checkout that commands are typed in, and what else they start. */
async function world(): Promise<ChatPlace> {
  const place = await chatPlace();
  const { home, cwd } = place;
  expect(home.startsWith(tmpdir())).toBe(true); // One of the commands deletes folders in it.
  const write = (path: string, content: string, mode = 0o644) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
  };
  temporaryRepository(cwd).git('clone', '--quiet', cwd, join(home, 'shop'));
  symlinkSync(dirname(program), join(cwd, 'dist'));
  write(join(cwd, 'servers.json'), '{ "mcpServers": {} }');
  write(join(cwd, 'number.json'), '{ "type": "object", "properties": { "number": { "type": "number" } } }');
  write(
    join(home, '.config/toolcrib/profiles/review.yaml'),
    'prompt: Review {{base}}.\nvariables: { base: main }\n',
  );
  const bin = join(home, 'bin');
  // Ports of the pages may be taken here.
  const free = 'for word in "$@"; do [ "$word" = serve ] && set -- "$@" --port 0; done';
  write(join(bin, 'toolcrib'), `#!/bin/sh\n${free}\nexec '${process.execPath}' '${program}' "$@"\n`, 0o755);
  write(
    join(bin, 'ssh'),
    '#!/bin/bash\nwhile [[ $1 = -* ]]; do [ "$1" = -L ] && shift; shift; done\ncd && shift && exec sh -c "$*"\n',
    0o755,
  );
  const mounted = 'case $word in /work) word=~/shop;; /run/token) word=~/toolcrib-tokens;; esac';
  const docker = [
    'while [ $1 != IMAGE ]; do shift; done; shift',
    `for word; do ${mounted}; set -- "$@" "$word"; shift; done`,
    'exec "$@"',
  ];
  write(join(bin, 'docker'), `#!/bin/sh\n${docker.join('\n')}\n`, 0o755);
  const { XDG_STATE_HOME: _state, XDG_CACHE_HOME: _cache, ...env } = place.env;
  return { ...place, env: { ...env, PATH: `${bin}:${dirname(process.execPath)}:${env['PATH']}` } };
}

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/** Runs a line in bash; `stop` sees all that was said so far, and ends it when it returns true. */
function typed(
  { cwd, env }: ChatPlace,
  line: string,
  stop?: (said: string) => Promise<boolean>,
): Promise<Ended> {
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const end = () => {
    if ((child.exitCode ?? child.signalCode) === null) process.kill(-Number(child.pid));
  };
  onTestFinished(end);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', async (text: string) => {
      said += text;
      if (await stop?.(said)) end();
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

/** The server answers who has the token. */
async function answers({ home }: ChatPlace, said: string): Promise<boolean> {
  const [, url, file = ''] =
    /serving (\S+) as instance \w+; clients need the token in (.+)\n/.exec(said) ?? [];
  if (url === undefined) return false;
  const [token] = readFileSync(file.replace('~', home), 'utf8').split('\n');
  const begin = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const { status } = await fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: begin }),
  });
  expect(status).toBe(200);
  return true;
}

/** Of the environment of the tests. */
const nothing = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));

async function runs(place: ChatPlace, command: string): Promise<void> {
  const line = filledIn(command);
  const talks = / chat\b(?!.* (?:-p|--help))/.test(line);
  if (talks || / trust\b[^-]*$/.test(line)) {
    const terminal = startInTerminal(['bash', '-c', line], {
      cwd: place.cwd,
      env: { ...nothing, ...place.env },
      cols: 200,
    });
    await terminal.sees(talks ? '/help' : '[y/N]');
    terminal.type(talks ? '/exit\r' : 'y\r');
    expect(await terminal.exit, command).toBe(0);
  } else if (line.includes('serve --http')) {
    const { said } = await typed(place, line, (all) => answers(place, all));
    expect(said, command).toContain('serving');
  } else {
    const { code, said } = await typed(place, line);
    // The doctor fails where it finds something, as it does in an empty home.
    const wanted = line.includes(' doctor') ? [0, 1] : [0];
    expect(wanted, `${command}: ${said}`).toContain(code);
  }
}

it('finds the commands in the pages of the documentation', () => {
  expect(commandsOf('README.md')).toContain('node dist/toolcrib.cjs config claude-code --write');
  expect(commandsOf('docs/hosts.md').length).toBeGreaterThan(10);
});

it.each(pages)('runs every command of %s', async (page) => {
  const place = await world();
  place.model.otherwise(() => say('{ "number": 3 }'));
  const scripts = JSON.parse(readFileSync('package.json', 'utf8')).scripts as Record<string, string>;
  for (const command of commandsOf(page)) {
    if (!npmCommand.test(command)) await runs(place, command);
    // What builds, tests and releases is run by CI.
    for (const [, name = ''] of command.matchAll(/npm run ([\w:-]+)/g))
      expect(scripts).toHaveProperty([name]);
  }
});
