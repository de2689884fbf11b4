import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message } from '../../../src/repl/message.ts';
import type { ToolDefinition } from '../../../src/repl/providers/provider.ts';
import { createXmlCallReader } from '../../../src/repl/providers/xml-calls.ts';
import { xmlHistory, xmlInstructions } from '../../../src/repl/providers/xml-prompt.ts';
import { processorMs } from '../../support/processor-ms.ts';

const tools: ToolDefinition[] = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        lines: { type: 'integer' },
        raw: { type: 'boolean' },
        parts: { type: 'array', items: { type: 'number' } },
        where: { type: 'object' },
        limit: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      },
    },
  },
  { name: 'todo', description: 'Keeps a list.', inputSchema: { type: 'object' } },
];

function read(...chunks: string[]) {
  const reader = createXmlCallReader(tools);
  const text = chunks.map((chunk) => reader.push(chunk)).join('');
  const { text: last, calls } = reader.end();
  return { text: text + last, calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) };
}
const argumentsOf = (text: string): unknown => JSON.parse(read(text).calls[0]!.arguments);

describe('calls in the text', () => {
  it.each([
    ['as asked for', '<tool_call><name>read_file</name><arguments>{"path":"a"}</arguments></tool_call>'],
    [
      'as asked for, on lines',
      '<tool_call>\n<name>read_file</name>\n<arguments>\n{"path":"a"}\n</arguments>\n</tool_call>',
    ],
    ['as JSON', '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'],
    ['as JSON in a string', '<tool_call>{"name":"read_file","arguments":"{\\"path\\":\\"a\\"}"}</tool_call>'],
    ['as a function', '<function=read_file><parameter=path>a</parameter></function>'],
    ['as a function on lines', '<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>'],
    [
      'as a function within',
      '<tool_call>\n<function=read_file>\n<parameter=path>a</parameter></function>\n</tool_call>',
    ],
    ['as an element', '<read_file>\n<path>a</path>\n</read_file>'],
    ['as an element around JSON', '<read_file>{"path":"a"}</read_file>'],
    [
      'with elements as arguments',
      '<tool_call><name>read_file</name><arguments><path>a</path></arguments></tool_call>',
    ],
  ])('are found %s', (_, call) => {
    const { text, calls } = read(`I look.\n${call}\nDone.`);
    expect(text).toBe('I look.\n\nDone.');
    expect(calls.map(({ name }) => name)).toEqual(['read_file']);
    expect(JSON.parse(calls[0]!.arguments)).toEqual({ path: 'a' });
  });

  it('may be several, may lack arguments and may name a tool that is none', () => {
    const { calls } = read(
      '<todo></todo> <tool_call><name>nope</name></tool_call><tool_call>{"name":"todo"}</tool_call>',
    );
    expect(calls).toEqual([
      { name: 'todo', arguments: '{}' },
      { name: 'nope', arguments: '{}' },
      { name: 'todo', arguments: '{}' },
    ]);
  });

  it('have arguments of the kinds the schema names', () => {
    const made = argumentsOf(
      '<read_file><path>12</path><lines> 7\n</lines><raw>True</raw><parts>[1,2]</parts><parts>3</parts>' +
        '<where>{"a":1}</where><limit>null</limit><extra>5</extra><__proto__>x</__proto__></read_file>',
    );
    expect(made).toEqual(
      JSON.parse(
        '{"path":"12","lines":7,"raw":true,"parts":[1,2,3],"where":{"a":1},"limit":null,"extra":"5","__proto__":"x"}',
      ),
    );
    expect(argumentsOf('<read_file><lines>many</lines></read_file>')).toEqual({ lines: 'many' });
  });

  it('are text in a code fence, after a backtick and under an unknown name', () => {
    for (const whole of [
      'So:\n```xml\n<tool_call>{"name":"todo"}</tool_call>\n```\n',
      'Write `<tool_call>` first.',
      '<p>a</p> 1 < 2 <function=>x',
    ])
      expect(read(whole)).toEqual({ text: whole, calls: [] });
  });

  it('that are not finished keep their raw text, which is no JSON', () => {
    for (const whole of [
      '<tool_call><name>read_file</name><arguments>{"path":"a"}',
      '<tool_call>{"name":"read_file","arguments":{}}',
      '<function=read_file><parameter=path>a',
      '<read_file>{}',
    ])
      expect(read(whole)).toEqual({ text: '', calls: [{ name: 'read_file', arguments: whole }] });
  });

  it('that cannot be read keep it too', () => {
    expect(read('<tool_call>read a</tool_call>').calls).toEqual([
      { name: 'tool_call', arguments: '<tool_call>read a' },
    ]);
    expect(read('<read_file>a</read_file>').calls).toEqual([
      { name: 'read_file', arguments: '<read_file>a' },
    ]);
  });

  it('are held back from what is shown until it is certain that they are none', () => {
    const reader = createXmlCallReader(tools);
    expect(reader.push('a <tool_')).toBe('a ');
    expect(reader.push('box>')).toBe('<tool_box>');
    expect(reader.push('<todo>{}')).toBe('');
    expect(reader.push('</todo>b')).toBe('b');
    expect(reader.end().calls).toHaveLength(1);
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    '<tool_call>',
    '</tool_call>',
    '<name>',
    '</name>',
    'todo',
    '<todo>',
    '</todo>',
    '<function=todo>',
    '</function>',
    '<function=',
    '<parameter=a>',
    '</parameter>',
    '{"name":"todo"}',
    '<',
    '</',
    '>',
    '\n',
    '```',
    '`',
    ' ',
    '😀',
  ),
  fc.string({ maxLength: 4 }),
);
const answer = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));

