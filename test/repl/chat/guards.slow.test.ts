import { expect, it } from 'vitest';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { answer, call, say } from '../support/fake-model.ts';
import { enter } from './enter.ts';

it('ends a turn in which the same impossible call comes again and again', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => call('nope', { a: 1 }));
  const { code, stderr } = await runChat(place, ['--no-toolcrib', '-p', 'x']);
  expect({ code, requests: place.model.requests.length }).toEqual({ code: 1, requests: 4 });
  expect(stderr).toContain('again and again');
});

it('takes it for no repetition to read once more what was changed', async () => {
  const place = await chatPlace();
  const change = (content: string) => [
    call('mcp__toolcrib__write_file', { path: 'a.txt', content }),
    call('mcp__toolcrib__read_file', { path: 'a.txt' }),
  ];
  place.model.script(...['one', 'two', 'three', 'four'].flatMap(change), say('Done.'));
  const { stdout } = await runChat(place, ['-p', 'x', '--allow', 'toolcrib:write_file']);
  expect(stdout).toBe('Done.\n');
  expect(place.model.requests.at(-1)?.text).not.toContain('This very call');
  expect(place.model.requests.at(-1)?.text).toContain('four');
});

it('goes back to no answer whose calls would be made once more', async () => {
  const place = await chatPlace();
  const todos = [{ text: 'one', status: 'pending' }];
  const kept = answer(say('I keep it.'), call('write_todos', { todos }));
  place.model.script(kept, say('Kept.'));
  const chat = openChat(place, ['--no-toolcrib']);
  await chat.sees('/help');
  await enter(chat, 'keep one');
  const [, id = ''] = /([\w-]+) answer: I keep it\./.exec(await enter(chat, '/tree')) ?? [];
  expect(await enter(chat, `/branch ${id}`)).toContain('that answer made calls');
  expect(await enter(chat, `/fork ${id}`)).toContain('/fork stands alone');
  expect(place.model.requests).toHaveLength(2);
});

it('ends the whole turn when the person stops a sub-agent', async () => {
  const place = await chatPlace();
  place.model.script(
    call('run_agent', { task: 'write a file' }),
    call('mcp__toolcrib__write_file', { path: 'a.txt', content: 'a' }),
    say('must not be asked'),
  );
  const chat = openChat(place);
  await chat.sees('/help');
  const over = enter(chat, 'go');
  await chat.sees(/\[y\]es[^]*instead ?$/);
  chat.press('esc');
  expect(await over).toContain('Stopped.');
  expect(place.model.requests).toHaveLength(2);
});

it('says once that the tools alone fill a small window, and makes no summary of nothing', async () => {
  const place = await chatPlace({ window: 3000 });
  place.model.otherwise(() => say('fine'));
  const chat = openChat(place);
  await chat.sees('/help');
  expect(await enter(chat, 'one')).toMatch(
    /The tools and the instructions alone take about \d+ of 3000 tokens/,
  );
  expect(await enter(chat, 'two')).not.toContain('alone take');
  expect(place.model.requests).toHaveLength(2);
});

it('tells a model that leaves the server out of a name what the name is', async () => {
  const place = await chatPlace();
  place.model.script(call('read_file', { path: 'a.txt' }), say('Oh.'));
  await runChat(place, ['-p', 'x']);
  expect(place.model.requests[1]?.text).toContain('You may mean mcp__toolcrib__read_file.');
});
