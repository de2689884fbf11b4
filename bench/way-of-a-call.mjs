// npm run bench:way: what of src/ a call enters, and what it takes beside starting the same program, in turn. Exits with 1 when
// that is more than a limit. RUNS=51 sets the rounds, FUNCTIONS=1 lists what was entered.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ms, quartile, ratio, startServer } from './measure.mjs';

const runs = Number(process.env.RUNS ?? 51);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-way-')));
const built = here('../dist/toolcrib.cjs');
const env = {
  ...process.env,
  HOME: temporary,
  XDG_CONFIG_HOME: join(temporary, 'config'),
  XDG_STATE_HOME: join(temporary, 'state'),
  XDG_CACHE_HOME: join(temporary, 'cache'),
};

/** A trusted repository whose tests do nothing, and folders that no call has to look into. */
function makeProject(name, folders) {
  const folder = join(temporary, name);
  for (let index = 0; index < folders; index++)
    mkdirSync(join(folder, `dir${index % 200}`, `sub${index}`), { recursive: true });
  for (let index = 0; index < 20; index++) writeFileSync(join(folder, `dir${index}`, 'text.txt'), 'text\n');
  writeFileSync(
    join(folder, 'package.json'),
    '{"name":"way","version":"1.0.0","scripts":{"test":"node -e 0"}}\n',
  );
  const git = (...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore', env });
  git('init');
  // Otherwise a commit starts a clean-up in the background, which goes on during the measurement.
  git('config', 'gc.auto', '0');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-m', 'first');
  execFileSync(process.execPath, [built, 'trust', folder, '--yes'], { env, stdio: 'ignore' });
  return folder;
}

const serve = (folder, ...args) =>
  startServer(process.execPath, [built, 'serve', '--root', folder, '--rule', 'run(true)=allow', ...args], {
    env,
  });

const callOf = (server) => async (name, given) => {
  const { result, error } = await server.ask('tools/call', { name, arguments: given });
  if (error || result.isError) throw new Error(`${name}: ${error?.message ?? result.content[0].text}`);
};

async function direct(folder, file, ...args) {
  const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}

let isOver = false;
function report(name, figures, value, most) {
  if (value > most) isOver = true;
  console.log(`${name.padEnd(44)} ${figures.padEnd(34)} (at most ${most})${value > most ? '  OVER' : ''}`);
}

/** The functions that a call of a tool enters, once it has been called before. */
async function measureEntered(folder, name) {
  const readable = join(temporary, 'readable');
  execFileSync(process.execPath, [here('../scripts/build.mjs'), '--readable', readable], {
    stdio: 'inherit',
  });
  const program = join(readable, 'serve.cjs');
  const server = startServer(process.execPath, [here('entered.cjs'), program, '--root', folder], {
    env: { ...env, NODE_PATH: here('../node_modules') },
    stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
  });
  const entered = async () => {
    server.child.send('entered');
    const [functions] = await once(server.child, 'message');
    return functions;
  };
  await server.initialize();
  // The fewest of several calls: what a server does once, soon after its start, is none of the way.
  let functions = [];
  for (let call = 0; call < 6; call++) {
    await callOf(server)(name, {});
    const now = await entered();
    if (call > 0 && (call === 1 || now.length < functions.length)) functions = now;
  }
  await server.stop();
  const files = [...new Set(functions.map(({ file }) => file))].sort();
  if (process.env.FUNCTIONS)
    for (const file of files) {
      const inside = functions.filter((one) => one.file === file);
      const shown = inside.map(({ name, count }) => (count > 1 ? `${name} ×${count}` : name));
      console.log(`${file} (${inside.length})\n  ${shown.join(', ')}`);
    }
  report(`named functions that ${name} enters`, `${functions.length}`, functions.length, 110);
  report('of files', `${files.length}`, files.length, 32);
}

/** Ours and theirs in turn, whichever is first in one round being second in the next. */
async function measureRatio(name, most, work) {
  const times = { theirs: [], ours: [] };
  for (let round = -5; round < runs; round++) {
    for (const which of round % 2 === 0 ? ['theirs', 'ours'] : ['ours', 'theirs']) {
      const startedAt = performance.now();
      await work[which]();
      if (round >= 0) times[which].push(performance.now() - startedAt);
    }
  }
  const [theirs, ours] = [quartile(times.theirs), quartile(times.ours)];
  report(name, `${ms(theirs)} -> ${ms(ours)}  ${ratio(ours, theirs)}`, ours / theirs, most);
}

async function measureServer(name, most, [folder, ...options], [tool, given], theirs) {
  const server = serve(folder, ...options);
  await server.initialize();
  try {
    await measureRatio(name, most, {
      ours: () => callOf(server)(tool, given),
      theirs: () => direct(folder, ...theirs),
    });
  } finally {
    await server.stop();
  }
}

try {
  console.log(`Node ${process.version}, ${runs} runs in turn, lower quartiles\n`);
  const small = makeProject('small', 20);
  await measureEntered(small, 'git_status');
  if (process.env.FUNCTIONS) process.exit();
  const large = makeProject('large', 20_000);
  const off = '--no-checkpoints';
  const test = ['npm_test', {}];
  const npm = ['npm', 'test'];
  await measureServer('npm_test / npm test', 1.15, [small, off], test, npm);
  await measureServer('the same, with checkpoints', 1.15, [small], test, npm);
  const command = ['run', { command: 'true' }];
  await measureServer('run true / true, 20,000 folders', 2, [large, off], command, ['true']);
} finally {
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = isOver ? 1 : 0;
