import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasProgram } from '../discoverers/real-program.ts';
import { connectHttp, connectHttpV1, serveHttp } from '../support/http.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, connectV1, eras, inherited, startRaw, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';

const trusting = ['--rule', 'run(node *)=allow'];

async function open(era: Era, args: readonly string[] = []) {
  const repository = temporaryRepository();
  const client = await connect(era, { roots: [repository.folder], args });
  onTestFinished(() => client.close());
  const read = async (uri: string) => {
    const [first] = (await client.readResource({ uri })).contents;
    return first && 'text' in first ? first.text : first;
  };
  return { ...repository, client, read };
}

/** An address below a folder, as hosts write it. */
const uriOf = (folder: string, path: string) => pathToFileURL(join(folder, path)).href;

describe.each(eras)('resources and prompts, in %s', (era) => {
  it('are the project, the programs and files, and a list names what there is', async () => {
    const { client, read, folder, write } = await open(era);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['toolcrib://project', 'toolcrib://programs']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'toolcrib://output/{handle}',
      'file:///{+path}',
    ]);
    expect(await read('toolcrib://project')).toContain('git: on main');
    expect(await read('toolcrib://programs')).toMatch(/^\d+ of \d+ programs are here/);
    write('sp ace/ü.txt', 'one\n12\ttwo\n');
    expect(await read(uriOf(folder, 'sp ace/ü.txt'))).toContain('one\n12\ttwo');
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    writeFileSync(join(folder, 'dot.png'), pixel);
    expect(await read(uriOf(folder, 'dot.png'))).toMatchObject({
      mimeType: 'image/png',
      blob: pixel.toString('base64'),
    });
  });

  it('are nothing outside the roots, behind links, denied by rules, or not a file', async () => {
    const { read, folder, write } = await open(era, ['--rule', 'read(**/.env)=deny']);
    const outside = join(temporaryFolder(), 'secret.txt');
    writeFileSync(outside, 'top secret');
    symlinkSync(outside, join(folder, 'link.txt'));
    write('.env', 'A=1');
    for (const uri of [
      pathToFileURL(outside).href,
      uriOf(folder, 'link.txt'),
      uriOf(folder, '.env'),
      uriOf(folder, '../../etc/passwd'),
      `file://${folder}/%2e%2e/%2e%2e/etc/passwd`,
      'file://evil.example/etc/passwd',
      'file:///etc/passwd%00.txt',
      `${uriOf(folder, 'src')}%2f..%2f..%2fx`,
      'toolcrib://output/dev-1',
      'toolcrib://output/../project',
      'toolcrib://nothing',
      'https://example.org/',
    ])
      await expect(read(uri), uri).rejects.toMatchObject({ code: -32602 });
  });

  it('have secrets masked, and leave out what the operator has left out', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const { read, folder, write } = await open(era);
    write('config.txt', `token = ${token}`);
    expect(await read(uriOf(folder, 'config.txt'))).not.toContain(token);
    const { client } = await open(era, ['--toolsets', 'files']);
    expect((await client.listResources()).resources).toEqual([]);
    expect((await client.listPrompts()).prompts).toEqual([]);
    await expect(client.readResource({ uri: 'toolcrib://project' })).rejects.toThrow();
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
  });

  it('notify subscribers when a job has ended, and what it printed', async () => {
    const { client, read } = await open(era, trusting);
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const started = await client.callTool({
      name: 'run',
      arguments: { command: 'node -e "console.log(123);setTimeout(()=>{},3000)"', background: true },
    });
    const uri = `toolcrib://output/${/\bnode-\d+\b/.exec(textOf(started))?.[0]}`;
    if (era === '2026-07-28') await client.listen({ resourceSubscriptions: [uri] });
    else await client.subscribeResource({ uri });
    expect(await read(uri)).toContain('123');
    await until(() => updated.length > 0);
    expect(updated).toEqual([uri]);
    expect(await read(uri)).toMatch(/done|ended|exit/);
  });

  it('notify subscribers to the project of a call that could change it, and no others', async () => {
    const { client } = await open(era, trusting);
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const uri = 'toolcrib://project';
    if (era === '2026-07-28') await client.listen({ resourceSubscriptions: [uri] });
    else await client.subscribeResource({ uri });
    await client.callTool({ name: 'list_files', arguments: {} });
    expect(updated).toEqual([]);
    await client.callTool({ name: 'write_file', arguments: { path: 'new.txt', content: 'x' } });
    await until(() => updated.length > 0);
    expect(updated).toEqual([uri]);
  });

  it('name tools that exist in prompts, with the arguments put in', async () => {
    const { client } = await open(era);
    const names = new Set((await client.listTools()).tools.map(({ name }) => name));
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'review_changes',
      'explain_failure',
      'prepare_commit',
      'onboard_me',
    ]);
    for (const { name, arguments: known = [] } of prompts)
      for (const given of [
        {},
        Object.fromEntries(known.map((argument) => [argument.name, 'some "thing"'])),
      ]) {
        const { messages } = await client.getPrompt({ name, arguments: given });
        const text = messages[0]?.content.type === 'text' ? messages[0].content.text : '';
        for (const word of text.match(/\b[a-z]+_[a-z_]+\b/g) ?? [])
          if (!['start_line', 'wait_for'].includes(word)) expect(names, `${name}: ${word}`).toContain(word);
        if ('base' in given || 'task' in given || 'path' in given)
          expect(text).toContain('"some \\"thing\\""');
      }
    await expect(client.getPrompt({ name: 'reveiw' })).rejects.toThrow('review_changes');
    await expect(client.getPrompt({ name: 'onboard_me', arguments: { base: 'x' } })).rejects.toThrow('path');
  });

  it('complete branches, tags, tasks, paths and handles without a question', async () => {
    const { client, git, write, folder } = await open(era, trusting);
    git('branch', 'feature/cart');
    git('tag', 'v1.0.0');
    write('package.json', JSON.stringify({ scripts: { dev: 'node x', 'test:unit': 'node --test' } }));
    mkdirSync(join(folder, 'src/deep'), { recursive: true });
    await client.callTool({
      name: 'run',
      arguments: { command: 'node -e "setTimeout(()=>{},60000)"', background: true },
    });
    const complete = async (ref: { prompt: string } | { uri: string }, name: string, value: string) => {
      const reference =
        'uri' in ref
          ? { type: 'ref/resource' as const, ...ref }
          : { type: 'ref/prompt' as const, name: ref.prompt };
      return (await client.complete({ ref: reference, argument: { name, value } })).completion.values;
    };
    expect(await complete({ prompt: 'review_changes' }, 'base', '')).toEqual([
      'feature/cart',
      'main',
      'v1.0.0',
    ]);
    expect(await complete({ prompt: 'review_changes' }, 'base', 'fea')).toEqual(['feature/cart']);
    expect(await complete({ prompt: 'explain_failure' }, 'task', 'te')).toEqual(['test', 'test:unit']);
    expect(await complete({ prompt: 'prepare_commit' }, 'path', 's')).toEqual(['src/']);
    expect(await complete({ prompt: 'onboard_me' }, 'path', 'src/')).toEqual(['src/a.txt', 'src/deep/']);
    const real = realpathSync(folder).slice(1);
    expect(await complete({ uri: 'file:///{+path}' }, 'path', `${real}/src/a`)).toEqual([
      `${real}/src/a.txt`,
    ]);
    expect(await complete({ uri: 'file:///{+path}' }, 'path', 'etc/pass')).toEqual([]);
    expect(await complete({ uri: 'toolcrib://output/{handle}' }, 'handle', '')).toEqual(['node-1']);
    expect(await complete({ prompt: 'no_such' }, 'path', '')).toEqual([]);
  });
});

