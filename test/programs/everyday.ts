import type { ProgramTrial } from './types.ts';

const json = '{"name": "shop", "scripts": {"test": "true", "build": "tsc"}}\n';
/** What is used every day, whatever a project is written in. */
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
