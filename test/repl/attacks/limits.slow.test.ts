import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLog } from '../../../src/repl/files/chat-files.ts';
import { recording } from '../../../src/repl/providers/fetch.ts';
import { openHistory } from '../../../src/repl/terminal/history.ts';
import { traceTo } from '../../../src/repl/toolbox/link.ts';
import { temporaryFolder } from '../../tools/files/folder.ts';
import { chatPlace, runChat } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';
import { writeServers } from '../support/served.ts';

it('does not take the headers of a server to another one', async () => {
  const seen: unknown[] = [];
  const serve = async (location?: string): Promise<string> => {
    const server = createServer((request, response) => {
      request.resume();
      if (location === undefined) seen.push(request.headers['x-key']);
      response.writeHead(location ? 307 : 404, location ? { location } : {}).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const first = await serve(await serve());
  const place = await chatPlace();
  place.model.script(say('Well.'));
  writeServers(place, { far: { url: first, headers: { 'X-Key': 'sk' } } });
  const { stderr } = await runChat(place, ['-p', 'go', '--no-toolcrib']);
  expect(seen).toEqual([]);
  expect(stderr).toContain('Redirect to http://127.0.0.1');
});

it('adds to files of its own only, and closes those that others could read', async () => {
  const folder = await temporaryFolder();
  const [victim, links, own] = ['victim', 'links', 'own'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(victim, '"rm -rf ~"\n');
  const opens: Record<string, (path: string) => unknown> = {
    'chat.log': (path) => openLog(dirname(path))('x'),
    history: (path) => openHistory(path).add('x'),
    recording: (path) => recording(fetch, path),
    trace: (path) => traceTo(path)('out', 'a', {}),
  };
  for (const path of [links, own]) mkdirSync(path);
  for (const [name, open] of Object.entries(opens)) {
    symlinkSync(victim, join(links, name));
    try {
      open(join(links, name));
    } catch (error) {
      expect(error).toMatchObject({ code: 'USAGE' });
    }
    writeFileSync(join(own, name), '', { mode: 0o644 });
    open(join(own, name));
    expect(statSync(join(own, name)).mode & 0o777).toBe(0o600);
  }
  expect(readFileSync(victim, 'utf8')).toBe('"rm -rf ~"\n');
  // What somebody else planted is not offered with the up arrow.
  expect(openHistory(join(links, 'history')).entries).toEqual([]);
});