it('completes the names of containers and of tables', async () => {
  const bin = temporaryFolder();
  const container = { ID: 'abc', Names: 'web', Image: 'nginx', State: 'running', Ports: '' };
  const docker = `#!/bin/sh\n[ "$1" = ps ] && echo '${JSON.stringify(container)}' || echo 'Docker version 28.0.0'\n`;
  writeFileSync(join(bin, 'docker'), docker, { mode: 0o755 });
  const repository = temporaryRepository();
  const client = await connect('2026-07-28', {
    roots: [repository.folder],
    args: ['--questions', 'none'],
    env: { ...inherited(), PATH: `${bin}${delimiter}${process.env['PATH']}` },
  });
  onTestFinished(() => client.close());
  const complete = async (prompt: string, name: string) => {
    const ref = { type: 'ref/prompt' as const, name: prompt };
    return (await client.complete({ ref, argument: { name, value: '' } })).completion.values;
  };
  expect(await complete('explain_failure', 'container')).toContain('web');
  expect(await complete('onboard_me', 'table')).toEqual([]);
  if (!hasProgram('sqlite3')) return;
  execFileSync('sqlite3', [join(repository.folder, 'shop.db'), 'CREATE TABLE orders (id INTEGER)']);
  expect(await complete('onboard_me', 'table')).toEqual(['orders']);
});

it('serves resources to the first SDK, and over HTTP', async () => {
  const { folder } = temporaryRepository();
  const server = await serveHttp([folder]);
  const clients = [
    await connectV1({ roots: [folder] }),
    await connectHttpV1(server),
    await connectHttp('2026-07-28', server),
  ];
  for (const client of clients) {
    expect((await client.listPrompts()).prompts).toHaveLength(4);
    const { contents } = await client.readResource({ uri: 'toolcrib://project' });
    expect(JSON.stringify(contents)).toContain('git: on main');
    const ref = { type: 'ref/prompt' as const, name: 'review_changes' };
    const { completion } = await client.complete({ ref, argument: { name: 'base', value: 'm' } });
    expect(completion.values).toEqual(['main']);
    await client.close();
  }
});

it('answers a host that asks for prompts and resources first, also from memory', async () => {
  const { folder } = temporaryRepository();
  const ask = async () => {
    const server = startRaw({ roots: [folder] });
    onTestFinished(() => {
      server.child.kill('SIGKILL');
    });
    const clientInfo = { name: 'raw', version: '1' };
    server.send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    });
    server.send({ method: 'notifications/initialized' });
    for (const [at, method] of [
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'tools/list',
    ].entries())
      server.send({ id: at + 2, method });
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((id) => server.next((message) => message.id === id)),
    );
    server.send({ id: 9, method: 'prompts/get', params: { name: 'onboard_me' } });
    answers.push(await server.next(({ id }) => id === 9));
    expect(server.lines.filter((line) => line.includes('"id"'))).toHaveLength(6);
    return { answers, server };
  };
  const first = await ask();
  expect(first.answers[0]).toMatchObject({
    result: { capabilities: { prompts: {}, resources: { subscribe: true }, completions: {} } },
  });
  // What it keeps for the next start is written a moment later.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  first.server.child.stdin.end();
  await first.server.ended;
  expect((await ask()).answers).toEqual(first.answers);
});
