// A log of 60 MB in a folder of others: which errors, how many, what came before the first of a kind.
import { closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const many = 500_000;
const errors = ['timeout talking to payments', 'connection reset by peer', 'no such order', 'disk is full'];
const strange = 321_987;

function lineOf(index) {
  const at = new Date(Date.UTC(2026, 0, 5) + index * 100).toISOString();
  if (index === strange)
    return `${at} FATAL worker-3 out of memory: heap limit reached while packing order 88123`;
  if (index === strange - 3) return `${at} WARN worker-3 queue is 4,000 long`;
  if (index % 997 === 0)
    return `${at} ERROR worker-${index % 4} ${errors[(index / 997) % 7 < 4 ? (index / 997) % 4 : 0]}`;
  return `${at} INFO worker-${index % 4} request ${index} done in ${index % 83} ms, path /api/orders/${index % 1000}`;
}

/** How often each is said, the most frequent first. */
function counts() {
  const all = new Map();
  for (let index = 0; index < many; index += 997) {
    const [, error] = /ERROR worker-\d (.*)/.exec(lineOf(index)) ?? [];
    if (error) all.set(error, (all.get(error) ?? 0) + 1);
  }
  return [...all].toSorted((one, other) => other[1] - one[1]);
}

export const log = {
  name: 'Log',
  folder: 'logs',
  make(folder) {
    mkdirSync(join(folder, 'old'), { recursive: true });
    for (let day = 1; day <= 40; day++) {
      const path = join(folder, 'old', `app-${day}.log`);
      writeFileSync(path, `${lineOf(day)}\n`.repeat(day === 17 ? 20_000 : 50));
      utimesSync(path, 1e9 + day, 1e9 + day);
    }
    const file = openSync(join(folder, 'app.log'), 'w');
    for (let from = 0; from < many; from += 10_000)
      writeSync(file, Array.from({ length: 10_000 }, (_, index) => `${lineOf(from + index)}\n`).join(''));
    closeSync(file);
  },
  tasks: [
    {
      name: 'which errors, how often each',
      expects: counts().map(([error, count]) => new RegExp(`${count}.*${error}`)),
      ours: ({ turn }) =>
        turn(['run', { command: "grep ERROR app.log | cut -d' ' -f4- | sort | uniq -c | sort -rn | head" }]),
      theirs: ({ turn }) => turn("grep ERROR app.log | cut -d' ' -f4- | sort | uniq -c | sort -rn | head"),
    },
    {
      name: 'what came before it ran out of memory',
      expects: [/heap limit/, /queue is 4,000 long/, /321,?98[0-9]/],
      ours: ({ turn }) => turn(['grep', { pattern: 'out of memory', path: 'app.log', '-B': 5 }]),
      theirs: ({ turn }) => turn("grep -n -B5 'out of memory' app.log"),
    },
    {
      name: 'the end of the log, and the largest files',
      expects: [/request 499999/, /app\.log/, /app-17\.log/],
      ours: ({ turn }) =>
        turn(
          ['read_file', { path: 'app.log', tail: 5 }],
          ['run', { command: 'du -ah . | sort -rh | head -4' }],
        ),
      theirs: ({ turn }) => turn('tail -5 app.log; du -ah . | sort -rh | head -4'),
    },
  ],
};
