import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, leave, openChat, runChat, type ChatPlace } from '../support/chat.ts';
import { program } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import type { Pty } from '../support/pty.ts';
import { say } from '../support/fake-model.ts';

// Each runs the program several times: quick, unless much else runs.

/** Somebody who has just installed it; only their Ollama may run already, elsewhere than usual. */
async function newcomer({ ollama }: { ollama: boolean }): Promise<ChatPlace> {
  const place = await chatPlace();
  settings(place, '');
  place.env['OLLAMA_HOST'] = ollama ? place.model.url : 'http://127.0.0.1:9';
  return place;
}

const settings = ({ home }: ChatPlace, text: string, name = 'chat.yaml'): void =>
  writeFileSync(join(home, '.config', 'toolcrib', name), text);

it('says in four lines what to do when no model is chosen', async () => {
  const { code, stdout, stderr } = await runChat(await newcomer({ ollama: false }), ['-p', 'hello']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n').slice(0, 4);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(lines).toEqual([
    expect.stringMatching(/^toolcrib: NO_MODEL: No model is chosen/),
    expect.stringContaining('ANTHROPIC_API_KEY'),
    expect.stringContaining('--model ollama/'),
    expect.stringContaining('chat.yaml'),
  ]);
});

/** A chat that offers the model: started again where the model took long to answer, as on a busy machine. */
async function offering(place: ChatPlace): Promise<Pty> {
  for (;;) {
    const chat = openChat(place, ['--no-toolcrib']);
    let ended = false;
    void chat.exit.finally(() => {
      ended = true;
    });
    await chat.until(() => ended || chat.scrollback().includes('Use it?'));
    if (!ended) return chat;
  }
}

it('offers a model that answers on this machine', async () => {
  const place = await newcomer({ ollama: true });
  const yes = await offering(place);
  await yes.sees('ollama/fake-model answers on this machine. Use it?');
  expect(yes.scrollback()).toContain('ANTHROPIC_API_KEY');
  yes.type('y\r');
  await yes.sees('ollama/fake-model · mode ask');
  place.model.script(say('Here I am.'));
  yes.type('hello\r');
  await yes.sees('Here I am.');
  await leave(yes);

  const no = await offering(place);
  no.type('n\r');
  expect(await no.exit).toBe(1);
  expect(no.scrollback()).toContain('No model was chosen.');

  // Nobody can be asked.
  await until(async () => {
    const once = await runChat(place, ['-p', 'hello']);
    expect(once).toMatchObject({ code: 1, stdout: '' });
    return once.stderr.includes('One answers on this machine: --model ollama/fake-model');
  });
  place.model.script(say('Me.'));
  expect(
    (await runChat(place, ['-p', 'hello', '--model', 'ollama/fake-model', '--no-toolcrib'])).stdout,
  ).toBe('Me.\n');
});

it('takes the model whose key is in the environment', async () => {
  const place = await newcomer({ ollama: false });
  Object.assign(place.env, { OPENAI_API_KEY: 'sk-mine', OPENAI_BASE_URL: `${place.model.url}/v1` });
  place.model.script(say('Hello.'));
  const { code, stdout } = await runChat(place, ['-p', 'hello', '-m', 'openai/fake-model', '--no-toolcrib']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello.\n' });
  expect(place.model.requests[0]?.headers.authorization).toBe('Bearer sk-mine');
  // Nobody has to name a model: the endpoint does, if it answers within a second or two.
  place.model.script(say('Me, too.'));
  await until(async () => (await runChat(place, ['-p', 'hello', '--no-toolcrib'])).stdout === 'Me, too.\n');
});

it('names file, line and the key that was meant when its settings cannot be understood', async () => {
  const place = await newcomer({ ollama: false });
  const wrong: [string, RegExp][] = [
    ['mode: ask\nmodle: a/b\n', /chat\.yaml:2: .*"?modle"?.*model/],
    ['# x\n\nmode: yolo\n', /chat\.yaml:3: mode cannot be yolo/],
    ['mode: [ask\n', /chat\.yaml:\d: it cannot be read/],
    [`model: &a [x]\nmodels: ${'[*a,'.repeat(100)}1${']'.repeat(100)}\n`, /chat\.yaml: it cannot be read/],
    ['models:\n  a: { model: b/c, contextWindow: many }\n', /chat\.yaml:2: models\.a\.contextWindow/],
    ['model: nothing-known\n', /"nothing-known" is no known model/],
  ];
  for (const [text, says] of wrong) {
    settings(place, text);
    const { code, stdout, stderr } = await runChat(place, ['-p', 'x', '--no-toolcrib']);
    expect({ text, code, stdout }).toEqual({ text, code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^toolcrib: [^\n]+\n$/);
  }
  const chat = openChat(place);
  expect(await chat.exit).toBe(2);
  expect(chat.screen()).toContain('is no known model');
});

it('goes on without the servers of an mcp.json that cannot be understood', async () => {
  const place = await chatPlace();
  settings(place, '{"mcpServers": {"a": {"comand": "x"}, "b": 7}', 'mcp.json');
  place.model.otherwise(() => say('ok'));
  const broken = await runChat(place, ['-p', 'x', '--no-toolcrib']);
  expect(broken).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(broken.stderr).toMatch(/^toolcrib: .*mcp\.json[^\n]*\n$/);
  settings(place, '{"mcpServers": {"a": {"comand": "x"}, "b": 7}}', 'mcp.json');
  const wrong = await runChat(place, ['-p', 'x', '--no-toolcrib']);
  expect(wrong).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(wrong.stderr).toMatch(/a: It needs "command"/);
  expect(wrong.stderr.split('\n')).toHaveLength(3);
  expect(readFileSync(join(place.home, '.config', 'toolcrib', 'mcp.json'), 'utf8')).toContain('comand');
});

it('says so where the folder is gone, and goes on where nothing can be cached', async () => {
  const place = await chatPlace();
  const gone = join(place.cwd, 'gone');
  mkdirSync(gone);
  const script = `cd gone && rmdir ../gone && exec "$0" "$1" chat -p x`;
  const { stderr, status } = spawnSync('/bin/sh', ['-c', script, process.execPath, program], {
    cwd: place.cwd,
    env: place.env,
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({
    stderr: 'toolcrib: the folder you are in is no longer there; cd into another one.\n',
    status: 2,
  });
  const file = join(place.cwd, 'file');
  writeFileSync(file, '');
  place.model.script(say('still here'));
  const ran = await runChat({ ...place, env: { ...place.env, XDG_CACHE_HOME: file } }, [
    '--no-toolcrib',
    '-p',
    'x',
  ]);
  expect(ran).toEqual({ code: 0, stdout: 'still here\n', stderr: '' });
});