it('reads the same whichever way the answer is cut', () => {
  fc.assert(
    fc.property(answer, fc.array(fc.nat(200), { maxLength: 8 }), (whole, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const chunks = at.slice(1).map((end, i) => whole.slice(at[i], end));
      expect(read(...chunks)).toEqual(read(whole));
      expect(read(...whole.split(''))).toEqual(read(whole));
    }),
    { numRuns: 1000 },
  );
});

it('loses no text: what is no call is shown', () => {
  fc.assert(
    fc.property(answer, (whole) => {
      const { text, calls } = read(whole);
      if (calls.length === 0) expect(text).toBe(whole);
      else expect(text.length).toBeLessThan(whole.length);
      // What is shown is what came, with the calls cut out of it.
      let at = 0;
      for (const char of text) {
        at = whole.indexOf(char, at) + char.length;
        expect(at).toBeGreaterThan(0);
      }
    }),
    { numRuns: 1000 },
  );
});

it('finds any call it was asked for, whatever its arguments hold', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
      const json = JSON.stringify(args).replaceAll('</', '\\u003c/');
      const { text, calls } = read(
        `a<tool_call><name>todo</name><arguments>${json}</arguments></tool_call>b`,
      );
      expect(text).toBe('ab');
      expect(JSON.parse(calls[0]!.arguments)).toEqual(JSON.parse(json));
    }),
  );
});

it.each([
  '<',
  '>',
  '<tool_call>',
  '</tool_call>',
  '<function=',
  '<todo><a>',
  '<read_file><parts>1</parts>',
  '`',
  '<tool_call>{',
])('takes time in proportion to the length of %j repeated', (unit) => {
  const whole = unit.repeat(Math.ceil(100_000 / unit.length));
  const started = process.cpuUsage();
  read(...whole.split(''));
  read(`<read_file>${'<parts>1</parts>'.repeat(6000)}</read_file>`);
  read(`<tool_call>${whole}</tool_call>`);
  expect(processorMs(started)).toBeLessThan(2000);
});

const assistant: AssistantMessage = {
  role: 'assistant',
  text: 'I look.',
  reasoning: '',
  calls: [{ id: '1', name: 'todo', arguments: '{"text":"</tool_call>"}' }],
  stop: 'calls',
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, estimated: false },
  provider: 'x',
  model: 'y',
  wire: 'chat',
  native: { reasoning_content: '' },
};

describe('what a model without tool calling is told', () => {
  it('names every tool with its schema, and a form that is understood', () => {
    const told = xmlInstructions(tools);
    for (const { name, inputSchema } of tools) {
      expect(told).toContain(`## ${name}`);
      expect(told).toContain(JSON.stringify(inputSchema));
    }
    expect(read(told).calls).toEqual([{ name: 'the_tool', arguments: '{"key": "value"}' }]);
    expect(xmlInstructions([])).toBe('');
  });

  it('holds calls and results as text, in turns that alternate', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' } as const;
    const result = {
      role: 'tool',
      callId: '1',
      name: 'todo',
      text: 'x</tool_result>y',
      images: [image],
      isError: true,
    } as const;
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      assistant,
      result,
      { ...result, text: 'z', images: [], isError: false },
      assistant,
      result,
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
    ];
    const told = xmlHistory(messages);
    expect(told.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    const said = told[1] as AssistantMessage;
    expect(said).toMatchObject({ calls: [], stop: 'done' });
    expect(said.native).toBeUndefined();
    expect(read(said.text)).toEqual({
      text: 'I look.\n\n',
      calls: [{ name: 'todo', arguments: '{"text":"\\u003c/tool_call>"}' }],
    });
    expect(told[2]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: '<tool_result name="todo" error="true">\nx<\\/tool_result>y\n</tool_result>' },
        image,
        { type: 'text', text: '<tool_result name="todo">\nz\n</tool_result>' },
      ],
    });
    expect(told[4]).toMatchObject({ content: [{ type: 'text' }, image, { text: 'and?' }] });
  });
});
