// The project on which each call is made: a small shop, a remote, a database, a page.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { isHere, put, repository } from '../day/make.mjs';

export const cart = `// The cart.
export function total(lines) {
  const prices = lines.map(({ price }) => price);
  return prices.reduce((sum, price) => sum + price, 0);
}
`;
const files = {
  'package.json': `${JSON.stringify(
    {
      name: 'shop',
      version: '1.0.0',
      type: 'module',
      scripts: { hello: 'node hello.mjs', test: 'node --test' },
      dependencies: { left: 'file:vendor/left' },
    },
    undefined,
    2,
  )}\n`,
  '.gitignore': 'node_modules/\n',
  'hello.mjs': 'console.log("hello from", process.argv[2] ?? "here");\n',
  'vendor/left/package.json': '{"name":"left","version":"1.0.0"}\n',
  'src/cart.mjs': cart,
  'src/money.mjs': 'export const cents = (price) => Math.round(price * 100);\n',
  'src/cart.test.mjs': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from './cart.mjs';

test('sums prices', () => assert.equal(total([{ price: 1 }, { price: 2 }]), 3));
`,
};

/** Makes it, with a branch that can be merged. Returns what the calls need to know. */
export async function makeProject(folder) {
  put(folder, files);
  const { git, commit } = repository(folder);
  commit('A cart');
  commit('Money', { 'src/coins.mjs': 'export const coins = [1, 2, 5];\n' });
  git('switch', '--quiet', '--create', 'side');
  commit('Aside', { 'src/aside.mjs': 'export const aside = 1;\n' });
  git('switch', '--quiet', 'main');
  commit('Third', { 'src/third.mjs': 'export const third = 3;\n' });
  const remote = `${folder}.git`;
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', remote]);
  git('remote', 'add', 'origin', remote);
  git('push', '--quiet', '--set-upstream', 'origin', 'main');
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  commit('Lock');
  if (isHere('sqlite3'))
    execFileSync('sqlite3', [join(folder, 'shop.db')], {
      input:
        "CREATE TABLE goods (name TEXT, price INTEGER); INSERT INTO goods VALUES ('tea', 42), ('cup', 7);",
    });
  put(folder, { '.git/info/exclude': 'shop.db*\n' });
  const page = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<html><body><h1>Shop</h1><p>Green tea costs 4.20 EUR.</p></body></html>');
  });
  await new Promise((resolve) => page.listen(0, '127.0.0.1', resolve));
  return { page, url: `http://localhost:${page.address().port}/` };
}

/** As it was committed last, on main, without what a call has left. */
export function reset(folder) {
  const git = (...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('switch', '--quiet', '--force', 'main');
  git('reset', '--quiet', '--hard', 'first');
  git('clean', '--quiet', '--force', '-d');
}
