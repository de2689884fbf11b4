import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ProgramTrial } from './types.ts';

/** A display that nobody sees. */
async function startDisplay() {
  const display = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '640x480x8'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [number] = (await once(display.stdout, 'data')) as [Buffer];
  return {
    env: { DISPLAY: `:${number.toString().trim()}` },
    end: () => {
      display.kill();
    },
  };
}

const json = '{"name": "shop", "scripts": {"test": "true", "build": "tsc"}}\n';
/** Programs that are used every day, whatever a project is written in. */
const trials: readonly ProgramTrial[] = [
  {
    program: 'bash',
    from: { apt: 'bash' },
    files: { 'a.sh': 'echo "$1-$#"\n', 'bad.sh': 'if true; then\n' },
    calls: [
      ['run_script', { script: 'a.sh', args: ['x y', '-z'] }, /^x y-2$/m],
      ['check', { script: 'a.sh' }, /no diagnostics/],
      ['check', { script: 'bad.sh' }, /bad\.sh:\d error: syntax error/],
    ],
  },
  {
    program: 'zsh',
    from: { apt: 'zsh' },
    files: { 'a.zsh': 'print ${(U)1}\n', 'bad.zsh': 'echo a\ndone\n' },
    calls: [
      ['run_script', { script: 'a.zsh', args: ['loud'] }, /LOUD/],
      ['check', { script: 'bad.zsh' }, /bad\.zsh:2 error: parse error/],
    ],
  },
  {
    program: 'fish',
    from: { apt: 'fish' },
    files: { 'a.fish': 'echo (count $argv)\n', 'bad.fish': 'if true\n  echo a\n' },
    calls: [
      ['run_script', { script: 'a.fish', args: ['a', 'b'] }, /^2/],
      ['check', { script: 'bad.fish' }, /bad\.fish:1 error: Missing end/],
    ],
  },
  {
    program: 'jq',
    from: { apt: 'jq' },
    files: { 'package.json': json },
    calls: [
      ['filter', { filter: '.scripts | keys', paths: ['package.json'], compact: true }, /\["build","test"\]/],
      ['filter', { filter: '.name', paths: ['package.json'], raw: true }, /^shop$/m],
    ],
  },
  {
    program: 'just',
    from: { npm: 'rust-just@1' },
    files: {
      justfile:
        "# Says hello\nhello who='you':\n  @echo hi {{who}}\nall: hello\n\n[private]\nhidden:\n  @echo hidden\n",
    },
    calls: [
      ['tasks', {}, /^2 tasks\nall.*\nhello.*Says hello/],
      ['task', { task: 'hello', args: ['a b'] }, /^hi a b/],
      ['task', { task: 'nope' }, /PROGRAM_FAILED[^]*nope/],
    ],
  },
  {
    program: 'meld',
    from: { apt: 'meld xvfb' },
    start: () => startDisplay(),
    files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'old/a.txt': 'a\n', 'new/a.txt': 'b\n' },
    calls: [
      ['diff', { left: 'a.txt', right: 'b.txt' }, /started|opened|done/i],
      ['folder_sync', { left: 'old', right: 'new' }, /started|opened|done/i],
      ['merge', { left: 'a.txt', right: 'b.txt', base: 'a.txt', output: 'c.txt' }, /started|opened|done/i],
    ],
  },
  {
    program: 'system',
    from: { apt: 'procps' },
    files: {},
    calls: [
      ['processes', { limit: 1 }, /process(?:es)?/],
      ['disk', {}, /KB free/],
      ['ports', { port: 65_535 }, /no listening ports/],
      // Where systemd does not run, it says so.
      ['service', { service: 'no-such-thing' }, /could not be found|systemd/],
    ],
  },
];

export default trials;
