import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connectHttp, serveHttp } from '../support/http.ts';
import { temporaryFolder } from '../support/repository.ts';
import { connect, eras, startRaw } from '../support/server.ts';

it.each(eras)(
  'records messages in both directions in %s, over both transports, without secrets',
  async (era) => {
    const folder = temporaryFolder();
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    writeFileSync(join(folder, 'a.txt'), `token = ${secret}\n`);
    const traces = [join(temporaryFolder(), 'stdio'), join(temporaryFolder(), 'http')];
    const args = traces.map((file) => ['--trace', file]);
    const server = await serveHttp([folder], args[1]);
    const clients = [
      await connect(era, { roots: [folder], args: args[0] ?? [] }),
      await connectHttp(era, server),
    ];
    onTestFinished(() => clients[0]?.close());
    for (const [at, client] of clients.entries()) {
      await client.listTools();
      await client.callTool({ name: 'read_file', arguments: { path: 'a.txt', start_line: 1 } });
      await client.callTool({ name: 'grep', arguments: { pattern: secret } });
      const text = readFileSync(traces[at] ?? '', 'utf8');
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);
      const asked = lines.flatMap(({ way, message }) =>
        // The server asks itself for the list once more, when what takes long is known.
        (way as unknown) === 'in' && !String(message?.['id']).startsWith('toolcrib-replayed-')
          ? [message?.['method']]
          : [],
      );
      expect(asked.filter((method) => method !== 'notifications/initialized').slice(-4)).toEqual([
        expect.stringMatching(/^(initialize|server\/discover)$/),
        'tools/list',
        'tools/call',
        'tools/call',
      ]);
      expect(lines.filter(({ way }) => (way as unknown) === 'out').length).toBeGreaterThan(3);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(server.token);
      expect(statSync(traces[at] ?? '').mode & 0o777).toBe(0o600);
    }
  },
);

it('reports what is wrong with a file that cannot be written', async () => {
  const server = startRaw({ roots: [temporaryFolder()], args: ['--trace', '/nowhere/trace'] });
  let said = '';
  server.child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  expect(await server.ended).toBe(2);
  expect(said).toBe('toolcrib: --trace /nowhere/trace: it cannot be written (ENOENT).\n');
});
