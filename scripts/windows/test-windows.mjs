// npm run test:windows: the built server under Wine, in Node for Windows, as test/windows/ wants it. It is left out
// where no Wine has been set up; `npm run test:windows -- --setup` does that.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { driveIn, setUp, startInWine, whyNot, wineFolder } from './wine.mjs';

const folder = wineFolder();
const [first, ...others] = process.argv.slice(2);
const why = whyNot(folder);
if (first === '--setup') {
  await setUp(folder);
  console.log(`Wine is set up in ${folder}: npm run test:windows`);
} else if (why !== undefined) {
  console.log(
    `left out: Windows, as ${why}. npm run test:windows -- --setup makes one (root, 2.2 GB, some minutes).`,
  );
} else {
  process.exitCode = await test([first, ...others].filter((word) => word !== undefined));
}

async function test(words) {
  const temporary = mkdtempSync(join(tmpdir(), 'toolcrib-windows-'));
  copyFileSync(new URL('bridge.cjs', import.meta.url), join(driveIn(folder), 'bridge.cjs'));
  const said = join(temporary, 'said');
  const output = openSync(said, 'w');
  const wine = startInWine(
    folder,
    ['wine', 'C:\\node24\\node.exe', 'C:\\bridge.cjs'],
    ['ignore', output, output],
  );
  try {
    const bridge = await bridgeIn(said, wine);
    const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
    const env = { ...process.env, WINDOWS_BRIDGE: bridge, WINDOWS_DRIVE: driveIn(folder) };
    const run = spawn(process.execPath, [vitest, 'run', '--project', 'windows', ...words], {
      env,
      stdio: 'inherit',
    });
    return await new Promise((resolve, reject) =>
      run.once('error', reject).once('exit', (code) => resolve(code ?? 1)),
    );
  } finally {
    wine.kill('SIGKILL');
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** What the bridge has written: port and key. Fails when Wine ends, or says nothing for two minutes. */
async function bridgeIn(file, wine) {
  const end = performance.now() + 120_000;
  while (wine.exitCode === null && wine.signalCode === null && performance.now() < end) {
    const bridge = /^(\d+ \S+)\r?$/m.exec(readFileSync(file, 'utf8'))?.[1];
    if (bridge) return bridge;
    await sleep(50);
  }
  throw new Error(`Wine does not start: ${readFileSync(file, 'utf8')}`);
}
