import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Wire } from '../../../src/repl/message.ts';
import { until } from '../../support/until.ts';
import { chatPlace, runChat, type ChatPlace } from '../support/chat.ts';
import {
  answer,
  call,
  misbehave,
  say,
  think,
  type FakeRequest,
  type Misbehaviour,
} from '../support/fake-model.ts';
import { offered } from '../support/served.ts';

const wires: readonly Wire[] = ['chat', 'responses', 'anthropic'];
const bare = '--no-toolcrib';

/** The fake model as `mine/m`, with more known of its endpoint and of the model. */
function configure(
  place: ChatPlace,
  wire: Wire,
  { endpoint = 'local: true', model = 'tools: true' } = {},
): void {
  const baseUrl = `${place.model.url}${wire === 'anthropic' ? '' : '/v1'}`;
  writeFileSync(
    join(place.home, '.config', 'toolcrib', 'chat.yaml'),
    `endpoints: { mine: { wire: ${wire}, baseUrl: "${baseUrl}", ${endpoint} } }
models: { m: { model: mine/m, contextWindow: 100000, ${model} } }
model: m
`,
  );
}

it.each(wires)(
  'takes answers in any pieces, and asks again for those that break off, over %s',
  async (wire) => {
    const place = await chatPlace({ wire });
    const text = 'Größe: 文件 👩‍👩‍👧 "\\n"';
    const pieces = [1, 3, 7].map((bytes) => say(text, { bytes, delta: 1 }));
    const whole: Misbehaviour[] = ['json_instead_of_stream', 'missing_usage', '500_then_ok'];
    const broken: Misbehaviour[] = [
      'cut_at_once',
      'cut_socket',
      'no_finish_reason',
      'error_in_stream',
      'broken_event',
      '529',
      'html_502',
    ];
    place.model.script(
      ...pieces,
      ...whole.map((kind) => say(`Well, ${kind}.`, { misbehave: kind })),
      ...broken.flatMap((kind) => [say('A long way to go.', { misbehave: kind }), say(`Well, ${kind}.`)]),
    );
    const count = pieces.length + whole.length + broken.length;
    const prompts = join(place.cwd, 'prompts');
    writeFileSync(prompts, Array.from({ length: count }, (_, at) => `prompt ${at}`).join('\n'));
    const { code, stdout } = await runChat(place, ['-f', prompts, bare]);
    expect(stdout.trim().split('\n')).toEqual([
      ...pieces.map(() => text),
      ...[...whole, ...broken].map((kind) => `Well, ${kind}.`),
    ]);
    expect(code).toBe(0);
  },
);

it.each(wires)('says what failed, and what is no use to ask again, over %s', async (wire) => {
  const place = await chatPlace({ wire });
  for (const [kind, code] of [
    ['insufficient_quota', 'MODEL_QUOTA'],
    ['key_refused', 'MODEL_KEY_REFUSED'],
    ['overflow_400', 'MODEL_OVERFLOW'],
    ['overflow_413', 'MODEL_OVERFLOW'],
    ['not_found', 'MODEL_REFUSED'],
    ['html_200', 'MODEL_REFUSED: .*web page'],
    ...(wire === 'anthropic' ? ([['window_exceeded', 'MODEL_OVERFLOW']] as const) : []),
  ] as const) {
    const asked = place.model.requests.length;
    place.model.script(misbehave(kind));
    const ran = await runChat(place, ['-p', 'go', bare]);
    expect([kind, ran.code, ran.stderr]).toEqual([
      kind,
      1,
      expect.stringMatching(`(?:^|\n)toolcrib: ${code}: .+\n$`),
    ]);
    expect(place.model.requests).toHaveLength(asked + 1);
  }
  await place.model.close();
  const { stderr } = await runChat(place, ['-p', 'go', bare]);
  expect(stderr).toMatch(/^toolcrib: MODEL_UNREACHABLE: .*ECONNREFUSED.*running\?/);
});

const lacks =
  (...fields: string[]) =>
  ({ body }: FakeRequest) =>
    fields.every((field) => !(field in body));
const thinking = 'thinking: true';

type Refused = [Wire, Misbehaviour, model: string, mended: (request: FakeRequest) => boolean];

it.each<Refused>([
  ...wires.flatMap((wire): Refused[] => [
    [wire, 'thinking_refused', thinking, lacks('thinking', 'reasoning', 'reasoning_effort')],
    [wire, 'streaming_refused', 'tools: true', ({ body }) => body.stream !== true],
  ]),
  ['chat', 'stream_options_refused', 'tools: true', lacks('stream_options')],
  ['responses', 'encrypted_refused', thinking, lacks('include')],
  ['anthropic', 'cache_control_refused', 'tools: true', ({ text }) => !text.includes('"cache_control"')],
])('does without what an endpoint refuses, and remembers it (%s, %s)', async (wire, kind, model, mended) => {
  const place = await chatPlace();
  configure(place, wire, { model });
  place.model.script(say('One.', { misbehave: kind }), say('Two.', { misbehave: kind }));
  const think = model === thinking ? '/thoughts think\n' : '';
  const { code, stdout } = await runChat(place, [bare], `${think}go\non\n`);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/One\.\n[^]*Two\.\n/) });
  const without = place.model.requests.map(mended);
  expect([without[0], without.indexOf(true)]).toEqual([false, without.length - 2]);
});

