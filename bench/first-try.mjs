// npm run bench:first-try: every listed tool, called as the models of five hosts would write it. A call is right when what
// was meant has been done at the first try. Below 95 % the exit code is 1. ONLY=word picks tools, SHOW=1 prints answers.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { environmentOf, Tools } from './day/sides.mjs';
import { calls, foreign, hosts } from './first-try/calls.mjs';
import { makeProject, reset } from './first-try/project.mjs';

const least = 0.95;
const only = process.env.ONLY ?? '';
const top = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-first-try-')));
const [home, folder] = [join(top, 'home'), join(top, 'shop')];
for (const path of [home, folder]) mkdirSync(path);
writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada Byron\n\temail = ada@example.org\n');
const { page, url } = await makeProject(folder);
execFileSync('git', ['tag', 'first'], { cwd: folder });
let tools = await Tools.start(folder, environmentOf(home));

const at = {
  folder,
  url,
  read: (path) => readFileSync(join(folder, path), 'utf8'),
  write(path, content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  },
  call: (name, given) => tools.answer([name, given]),
};

/** Makes a call and says why it was not what was meant; undefined when it was. */
async function attempt(name, given, { before, did, then }) {
  reset(folder);
  // Another session: what has just been put back would be somebody else's change to a file that was read.
  await tools.close();
  tools = await Tools.start(folder, environmentOf(home));
  await before?.(at);
  const values = typeof given === 'function' ? given() : given;
  const answer = await at.call(name, values);
  let isDone;
  try {
    isDone = await did({ ...at, answer, isError: /^(\[error\]|[A-Z_]{6,}:)/.test(answer) });
  } catch {
    isDone = false; // What it should have made is not there.
  }
  await then?.(at);
  if (process.env.SHOW) console.log(`--- ${name} ${JSON.stringify(values)}\n${answer}`);
  return isDone ? undefined : answer.split('\n').slice(0, 2).join(' ').slice(0, 300);
}

const failures = [];
let [right, all] = [0, 0];
try {
  const { tools: listed } = await tools.client.listTools();
  for (const { name } of listed.filter((tool) => tool.name.includes(only))) {
    const asked = calls[name];
    if (!asked) failures.push(`${name}: there is no call of it here`);
    for (const [index, host] of (asked ? hosts : []).entries()) {
      const failure = await attempt(name, () => asked.of(at)[index], asked);
      all++;
      if (failure === undefined) right++;
      else failures.push(`${host}: ${name} ${JSON.stringify(asked.of(at)[index])}\n    ${failure}`);
    }
  }
  const missing = Object.keys(calls).filter(
    (name) => name.includes(only) && !listed.some((tool) => tool.name === name),
  );
  if (missing.length > 0) failures.push(`not listed: ${missing.join(', ')}`);
  for (const failure of failures) console.log(failure);
  console.log(`\n${right} of ${all} calls did what was meant: ${((100 * right) / all).toFixed(1)} %`);
  let mapped = 0;
  for (const [name, given, did] of only ? [] : foreign) {
    const failure = await attempt(name, given, { did });
    if (failure === undefined) mapped++;
    else console.log(`${name} ${JSON.stringify(given).slice(0, 100)}\n    ${failure}`);
  }
  if (!only) console.log(`${mapped} of ${foreign.length} tools that hosts have under other names`);
  process.exitCode = right / all < least || missing.length > 0 ? 1 : 0;
} finally {
  await tools.close();
  page.close();
  rmSync(top, { recursive: true, force: true, maxRetries: 5 });
}
