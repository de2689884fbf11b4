import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rule } from '../../src/core/rule.ts';
import { usualBudgets } from '../../src/core/settings.ts';
import { thisHost } from '../../src/machine/host.ts';
import { OutputStore } from '../../src/machine/output-store/output-store.ts';
import { Jobs } from '../../src/machine/jobs/jobs.ts';
import { bindTool } from '../../src/tools/define-tool.ts';
import fetchUrl from '../../src/tools/fetch-url.ts';
import { isPublic } from '../../src/tools/fetch/request.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { sessionOf } from '../support/session.ts';
import { connect } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

const ending: (() => unknown)[] = [];
afterAll(() => Promise.all(ending.map((end) => end())));

/** A server of the test's own; its port. */
async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  ending.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const paragraphs = Array.from(
  { length: 900 },
  (_, at) => `<p>Paragraph ${at} speaks of ${at === 700 ? 'a Needle' : 'hay'}.</p>`,
);
const page = `<!doctype html><html><head><title>Guide &amp; more</title><script>bad()</script></head><body>
<nav><a href="/">Home of everything</a></nav>
<main><h1>Guide</h1><p>Call <code>as_mut_ptr</code>, see <a href="/other">the other</a>.</p>
<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>
<pre><code class="language-js">const a = 1;\nconst b = 2;</code></pre>
<details><summary>More</summary><p>inside of it</p></details><p><img alt="dot" src="data:image/png;base64,AAAA"></p>${'<p>filling text</p>'.repeat(20)}</main>
<footer>imprint</footer></body></html>`;
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

