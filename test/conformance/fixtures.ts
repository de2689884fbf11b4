import { setTimeout as sleep } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  MissingRequiredClientCapabilityError,
  type CallToolResult,
  type GetPromptResult,
  type InputRequiredResult,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server';

type Given = Readonly<Record<string, string>>;
type Answers = Readonly<Record<string, unknown>>;

/** One tool that a scenario of the official suite calls by its name. */
interface Fixture {
  readonly params?: Readonly<Record<string, object>>;
  call(given: Given, context: ServerContext): Promise<CallToolResult | InputRequiredResult>;
}

export const codec = createRequestStateCodec<string>({ key: 'k'.repeat(32) });

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = Buffer.from(
  'RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0',
  'latin1',
).toString('base64');
const image = { type: 'image', data: png, mimeType: 'image/png' } as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const said = async (words: string): Promise<CallToolResult> => ({ content: [text(words)] });
const object = (properties: Record<string, object>) => ({
  type: 'object' as const,
  properties: properties as Record<string, { type: 'string' }>,
  required: Object.keys(properties),
});
const string = { type: 'string' };

const answersOf = ({ mcpReq }: ServerContext): Answers => (mcpReq.inputResponses ?? {}) as Answers;

async function elicit(message: string, requestedSchema: object, { mcpReq }: ServerContext, lead: string) {
  const params = { mode: 'form', message, requestedSchema } as Parameters<typeof mcpReq.elicitInput>[0];
  const { action, content } = await mcpReq.elicitInput(params, { relatedRequestId: mcpReq.id });
  return said(`${lead}: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const askFor = (message: string, name: string) =>
  inputRequired.elicit({ message, requestedSchema: object({ [name]: string }) });
const askModel = (words: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens: 100 });

/** Asks until the key is among the answers. */
const rounds =
  (key: string, request: Parameters<typeof inputRequired>[0]['inputRequests'], state?: string) =>
  async (_given: Given, context: ServerContext): Promise<CallToolResult | InputRequiredResult> => {
    const answer = answersOf(context)[key];
    const isState = state === undefined || context.mcpReq.requestState<string>() === state;
    if (answer !== undefined && isState) return said(`state-ok: ${JSON.stringify(answer)}`);
    return inputRequired({
      inputRequests: request ?? {},
      ...(state !== undefined && { requestState: await codec.mint(state, context) }),
    });
  };

const enums = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [1, 2, 3].map((at) => ({ const: `value${at}`, title: `Option ${at}` })),
  },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: {
    type: 'array',
    items: { anyOf: [1, 2, 3].map((at) => ({ const: `value${at}`, title: `Choice ${at}` })) },
  },
};
const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const name = { user_name: askFor('What is your name?', 'name') };

async function log({ mcpReq }: ServerContext): Promise<CallToolResult> {
  for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', words);
    await sleep(50);
  }
  return said('logged');
}

export const tools: Readonly<Record<string, Fixture>> = {
  test_simple_text: { call: () => said('This is a simple text response for testing.') },
  test_image_content: { call: async () => ({ content: [image] }) },
  test_audio_content: {
    call: async () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    call: async () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    call: async () => ({
      content: [
        text('Multiple content types test:'),
        image,
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    }),
  },
  test_tool_with_logging: { call: (_given, context) => log(context) },
  test_logging_tool: { call: (_given, context) => log(context) },
  test_error_handling: {
    call: async () => ({
      isError: true,
      content: [text('This tool intentionally returns an error for testing')],
    }),
  },
  test_tool_with_progress: {
    async call(_given, { mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          });
        await sleep(50);
      }
      return said('done');
    },
  },
  test_sampling: {
    params: { prompt: string },
    async call({ prompt = '' }, { mcpReq }) {
      const { content } = await mcpReq.requestSampling(
        {
          messages: [{ role: 'user', content: text(prompt) }],
          maxTokens: 100,
        },
        { relatedRequestId: mcpReq.id },
      );
      return said(`LLM response: ${JSON.stringify(content)}`);
    },
  },
  test_elicitation: {
    params: { message: string },
    call: ({ message = '' }, context) =>
      elicit(message, object({ username: string, email: string }), context, 'User response'),
  },
  test_elicitation_sep1034_defaults: {
    call: (_given, context) =>
      elicit('Defaults', { ...object(defaults), required: [] }, context, 'Elicitation completed'),
  },
  test_elicitation_sep1330_enums: {
    call: (_given, context) =>
      elicit('Enums', { ...object(enums), required: [] }, context, 'Elicitation completed'),
  },
  test_missing_capability: {
    async call(_given, { mcpReq }) {
      const declared = (mcpReq.envelope as Record<string, Record<string, unknown>> | undefined)?.[
        CLIENT_CAPABILITIES_META_KEY
      ];
      if (declared?.['sampling'] === undefined)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      return said('there');
    },
  },
  test_streaming_elicitation: { call: rounds('user_name', name) },
  test_input_required_result_elicitation: {
    async call(_given, context) {
      const { user_name: answer } = answersOf(context) as { user_name?: { content?: { name?: unknown } } };
      const given = answer?.content?.name;
      if (typeof given === 'string') return said(`Hello, ${given}!`);
      return inputRequired({ inputRequests: name });
    },
  },
  test_input_required_result_sampling: {
    call: rounds('capital_question', { capital_question: askModel('What is the capital of France?') }),
  },
  test_input_required_result_list_roots: {
    call: rounds('client_roots', { client_roots: inputRequired.listRoots() }),
  },
  test_input_required_result_request_state: {
    call: rounds('confirm', { confirm: askFor('Please confirm', 'ok') }, 'asked'),
  },
  test_input_required_result_tampered_state: {
    call: rounds('confirm', { confirm: askFor('Please confirm', 'ok') }, 'asked'),
  },
  test_input_required_result_multiple_inputs: {
    call: rounds(
      'client_roots',
      { ...name, greeting: askModel('Generate a greeting'), client_roots: inputRequired.listRoots() },
      'several',
    ),
  },
  test_input_required_result_multi_round: {
    async call(_given, context) {
      const state = context.mcpReq.requestState<string>();
      const answers = answersOf(context);
      if (state === 'two' && answers['step2'] !== undefined) return said('both answered');
      const isSecond = state === 'one' && answers['step1'] !== undefined;
      return inputRequired({
        inputRequests: isSecond
          ? { step2: askFor('Step 2: What is your favorite color?', 'color') }
          : { step1: askFor('Step 1: What is your name?', 'name') },
        requestState: await codec.mint(isSecond ? 'two' : 'one', context),
      });
    },
  },
  test_input_required_result_capabilities: {
    async call(_given, context) {
      const { sampling } = ((context.mcpReq.envelope as Record<string, unknown> | undefined)?.[
        CLIENT_CAPABILITIES_META_KEY
      ] ?? {}) as { sampling?: object };
      return inputRequired({
        inputRequests: sampling ? { greeting: askModel('Generate a greeting') } : name,
      });
    },
  },
};

const message = (content: GetPromptResult['messages'][number]['content']) => ({
  role: 'user' as const,
  content,
});

export const prompts: Readonly<
  Record<
    string,
    {
      params?: readonly string[];
      get(given: Given, context: ServerContext): GetPromptResult | InputRequiredResult;
    }
  >
> = {
  test_simple_prompt: { get: () => ({ messages: [message(text('This is a simple prompt for testing.'))] }) },
  test_prompt_with_arguments: {
    params: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => ({
      messages: [message(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  },
  test_prompt_with_embedded_resource: {
    params: ['resourceUri'],
    get: ({ resourceUri: uri = '' }) => ({
      messages: [
        message({
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        message(text('Please process the embedded resource above.')),
      ],
    }),
  },
  test_prompt_with_image: {
    get: () => ({ messages: [message(image), message(text('Please analyze the image above.'))] }),
  },
  test_input_required_result_prompt: {
    get: (_given, context) =>
      answersOf(context)['user_context'] === undefined
        ? inputRequired({
            inputRequests: { user_context: askFor('What context should the prompt use?', 'context') },
          })
        : { messages: [message(text(JSON.stringify(answersOf(context)['user_context'])))] },
  },
};

/** Undefined for what is not there. */
export function resourceAt(uri: string): ReadResourceResult | undefined {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }] };
  }
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: png }] };
  if (uri === 'test://static-text' || uri === 'test://watched-resource')
    return {
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    };
  return undefined;
}