it.each(wires)(
  'sends headers and the key, counts as the provider does, and repeats itself word for word, over %s',
  async (wire) => {
    const place = await chatPlace();
    configure(place, wire, {
      endpoint: 'keyVariables: [MY_KEY], headers: { x-team: blue }',
      model: thinking,
    });
    place.env['MY_KEY'] = 'sk-mine';
    place.model.script(
      answer(think('Hm.'), call('list_todos'), { reasoningField: 'reasoning' }),
      say('One.', { usage: { input: 120, output: 30, cached: 100 } }),
      say('Two.', { usage: { input: 220, output: 7, cached: 100 } }),
    );
    writeFileSync(join(place.cwd, 'prompts'), 'first\nsecond\n');
    const { stdout } = await runChat(place, ['-f', 'prompts', '--output', 'json', bare]);
    const { usage } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { usage: object };
    expect(usage).toMatchObject({ cacheRead: 200, estimated: false });
    for (const { headers } of place.model.requests)
      expect([headers['x-team'], headers.authorization ?? headers['x-api-key']]).toEqual([
        'blue',
        wire === 'anthropic' ? 'sk-mine' : 'Bearer sk-mine',
      ]);
    if (wire === 'chat') expect(place.model.requests[1]?.text).toContain('"reasoning":"Hm."');
    // So that caches hold, each request begins with the one before it.
    const sent = place.model.requests.map(({ body }) =>
      JSON.stringify(body['messages'] ?? body['input'])
        .replaceAll(',"cache_control":{"type":"ephemeral"}', '')
        .slice(0, -1),
    );
    expect(sent[1]?.startsWith(sent[0] ?? '')).toBe(true);
    expect(sent[2]?.startsWith(sent[1] ?? '')).toBe(true);
  },
);

it('reads calls that a model writes into its text, in whichever form, and no others', async () => {
  const place = await chatPlace();
  configure(place, 'chat', { model: 'tools: false' });
  const name = 'mcp__toolcrib__read_file';
  const forms = [
    `<tool_call>{"name":"${name}","arguments":{"path":"FILE"}}</tool_call>`,
    `<tool_call>{"name":"${name}","arguments":"{\\"path\\":\\"FILE\\"}"}</tool_call>`,
    `<function=${name}><parameter=path>FILE</parameter></function>`,
    // A number, as the schema wants it.
    `<tool_call>\n<function=${name}>\n<parameter=path>\nFILE\n</parameter><parameter=limit>1</parameter></function>\n</tool_call>`,
  ].map((form, at) => form.replace('FILE', `${at}.txt`));
  for (const at of forms.keys()) writeFileSync(join(place.cwd, `${at}.txt`), `inside ${at}\nmore of ${at}\n`);
  const texts = [
    `So:\n\`\`\`xml\n${forms[0]}\n\`\`\``,
    'Write `<tool_call>` first.',
    '<p>a</p> 1 < 2 <function=>x',
  ];
  place.model.script(
    ...forms.map((form, at) => say(`I look.\n${form}\nDone.`, { delta: 1 + at })),
    say(`${forms[1]}${forms[3]}`),
    say(`<tool_call>{"name":"${name}","arguments":{"path":"a.txt"}`),
    say('End.'),
    ...texts.map((text) => say(text)),
  );
  writeFileSync(join(place.cwd, 'prompts'), 'look\none\ntwo\nthree\n');
  const { stdout } = await runChat(place, ['-f', 'prompts', '--toolsets', 'files']);
  expect(stdout).toBe(`End.\n${texts.join('\n')}\n`);
  // One call each, then two, and one that was cut.
  const told = place.model.requests.map(({ text }) => text.split('<tool_result').length - 1);
  const [none = 0] = told;
  expect(told.map((count) => count - none)).toEqual([0, 1, 2, 3, 4, 6, 7, 7, 7, 7]);
  const last = place.model.requests.at(-1)!;
  for (const at of forms.keys()) expect(last.text).toContain(`inside ${at}`);
  expect(last.text).toContain('more of 2');
  expect(last.text).not.toContain('more of 3');
  expect(last.text).toContain('are not valid JSON');
  expect(offered(last)).toEqual([]);
});

it('asks Ollama and llama.cpp for the window of a model, and believes the person more', async () => {
  const place = await chatPlace();
  place.env['OLLAMA_HOST'] = place.model.url;
  const settings = join(place.home, '.config', 'toolcrib', 'chat.yaml');
  writeFileSync(
    settings,
    `endpoints: { llamacpp: { wire: chat, baseUrl: "${place.model.url}/v1", local: true } }
models: { mine: { model: ollama/qwen, contextWindow: 8192 } }
`,
  );
  place.model.facts['/props'] = { default_generation_settings: { n_ctx: 4096 } };
  place.model.facts['/api/show'] = {
    capabilities: ['completion', 'vision'],
    parameters: 'stop "x"\nnum_ctx   16384',
    model_info: { 'gemma3.context_length': 131_072 },
  };
  // A server that is busy with something else is not waited for: it is asked again at the next start.
  const says = (model: string, window: number) =>
    until(async () => {
      const { stdout } = await runChat(place, ['-m', model, bare], 'hello\n/status\n');
      return stdout.includes(`of ${window} tokens`);
    });
  place.model.otherwise(() => say('Well.'));
  await says('ollama/gemma3', 16_384);
  await says('llamacpp/x', 4096);
  await says('mine', 8192);
  // It cannot call tools, and is told of them in words.
  expect(offered(place.model.requests.at(-1))).toEqual([]);
  expect(place.model.requests.at(-1)?.text).toContain('# Tools');
});