type Reply = readonly [status: number, headers: Record<string, string>, body?: string | Buffer];
const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };
const replies: Record<string, Reply> = {
  '/page': [200, html, page],
  '/long': [200, html, `<title>Long</title><body>${paragraphs.join('')}</body>`],
  '/json': [200, json, '{"id":12345678901234567890,"a":[1,2]}'],
  '/long-json': [
    200,
    json,
    JSON.stringify(Array.from({ length: 3000 }, (_, at) => ({ at, name: `n${at}` }))),
  ],
  '/missing': [404, { 'content-type': 'text/plain' }, 'nothing of that name'],
  '/moved': [302, { location: '/page' }],
  '/round': [302, { location: '/round' }],
  '/file': [302, { location: 'file:///etc/passwd' }],
  '/latin1': [200, { 'content-type': 'text/plain; charset=iso-8859-1' }, Buffer.from('caf\xe9', 'latin1')],
  '/meta': [
    200,
    { 'content-type': 'text/html' },
    Buffer.from('<meta charset="windows-1251"><p>\xcf\xf0\xe8', 'latin1'),
  ],
  '/script': [200, { 'content-type': 'text/javascript' }, 'x = "text/html; charset=utf-16" // plain'],
  '/gzip': [200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync('squeezed')],
  '/broken-gzip': [200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'no gzip'],
  '/bomb': [
    200,
    { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
    gzipSync(Buffer.alloc(200 * 1024 * 1024, 'x\n')),
  ],
  '/image': [200, { 'content-type': 'image/png' }, pixel],
  '/zip': [200, { 'content-type': 'application/zip' }, Buffer.from('PK\x03\x04\0\0\0')],
  '/escapes': [200, { 'content-type': 'text/plain' }, 'a\u001b]52;c;aGk=\u0007b\u202ec'],
  '/slow-layout': [200, html, '<code>`'.repeat(100_000)],
  '/big-header': [200, { 'content-type': 'text/plain', 'x-big': 'a'.repeat(100_000) }, 'x'],
};
const asked: { url: string; headers: Record<string, unknown> }[] = [];
const reply: RequestListener = (request, response) => {
  const path = request.url ?? '';
  asked.push({ url: path, headers: request.headers });
  if (path === '/endless') {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const more = () => {
      while (!response.destroyed && response.write('line of an endless body\n'.repeat(1000)));
      if (!response.destroyed) response.once('drain', more);
    };
    return more();
  }
  if (path === '/silent') return undefined;
  if (path === '/trickle') {
    response.writeHead(200, { 'content-type': 'text/plain' }).write('first\n');
    return;
  }
  const away = /^\/to\?(.*)$/.exec(path)?.[1];
  if (away !== undefined) {
    response.writeHead(307, { location: decodeURIComponent(away) }).end();
    return;
  }
  const [status, headers, body] = replies[path] ?? [500, {}];
  response.writeHead(status, headers).end(body);
};

let origin = '';
let port = 0;
beforeAll(async () => {
  port = await listening(createServer(reply));
  origin = `http://127.0.0.1:${port}`;
});

describe('fetch_url through a client', () => {
  let client: Client;
  const folder = mkdtempSync(join(tmpdir(), 'fetch-'));
  beforeAll(async () => {
    client = await connect('2025-11-25', {
      roots: [folder],
      args: ['--questions', 'none', '--rule', 'fetch_url(denied.test)=deny'],
    });
    ending.push(() => client.close());
  });
  it('waits for a server of this machine that has just started', async () => {
    const taken = createServer();
    const free = await listening(taken);
    await new Promise((closed) => taken.close(closed));
    const late = `import { createServer } from 'node:http';
      const server = createServer((_, response) => response.end('at last'));
      setTimeout(() => server.listen(${free}, '127.0.0.1'), 1500);`;
    writeFileSync(join(folder, 'late.mjs'), late);
    const [{ text: job }, { text }] = await Promise.all([
      call('run', { command: 'node late.mjs', background: true }),
      call('run', { command: 'true' }).then(() => call('fetch_url', { url: `http://127.0.0.1:${free}/` })),
    ]);
    expect(job).toContain('is running');
    expect(text).toContain('at last');
  });

  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    return { text: textOf(result), isError: result.isError === true, content: result.content };
  };
  const get = (path: string, more = {}) => call('fetch_url', { url: `${origin}${path}`, ...more });

  it('shows a page as Markdown, without what is around it', async () => {
    const { text } = await get('/page');
    expect(text.split('\n')[0]).toBe('200 text/html, 919 bytes, “Guide & more”');
    expect(text).toContain('# Guide\n\nCall `as_mut_ptr`, see [the other](/other).');
    expect(text).toMatch(/\| A +\| B +\|/);
    expect(text).toContain('```js\nconst a = 1;\nconst b = 2;\n```');
    expect(text).toContain('inside of it');
    expect(text).toContain('![dot](data)');
    expect(text).not.toMatch(/Home of everything|imprint|bad\(\)/);
  });

  it('names itself in its request, and sends nothing else', async () => {
    await get('/page');
    const { headers } = asked.at(-1)!;
    expect(headers['user-agent']).toMatch(/^toolcrib\/\d/);
    expect(Object.keys(headers).sort().join(' ')).toBe('accept accept-encoding connection host user-agent');
  });

  it('keeps a page that is too long, and names the way to go on', async () => {
    const { text } = await get('/long');
    expect(text.length).toBeLessThan(16_000);
    const [, line, output] = /next: start_line=(\d+)\]\n\[read_output id=(\S+) /.exec(text)!;
    const last = Number(/Paragraph (\d+) [^]*$/.exec(text.slice(text.lastIndexOf('Paragraph')))![1]);
    const more = await call('read_output', { id: output, start_line: Number(line) });
    expect(more.text).toContain(`Paragraph ${last + 1} `);
    expect(more.text).not.toContain(`Paragraph ${last} `);
  });

  it('finds a part of the page, whatever its case', async () => {
    const { text } = await get('/long', { find: 'a needle' });
    expect(text).toContain('Paragraph 699 ');
    expect(text).toContain('Paragraph 700 speaks of a Needle.');
    expect(text).toMatch(/\[read_output id=\S+ has all of it\]$/);
    expect(text.length).toBeLessThan(500);
    const many = (await get('/long', { find: 'hay' })).text;
    expect(many).toMatch(/\[more match; next: start_line=\d+\]/);
    expect(many.length).toBeLessThan(16_000);
    expect((await get('/long', { find: 'nowhere' })).text).toContain('[no line of ');
  });

  it('shows JSON as it is, a member a line only where it is long', async () => {
    expect((await get('/json')).text).toBe(
      '200 application/json, 37 bytes\n\n{"id":12345678901234567890,"a":[1,2]}',
    );
    const { text } = await get('/long-json', { find: '"n2999"' });
    expect(text).toContain('"name":"n2999"');
    expect(text.length).toBeLessThan(500);
  });

  it('reads every encoding', async () => {
    expect((await get('/latin1')).text).toContain('café');
    expect((await get('/meta')).text).toContain('При');
    expect((await get('/script')).text).toContain('// plain');
    expect((await get('/gzip')).text).toContain('squeezed');
  });

  it('shows a small image, and names the type of what is neither text nor image', async () => {
    const { content } = await get('/image');
    expect(content).toMatchObject([{ type: 'text' }, { type: 'image', mimeType: 'image/png' }]);
    expect((await get('/zip')).text).toMatch(
      /^200 application\/zip, 7 bytes\n\n\[not text; .*curl -fLO http/,
    );
  });

  it('answers with a status that is no success, and with headers alone', async () => {
    const missing = await get('/missing');
    expect(missing).toMatchObject({
      isError: false,
      text: '404 Not Found text/plain, 20 bytes\n\nnothing of that name',
    });
    expect((await get('/page', { method: 'HEAD' })).text).toMatch(
      /^200\n\ncontent-type: text\/html; charset=utf-8\n/,
    );
  });

  it('follows redirects, and names where they ended', async () => {
    expect((await get('/moved')).text).toMatch(
      /^200 text\/html, 919 bytes, from http:\/\/127\.0\.0\.1:\d+\/page, “Guide/,
    );
    expect((await get('/round')).text).toMatch(/^UNREACHABLE: url: it redirects more than 5 times/);
    expect((await get('/file')).text).toMatch(/^EFFECT_DENIED: url: it redirects to file:/);
  });

  it('removes what commands a terminal', async () => {
    expect((await get('/escapes')).text).toMatch(/\nabc$/);
  });

  it.each(['/bomb', '/endless'])('ends %s at 5 MB', async (path) => {
    const { text } = await get(path);
    expect(text).toMatch(/^200 text\/plain, only the first 5\.0 MB\n/);
    expect(text.length).toBeLessThan(16_000);
  });

  it('shows the source of a page whose layout takes for ever', async () => {
    const { text } = await get('/slow-layout');
    expect(text).toContain('<code>`<code>`');
  }, 20_000);

  it.each([
    ['/big-header', /^UNREACHABLE: url: 127.*HPE_HEADER_OVERFLOW/],
    ['/broken-gzip', /^UNREACHABLE: url: 127.*Z_DATA_ERROR/],
  ])('refuses the answer of %s', async (path, says) => {
    const { text, isError } = await get(path);
    expect(text).toMatch(says);
    expect(isError).toBe(true);
  });

  it.each([
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://example.com/',
    'localhost:3000',
    'http://exa mple.com/',
    'http://example.com/\nHost: evil',
    'http://user:secret@example.com/',
    'http://localhost@example.com/',
  ])('takes no %s', async (url) => {
    expect((await call('fetch_url', { url })).text).toMatch(/^ARG_INVALID: url: /);
  });

  it.each([
    'http://2130706433/',
    'http://0x7f.1',
    'http://127.0.0.1./',
    'http://127.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://127.0.0.2/',
    'http://[::ffff:127.0.0.1]',
    'http://[::]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http:127.0.0.1',
    'http://①27.0.0.1/',
    'http://localhost\\@example.com/',
  ])('reaches nothing by %s', async (url) => {
    expect((await call('fetch_url', { url })).text).toMatch(/^EFFECT_DENIED: url: /);
  });

  it('obeys a rule about a host', async () => {
    for (const url of ['https://denied.test/path', 'https://denied.test./', 'https://DENIED.test:8443/'])
      expect((await call('fetch_url', { url })).text).toMatch(/^EFFECT_DENIED.*denied\.test/);
  });

  it('names the server that does not answer', async () => {
    const free = await listening(createTcp());
    await ending.pop()!();
    const { text } = await call('fetch_url', { url: `http://localhost:${free}/` });
    expect(text).toMatch(
      /^UNREACHABLE: url: localhost:\d+ has nothing that listens there \(ECONNREFUSED\)\. Start/,
    );
  });
});

describe('fetch_url with names that lead elsewhere', () => {
  const rule = (pattern: string, decision: Rule['decision']): Rule => ({
    pattern,
    decision,
    setting: `--rule ${pattern}`,
  });
  /** fetch_url where every name has these addresses. */
  const fetchTool = (isLocal: boolean, addresses: readonly LookupAddress[]) =>
    bindTool(
      fetchUrl,
      sessionOf({
        environment: { host: thisHost(), resolveHost: () => Promise.resolve(addresses) },
        outputs: new OutputStore({ folder: undefined, budgets: usualBudgets }),
        jobs: new Jobs(),
        isLocal,
      }),
    );

  /** Every name is an address of this machine, unless another is given. */
  async function fetched(
    url: string,
    {
      rules = [],
      address = '127.0.0.1',
      loopback = true,
      seconds = 5,
    }: { rules?: Rule[]; address?: string; loopback?: boolean; seconds?: number } = {},
  ): Promise<string> {
    const tool = fetchTool(loopback, [{ address, family: address.includes(':') ? 6 : 4 }]);
    const context = await callContext([], { rules, budgets: { ...usualBudgets, callSeconds: seconds } });
    return planAndRun(tool, { url }, context).then(textOf, (error) => `${error.code}: ${error.message}`);
  }

  it.each(['127.0.0.1', '10.1.2.3', '100.64.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1'])(
    'refuses a name that is %s',
    async (address) => {
      expect(await fetched(`http://evil.test:${port}/page`, { address })).toMatch(
        /^EFFECT_DENIED: url: evil\.test is /,
      );
    },
  );

  it('takes the open ones of several addresses, and takes none for an error', async () => {
    const tool = (addresses: string[]) =>
      fetchTool(
        true,
        addresses.map((address) => ({ address, family: 4 })),
      );
    const get = async (addresses: string[]) =>
      planAndRun(
        tool(addresses),
        { url: `${origin.replace('127.0.0.1', 'localhost')}/json` },
        await callContext([]),
      );
    expect(textOf(await get(['10.0.0.1', '127.0.0.1']))).toMatch(/^200/);
    await expect(get([])).rejects.toThrow('localhost has no address');
  });

  it('connects to the address that was looked at', async () => {
    const rules = [rule('fetch_url(intern.test)', 'allow')];
    expect(await fetched(`http://intern.test:${port}/json`, { rules })).toMatch(/^200 application\/json/);
    expect(asked.at(-1)!.headers['host']).toBe(`intern.test:${port}`);
  });

  it('opens what a rule names, and not what a rule about everything allows', async () => {
    for (const pattern of ['fetch_url', 'fetch_url(*)', '*', 'fetch_url(other.test)', `fetch_url(fetch *)`])
      expect(await fetched(`http://intern.test:${port}/json`, { rules: [rule(pattern, 'allow')] })).toContain(
        'EFFECT_DENIED',
      );
  });

  it('follows no redirect to this machine, or to what a rule forbids', async () => {
    const from = (target: string) => `http://intern.test:${port}/to?${encodeURIComponent(target)}`;
    const rules = [
      rule('fetch_url(intern.test)', 'allow'),
      rule('fetch_url(*denied*)', 'deny'),
      rule('fetch_url(a.test)', 'ask'),
    ];
    for (const target of [
      `${origin}/json`,
      `http://localhost:${port}/json`,
      `http://[::1]:${port}/`,
      `http://x.test:${port}/json`,
    ])
      expect(await fetched(from(target), { rules })).toMatch(/^EFFECT_DENIED: url: .* private or reserved/);
    expect(await fetched(from('https://denied.test/'), { rules })).toMatch(
      /^EFFECT_DENIED: .*--rule fetch_url\(\*denied/,
    );
    expect(await fetched(from('https://a.test/'), { rules })).toContain('Call fetch_url with it');
    expect(await fetched(from(`http://me:pw@intern.test:${port}/json`), { rules })).toMatch(/^200/);
    expect(asked.at(-1)!.headers).not.toHaveProperty('authorization');
  });

  it('asks for the file behind a page of GitHub that shows it', async () => {
    const rules = [rule('fetch_url(raw.githubusercontent.com)', 'deny')];
    expect(await fetched('https://github.com/a/b/blob/main/src/x.ts', { rules })).toContain(
      'it leads to https://raw.githubusercontent.com/a/b/main/src/x.ts',
    );
  });

  it('follows redirects from this machine to itself alone', async () => {
    expect(await fetched(`${origin}/to?${encodeURIComponent(`http://localhost:${port}/json`)}`)).toMatch(
      /^200/,
    );
    expect(await fetched(`${origin}/to?${encodeURIComponent(`http://evil.test:${port}/json`)}`)).toContain(
      'EFFECT_DENIED',
    );
  });

  it('asks no server of this machine for somebody who is elsewhere', async () => {
    expect(await fetched(`${origin}/json`, { loopback: false })).toMatch(/^EFFECT_DENIED/);
  });

  it('gives up in time, and shows what had come', async () => {
    expect(await fetched(`${origin}/silent`, { seconds: 1 })).toMatch(
      /^UNREACHABLE: .* did not answer within 1 seconds/,
    );
    expect(await fetched(`${origin}/trickle`, { seconds: 1 })).toMatch(
      /only the first 6 bytes: no more came within 1 seconds\n\nfirst$/,
    );
  });

  it('survives an answer that is not HTTP', async () => {
    const says = (text: string) =>
      createTcp((socket: Socket) => {
        socket.on('error', () => {}).end(text);
      });
    const upgrade = await listening(
      says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    );
    expect(await fetched(`http://127.0.0.1:${upgrade}/`)).toMatch(/^UNREACHABLE/);
    const noise = await listening(says('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(await fetched(`http://127.0.0.1:${noise}/`)).toMatch(
      /^UNREACHABLE: .* does not answer as HTTP wants it/,
    );
    const short = await listening(says('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    expect(await fetched(`http://127.0.0.1:${short}/`)).toMatch(
      /only the first 4 bytes: then it broke off\n\nhalf$/,
    );
  });
});

it.each([
  ['8.8.8.8', true],
  ['93.184.216.34', true],
  ['172.15.0.1', true],
  ['172.31.255.255', false],
  ['192.168.1.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['2606:4700::1111', true],
  ['2001:4860:4860::8888', true],
  ['::ffff:8.8.8.8', false],
  ['ff02::1', false],
  ['2001::1', false],
])('knows whether %s is public: %s', (address, expected) => {
  expect(isPublic({ address, family: address.includes(':') ? 6 : 4 })).toBe(expected);
});
