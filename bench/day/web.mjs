// A web application with a dev server: what its page says, an address that fails, a package that is added.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { put, repository } from './make.mjs';
import { edit } from './sides.mjs';

const goods = Array.from({ length: 60 }, (_, index) =>
  index === 37 ? { name: 'Green tea', price: 4.2 } : { name: `Thing ${index}`, price: index },
);

const server = (port) => `import { createServer } from 'node:http';
import { goods, orders } from './goods.mjs';

const page = () => \`<!doctype html>
<html><head><title>Shop</title><style>body { font: 16px sans-serif }</style></head>
<body><nav><a href="/">Home</a> <a href="/cart">Cart</a></nav>
<h1>Shop</h1>
<ul>
\${goods.map(({ name, price }) => \`<li class="good"><b>\${name}</b> <span>\${price.toFixed(2)} EUR</span></li>\`).join('\\n')}
</ul>
</body></html>\`;

function totals() {
  return orders.map(({ id, lines }) => ({ id, total: lines.reduce((sum, line) => sum + line.price, 0) }));
}

createServer((request, response) => {
  console.log(request.method, request.url);
  try {
    const isOrders = request.url === '/api/orders';
    response.setHeader('content-type', isOrders ? 'application/json' : 'text/html');
    response.end(isOrders ? JSON.stringify(totals()) : page());
  } catch (error) {
    console.error(error);
    response.writeHead(500).end('Internal Server Error');
  }
}).listen(${port}, '127.0.0.1', () => console.log('ready at http://localhost:${port}'));
`;

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** A registry with one package, tiny-pad. */
async function startRegistry() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-day-registry-'));
  const manifest = { name: 'tiny-pad', version: '1.2.0', type: 'module', main: 'index.js' };
  put(folder, {
    'package/package.json': JSON.stringify(manifest),
    'package/index.js': 'export const pad = 1;\n',
  });
  execFileSync('tar', ['-czf', 'tiny-pad-1.2.0.tgz', 'package'], { cwd: folder });
  const tarball = readFileSync(join(folder, 'tiny-pad-1.2.0.tgz'));
  rmSync(folder, { recursive: true });
  const registry = createServer((request, response) => {
    const origin = `http://127.0.0.1:${registry.address().port}`;
    if (request.url.endsWith('.tgz')) return response.end(tarball);
    if (request.url !== '/tiny-pad') return response.writeHead(404).end('{}');
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const version = { ...manifest, dist: { tarball: `${origin}/tiny-pad-1.2.0.tgz`, integrity } };
    const all = { name: 'tiny-pad', 'dist-tags': { latest: '1.2.0' }, versions: { '1.2.0': version } };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(all));
  });
  await new Promise((resolve) => registry.listen(0, '127.0.0.1', resolve));
  return registry;
}

const bug = ['server.mjs', 'lines.reduce(', '(lines ?? []).reduce('];

export const web = {
  name: 'Web',
  async make(folder) {
    const [port, registry] = [await freePort(), await startRegistry()];
    const manifest = {
      name: 'shop',
      private: true,
      type: 'module',
      scripts: { dev: 'node --watch server.mjs', test: 'node --test' },
    };
    const orders = [
      { id: 1, lines: [{ price: 3 }, { price: 4 }] },
      { id: 2 },
      { id: 3, lines: [{ price: 9 }] },
    ];
    put(folder, {
      'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
      '.npmrc': `registry=http://127.0.0.1:${registry.address().port}/\n`,
      '.gitignore': 'node_modules/\ndev.log\ndev.pid\n',
      'server.mjs': server(port),
      'goods.mjs': `export const goods = ${JSON.stringify(goods)};\nexport const orders = ${JSON.stringify(orders)};\n`,
    });
    repository(folder).commit('A page and an address');
    return { port, stop: () => registry.close() };
  },
  tasks: [
    {
      name: 'start the dev server; what does green tea cost on the page',
      expects: [/4\.20/],
      async ours({ turn, made: { port } }) {
        await turn(
          ['run_task', { task: 'dev', background: true }],
          ['fetch_url', { url: `http://localhost:${port}/`, find: 'Green tea' }],
        );
      },
      theirs: ({ turn, made: { port } }) =>
        turn(
          `setsid npm run dev > dev.log 2>&1 & echo $! > dev.pid; sleep 2; curl -s localhost:${port}/ | grep 'Green tea'`,
        ),
    },
    {
      name: 'an address fails: its answer, the log, the code, mend it, ask again',
      expects: [
        /Internal Server Error/,
        /server\.mjs:1[4-8]/,
        /reading 'reduce'|reduce/,
        /"total": ?7/,
        /"total": ?9/,
      ],
      async ours({ turn, made: { port } }) {
        const url = `http://localhost:${port}/api/orders`;
        await turn(['fetch_url', { url }]);
        await turn(
          ['read_output', { id: 'dev-1', tail: 8 }],
          ['grep', { pattern: 'function totals', path: 'server.mjs', '-A': 3 }],
        );
        await turn(['edit_file', { path: bug[0], old_string: bug[1], new_string: bug[2] }]);
        await pause();
        await turn(['fetch_url', { url }]);
      },
      async theirs({ turn, made: { port } }) {
        await turn(`curl -si localhost:${port}/api/orders; tail -8 dev.log`);
        await turn("grep -n -A3 'function totals' server.mjs");
        await turn(edit(...bug));
        await turn(`sleep 2; curl -s localhost:${port}/api/orders`);
      },
    },
    {
      name: 'stop the server',
      expects: [],
      holds: ({ made: { port } }) => !isListening(port),
      ours: ({ turn }) => turn(['control_job', { action: 'stop', id: 'dev-1' }]),
      theirs: ({ turn }) => turn('kill -- -$(cat dev.pid); sleep 1'),
    },
    {
      name: 'add a package',
      expects: [],
      holds: (side) =>
        side.read('package-lock.json').includes('tiny-pad') &&
        side.read('package.json').includes('"tiny-pad": "^1.2.0"'),
      ours: ({ turn }) => turn(['change_packages', { action: 'add', packages: ['tiny-pad'] }]),
      theirs: ({ turn }) => turn('npm install tiny-pad 2>&1 | tail -4'),
    },
  ],
};

/** A person, or a model, takes longer than a server that starts anew. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 2000));

function isListening(port) {
  try {
    execFileSync('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
