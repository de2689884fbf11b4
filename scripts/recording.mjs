// npm run recording: writes docs/recording.svg, from commands that are run for it in a real terminal. Needs bash and git.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const [cols, rows] = [101, 34];
const commands = [
  'toolcrib call project',
  'toolcrib call check',
  `toolcrib call edit_file path=src/cart.js old_string='sum + price' new_string='sum + price * count'`,
  'toolcrib call check',
  'toolcrib call undo last=1',
];
const files = {
  'package.json': '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/cart.js': 'export const total = (items) => items.reduce((sum, { price, count }) => sum + price, 0);\n',
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('counts each item as often as it is there', () => {
  assert.equal(total([{ price: 3, count: 2 }, { price: 1, count: 1 }]), 7);
});
`,
};

const home = mkdtempSync(join(tmpdir(), 'toolcrib-recording-'));
try {
  const { lines, typed } = await recorded(makeProject());
  writeFileSync(here('docs/recording.svg'), svg(lines, typed));
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** A project with a failing test, in a folder that is trusted. */
function makeProject() {
  const cwd = join(home, 'shop');
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'toolcrib'),
    `#!/bin/sh\nexec "${process.execPath}" "${here('dist/toolcrib.cjs')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, TERM: 'xterm', LANG: 'C.UTF-8', PS1: '$ ' };
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false'];
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '.'],
    [...who, 'commit', '-qm', 'start'],
  ])
    execFileSync('git', args, { cwd, env });
  execFileSync('toolcrib', ['trust', '.', '--yes'], { cwd, env });
  return { cwd, env };
}

/** What the terminal shows at the end, and which of its rows begin a command. */
async function recorded({ cwd, env }) {
  const terminal = new xterm.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
  const shell = spawn('bash', ['--norc', '--noprofile', '-i'], { cwd, env, cols, rows });
  shell.onData((data) => terminal.write(data));
  const screen = () => {
    const shown = Array.from({ length: rows }, (_, at) =>
      terminal.buffer.active.getLine(at)?.translateToString(true),
    );
    return shown.slice(0, shown.findLastIndex((line) => line !== '') + 1);
  };
  const prompted = async () => {
    for (let waited = 0; screen().at(-1)?.trim() !== '$'; waited += 50) {
      if (waited > 60_000) throw new Error(screen().join('\n'));
      await sleep(50);
    }
  };
  const typed = [];
  await prompted();
  for (const command of commands) {
    typed.push(screen().length - 1);
    shell.write(`${command}\r`);
    await sleep(200);
    await prompted();
  }
  const lines = screen().slice(0, -1);
  shell.kill();
  const shown = lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  return { lines: shown.map((line) => line.replaceAll(home, '~')), typed };
}

/** A picture that shows one row after the other, and all of them to who wants no movement. */
function svg(lines, typed) {
  const [width, step, margin] = [cols * 8.43 + 32, 18, 16];
  let seconds = 0;
  const texts = lines.map((line, at) => {
    const isTyped = typed.includes(at);
    seconds += isTyped ? 1.6 : 0.12;
    const text = line.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);
    const style = `style="animation-delay:${seconds.toFixed(2)}s"`;
    return `<text x="16" y="${margin + 13 + at * step}"${isTyped ? ' class="typed"' : ''} ${style}>${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${lines.length * step + 2 * margin}" xml:space="preserve" role="img">
<title>toolcrib in a terminal: the project, a failing check, an edit, a passing check, undo</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
.typed { font-weight: bold; fill: #0550ae }
@media (prefers-color-scheme: dark) {
  rect { fill: #161b22; stroke: #30363d }
  text { fill: #e6edf3 }
  .typed { fill: #79c0ff }
}
@media (prefers-reduced-motion: no-preference) {
  text { animation: show 0.01s both }
  @keyframes show { from { opacity: 0 } to { opacity: 1 } }
}
</style>
<rect x="0.5" y="0.5" width="${(width - 1).toFixed(0)}" height="${lines.length * step + 2 * margin - 1}" rx="8"/>
${texts.join('\n')}
</svg>
`;
}
