import { expect, it } from 'vitest';
import { call, say } from '../support/fake-model.ts';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { answerTo, doneBy, offered, results, serve } from '../support/served.ts';
import { enter } from './enter.ts';

const plan = (text: string) => call('exit_plan', { plan: text });

it('offers only what reads in plan mode, whatever rules allow, until the plan is approved', async () => {
  const place = await chatPlace();
  serve(place, { s: {} });
  const chat = openChat(place, ['--mode', 'plan', '--allow', 's:put']);
  place.model.script(
    call('mcp__s__put', { text: 'early' }),
    plan('# Steps\n\n1. **Everything** at once'),
    plan('# Better steps'),
    call('mcp__s__wipe', { text: 'later' }),
    call('mcp__s__put', { text: 'last' }),
    say('Carried out.'),
  );
  const over = enter(chat, 'go');
  await answerTo(chat, 'Everything at once', 'in smaller steps, please');
  await answerTo(chat, 'Better steps', 'y');
  await answerTo(chat, 'text: later', 'y');
  await over;
  const [first, , , fourth, , last] = place.model.requests;
  expect(offered(first)).toEqual(
    expect.arrayContaining(['exit_plan', 'mcp__s__look', 'mcp__toolcrib__read_file']),
  );
  for (const name of ['mcp__s__put', 'mcp__s__wipe', 'mcp__toolcrib__write_file']) {
    expect(offered(first)).not.toContain(name);
    expect(offered(fourth)).toContain(name);
  }
  expect(offered(fourth)).not.toContain('exit_plan');
  expect(results(last)).toEqual([
    'Refused: plan mode: only tools that say they are read-only',
    'The plan is not approved yet. Keep planning. The person says: in smaller steps, please',
    expect.stringContaining('The person approved the plan.'),
    'wipe: later',
    'put: last',
  ]);
  expect(doneBy(place, 's')).toEqual(['wipe later', 'put last']);
  expect(chat.screen()).toMatch(/\n>$/);
  // The plan and its answer are enough.
  expect(chat.scrollback()).toMatch(/please\n {2}└ not approved\n[^]* y\n {2}└ approved, mode ask\n/);
  expect(chat.scrollback()).not.toMatch(/exit_plan|The person approved/);
});

it('lets the plan go on by itself, stay a plan, or wait', async () => {
  const place = await chatPlace();
  const chat = openChat(place, ['--no-toolcrib']);
  place.model.script(plan('# Plan A'));
  await enter(chat, '/mode plan');
  chat.type('think first\r');
  await answerTo(chat, 'Plan A', undefined);
  await chat.sees(/(?:Interrupted|Stopped)\.[^]*plan >$/);
  expect(place.model.requests[0]?.text).toContain('think first');
  place.model.script(plan('# Plan B'), plan('# Plan C'), say('Carried out.'));
  const over = enter(chat, 'again');
  await answerTo(chat, 'Plan B', '3');
  await answerTo(chat, 'Plan C', '2');
  await over;
  expect(results(place.model.requests.at(-1)).slice(-2)).toEqual([
    'The plan is not approved yet. Keep planning.',
    expect.stringContaining('The person approved the plan.'),
  ]);
  await chat.sees(/auto >$/);
  // What was approved holds when the session goes on.
  chat.type('/exit\r');
  await chat.exit;
  await openChat(place, ['--no-toolcrib', '--continue']).sees(/mode auto/);
});

it('says that the plan is the answer where nobody can approve it', async () => {
  const place = await chatPlace();
  place.model.script(plan('# Plan'), say('# Plan'));
  const { code, stdout } = await runChat(place, ['--no-toolcrib', '--mode', 'plan', '-p', 'go']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '# Plan\n' });
  expect(results(place.model.requests[1])).toEqual([expect.stringContaining('Nobody is here')]);
});

it('shows the list of what is to be done when the model writes it, and keeps it', async () => {
  const place = await chatPlace();
  const chat = openChat(place, ['--no-toolcrib']);
  const todos = [
    { text: 'read the code', status: 'completed' },
    { text: 'mend it', status: 'in_progress', priority: 'high' },
    { text: 'test it', status: 'pending', priority: 'low' },
  ];
  place.model.script(call('write_todos', { todos }), say('Planned.'));
  expect(await enter(chat, 'go')).toMatch(/^1 ☑ read the code\n2 ▸ mend it !\n3 ☐ test it\nPlanned\.\n/);
  chat.type('/exit\r');
  await chat.exit;
  const again = openChat(place, ['--no-toolcrib', '--continue']);
  expect(await enter(again, '/todo')).toBe('1 ☑ read the code\n2 ▸ mend it !\n3 ☐ test it');
});
