// npm run bench:day: tasks of a developer's day, with the tools and with a shell, on projects that are made anew for each
// side. Prints turns (calls), tokens of results and questions of both. ONLY=word picks projects or tasks; UNCUT=1 leaves
// out the filters of the shell's side; SHOW=1 prints what each side was answered. Above a limit, or with an answer that
// lacks what it must say, the exit code is 1.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projects } from './day/projects.mjs';
import { environmentOf, Shell, Tools } from './day/sides.mjs';

const only = process.env.ONLY ?? '';
const most = { calls: 1, tokens: 0.7, questions: 1 };
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-day-')));
const rows = [];
const faults = [];

/** A project for one side, where that side is at home. */
async function start(project, who) {
  const home = join(folder, `home-${who}-${project.name}`);
  const at = join(folder, who, project.folder ?? 'shop');
  rmSync(at, { recursive: true, force: true });
  for (const path of [home, at]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada Byron\n\temail = ada@example.org\n');
  const made = await project.make(at);
  const env = { ...environmentOf(home), ...made?.env };
  const side = who === 'ours' ? await Tools.start(at, env) : new Shell(at, env);
  return Object.assign(side, { made, who });
}

async function perform(task, side) {
  const { who } = side;
  let failure;
  try {
    const [turn, read] = [side.turn.bind(side), side.read.bind(side)];
    await task[who]({ turn, read, folder: side.folder, made: side.made });
  } catch (error) {
    failure = error.message;
  }
  const done = side.count();
  if (process.env.SHOW) show(task, who, done);
  const missing = task.expects.filter((expected) => !expected.test(done.text));
  if (!failure && missing.length > 0) failure = `the answer lacks ${missing.join(' ')}`;
  if (!failure && !isDone(task, side)) failure = 'it was not done';
  if (failure) faults.push(`${task.name}, ${who}: ${failure}`);
  return { ...done, failure };
}

function isDone({ holds = () => true }, side) {
  try {
    return holds(side);
  } catch {
    return false; // A file that should be there is not.
  }
}

function show({ name }, who, { answers, calls, tokens, questions }) {
  console.log(`\n=== ${name} (${who}): ${calls} calls, ${tokens} tokens`);
  for (const { asked, text } of answers)
    console.log(`--- ${typeof asked === 'string' ? asked : JSON.stringify(asked)}\n${text}`);
  for (const question of questions) console.log(`--- asked: ${question}`);
}

async function performAll(project) {
  const tasks = project.tasks.filter(({ name }) => `${project.name} ${name}`.includes(only));
  if (tasks.length === 0) return;
  // What comes later in a project builds upon what was done before.
  const needed = project.tasks.slice(0, project.tasks.indexOf(tasks.at(-1)) + 1);
  const done = { ours: [], theirs: [] };
  for (const who of ['theirs', 'ours']) {
    const side = await start(project, who);
    try {
      for (const task of needed) done[who].push(await perform(task, side));
    } finally {
      await side.close?.();
      await side.made?.stop?.();
    }
  }
  needed.forEach(({ name }, index) => {
    rows.push({ project: project.name, name, ours: done.ours[index], theirs: done.theirs[index] });
  });
}

const sum = (who, key) => rows.reduce((all, row) => all + Number(row[who][key].length ?? row[who][key]), 0);
const cells = (ours, theirs) => `${String(ours).padStart(6)} ${String(theirs).padStart(6)}`;
const print = (name, row) =>
  console.log(`${name.padEnd(66)} ${row('calls')}   ${row('tokens')}   ${row('questions')}`);
const length = (value) => value.length ?? value;

function table() {
  console.log(`${''.padEnd(66)}     calls            tokens         questions`);
  console.log(`${''.padEnd(66)}   ours  shell     ours  shell     ours  shell`);
  for (const { project, name, ours, theirs } of rows)
    print(`${project}: ${name}${ours.failure || theirs.failure ? ' (!)' : ''}`, (key) =>
      cells(length(ours[key]), length(theirs[key])),
    );
  print('\nall', (key) => cells(sum('ours', key), sum('theirs', key)));
}

function judge() {
  const over = [];
  for (const key of ['calls', 'tokens']) {
    const ratio = sum('ours', key) / sum('theirs', key);
    console.log(`${key}: ${ratio.toFixed(2)} times those of the shell (at most ${most[key]})`);
    if (ratio > most[key]) over.push(key);
  }
  for (const { name } of projects) {
    const asked = rows
      .filter(({ project }) => project === name)
      .reduce((all, row) => all + row.ours.questions.length, 0);
    if (asked > most.questions) over.push(`${asked} questions in ${name} (at most ${most.questions})`);
  }
  for (const line of [...faults, ...over.map((what) => `over the limit: ${what}`)]) console.log(line);
  process.exitCode = faults.length + over.length > 0 ? 1 : 0;
}

try {
  for (const project of projects) await performAll(project);
  table();
  judge();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
