// npm run conformance: the official suite over HTTP, for both revisions of the protocol. First against our HTTP with the
// tools that the suite asks for (test/conformance), of which every scored scenario has to pass; then against
// dist/toolcrib.cjs, where only those may fail that call such a tool; and the chat's client, where only OAuth may. Needs the network: the suite and the Node it
// runs on come from npm.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const packages = ['node@24', '@modelcontextprotocol/conformance@0.2.0-alpha.12'];
const revisions = ['2025-11-25', '2026-07-28'];
const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'toolcrib-conformance-'));
const [project, tokens, fixtures, client] = ['project', 'tokens', 'fixtures.mjs', 'client.mjs'].map((name) =>
  join(home, name),
);
const token = 't'.repeat(32);

/** Starts a server, and resolves when it has said where it is. */
async function started(args) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, XDG_STATE_HOME: home, XDG_CACHE_HOME: home },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
      const found = /serving (\S+) as/.exec(said);
      if (found) resolve(new URL(found[1]));
    });
    child.once('exit', () => reject(new Error(said)));
  });
  return { child, url };
}

/** The suite sends no token, so that this adds it; everything else reaches the server as it was sent. */
async function withToken({ hostname, port }) {
  const proxy = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const options = { method, path, headers: { ...headers, authorization: `Bearer ${token}` } };
    const sent = request({ host: hostname, port, ...options }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    sent.once('error', () => response.destroy());
    response.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}

const suite = (role) => ['-y', ...packages.flatMap((name) => ['-p', name]), '--', 'conformance', role];
const run = (line) =>
  new Promise((resolve) => spawn('npx', line, { cwd: home, stdio: 'inherit' }).once('exit', resolve));

/** Resolves with whether all passed of the client's that have to. */
async function clientPasses() {
  const expected = ['--expected-failures', here('test/conformance/without-oauth.yml')];
  const command = ['--command', `${process.execPath} ${client}`];
  let isGood = true;
  for (const revision of revisions)
    isGood &&= (await run([...suite('client'), ...command, '--requirements', revision, ...expected])) === 0;
  return isGood;
}

/** Resolves with whether all passed that have to. */
async function passes(args, more = []) {
  const { child, url } = await started(args);
  const proxy = await withToken(url);
  let isGood = true;
  for (const revision of revisions) {
    const address = `http://127.0.0.1:${proxy.address().port}/mcp`;
    const line = [
      ...suite('server'),
      '--url',
      address,
      '--requirements',
      revision,
      ...more,
      ...process.argv.slice(2),
    ];
    isGood &&= (await run(line)) === 0;
  }
  proxy.close();
  proxy.closeAllConnections();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await ended;
  return isGood;
}

try {
  mkdirSync(project);
  writeFileSync(tokens, token, { mode: 0o600 });
  const shared = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' };
  await build({ ...shared, entryPoints: [here('test/conformance/server.ts')], outfile: fixtures });
  const banner =
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  await build({
    ...shared,
    entryPoints: [here('test/conformance/client.ts')],
    outfile: client,
    banner: { js: banner },
  });
  const ofSuite = await passes([fixtures, tokens]);
  const serve = ['serve', '--http', '--port', '0', '--token-file', tokens, '--root', project];
  const expected = ['--expected-failures', here('test/conformance/without-fixtures.yml')];
  const ofOurs = await passes([here('dist/toolcrib.cjs'), ...serve], expected);
  const ofClient = await clientPasses();
  process.exitCode = ofSuite && ofOurs && ofClient ? 0 : 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
