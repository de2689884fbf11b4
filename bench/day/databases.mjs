// A SQLite file, and a PostgreSQL server whose address is in .env: what is in them, and a question over two tables.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHere, put } from './make.mjs';

const names = ['Ada', 'Bob', 'Carl', 'Dora', 'Eve', 'Fay', 'Gus', 'Hal'];
const statements = (serial) => `
CREATE TABLE customers (id ${serial} PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (
  id ${serial} PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
  amount INTEGER NOT NULL, placed_at TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders (id), sku TEXT NOT NULL, count INTEGER NOT NULL);
CREATE INDEX orders_by_customer ON orders (customer_id);
${names.map((name, index) => `INSERT INTO customers VALUES (${index + 1}, '${name}', '${['DE', 'FR'][index % 2]}');`).join('\n')}
${Array.from({ length: 400 }, (_, index) => `INSERT INTO orders VALUES (${index + 1}, ${((index * 7) % 8) + 1}, ${(index * 37) % 500}, '2026-01-${String((index % 28) + 1).padStart(2, '0')}', '${['paid', 'open', 'lost'][index % 3]}');`).join('\n')}
`;
const question = `SELECT c.name, sum(o.amount) AS spent FROM orders o JOIN customers c ON c.id = o.customer_id
WHERE o.state = 'paid' GROUP BY c.name ORDER BY spent DESC LIMIT 5`;
const [first, second] = answer();
const expects = [
  /customers/,
  /customer_id/,
  /placed_at/,
  new RegExp(`${first[0]}\\W+${first[1]}`),
  new RegExp(`${second[0]}\\W+${second[1]}`),
];

/** What the question is answered with, counted here. */
function answer() {
  const spent = names.map((name, customer) => {
    const own = Array.from({ length: 400 }, (_, index) => index).filter(
      (index) => (index * 7) % 8 === customer && index % 3 === 0,
    );
    return [name, own.reduce((sum, index) => sum + ((index * 37) % 500), 0)];
  });
  return spent.toSorted((one, other) => other[1] - one[1]);
}

const ours = async ({ turn }) => {
  await turn(['query', {}]);
  await turn(['query', { sql: question }]);
};

export const sqlite = {
  name: 'SQLite',
  make(folder) {
    put(folder, { 'README.md': '# shop\n', 'data/.gitkeep': '' });
    execFileSync('sqlite3', [join(folder, 'data/shop.db')], {
      input: `BEGIN;${statements('INTEGER')}COMMIT;`,
    });
  },
  tasks: [
    {
      name: 'its tables, and who spent most',
      expects,
      ours,
      async theirs({ turn }) {
        await turn('sqlite3 data/shop.db .schema');
        await turn(`sqlite3 data/shop.db "${question}"`);
      },
    },
  ],
};

function serverFolder() {
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged)
    ? readdirSync(packaged).map((version) => join(packaged, version, 'bin'))
    : [];
  return [...process.env.PATH.split(':'), ...versions].find((folder) =>
    ['initdb', 'pg_ctl', 'psql'].every((program) => existsSync(join(folder, program))),
  );
}

/** It does not run as root. */
const someoneElse = () => {
  if (process.getuid() !== 0) return {};
  const id = (option) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

async function startPostgres() {
  const [bin, who, folder] = [serverFolder(), someoneElse(), mkdtempSync(join(tmpdir(), 'toolcrib-day-pg-'))];
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data);
  if (who.uid !== undefined) for (const path of [folder, data]) chownSync(path, who.uid, who.gid);
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  const run = (program, args, input = '') =>
    execFileSync(join(bin, program), args, {
      cwd: folder,
      env,
      input,
      stdio: ['pipe', 'ignore', 'pipe'],
      ...who,
    });
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'shop', '-E', 'UTF8', '--no-sync']);
  const settings = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder} -c fsync=off`;
  execFileSync(join(bin, 'pg_ctl'), ['-D', data, '-o', settings, '-l', join(folder, 'log'), '-w', 'start'], {
    cwd: folder,
    env,
    stdio: 'ignore',
    ...who,
  });
  const address = (database) => `postgresql://shop@127.0.0.1:${port}/${database}`;
  run('psql', ['-Xq', address('postgres'), '-c', 'CREATE DATABASE shop']);
  run('psql', ['-Xq', '-v', 'ON_ERROR_STOP=1', address('shop')], statements('INTEGER'));
  return {
    url: address('shop'),
    stop() {
      run('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const postgresql = {
  name: 'PostgreSQL',
  async make(folder) {
    const started = await startPostgres();
    put(folder, {
      '.env': `DATABASE_URL=${started.url}\n`,
      'package.json': '{"name":"shop","dependencies":{"pg":"^8"}}\n',
    });
    return started;
  },
  tasks: [
    {
      name: 'its tables, and who spent most',
      expects,
      ours,
      async theirs({ turn }) {
        await turn("cat .env; . ./.env; psql $DATABASE_URL -c '\\d' -c '\\d orders' -c '\\d customers'");
        await turn(`. ./.env; psql $DATABASE_URL -c "${question}"`);
      },
    },
  ],
};

export const databases = [
  ...(isHere('sqlite3') ? [sqlite] : []),
  ...(serverFolder() && isHere('psql') ? [postgresql] : []),
];
