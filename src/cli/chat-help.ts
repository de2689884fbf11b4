/** What `toolcrib chat --help` prints: every option of chat.ts. */
export const chatHelp = `toolcrib chat - a model in the terminal, with the tools of this machine

  toolcrib chat [options] [prompt]         a conversation; /help lists its commands
  toolcrib chat -p [options] [prompt]      one answer, then the end; what is piped in comes before the prompt

Model and mode:
  -m, --model NAME    endpoint/model, a name of chat.yaml, or an endpoint alone for its usual model
  --mode MODE         plan, ask or auto: what is asked about (ask)
  --yolo              asks nothing at all, for this run
  --profile NAME      a profile; --var name=value fills in its variables, and may be repeated
  --max-turns N       as many answers to one message before it stops or asks (50)

Sessions:
  -c, --continue      goes on with the latest session of this folder
  -r, --resume [ID]   goes on with another one, by its id or name; without ID, one can be picked
  --temporary         the session is removed when it was not used for 48 hours
  --no-session        keeps nothing
  --save              keeps the session of -p, too

One answer:
  -p, --print         answers and ends; nobody is asked: what would be is refused, and told on standard error
  -f, --file FILE     the prompts of a file, one a line, in one session; may be repeated
  --output FORMAT     text, json (one object at the end) or stream-json (one line an event)
  --schema FILE       the answer is JSON that fits this JSON Schema

Tools:
  --root DIR          a folder that tools may use; may be repeated (the current one)
  --allow RULE        an act ('npm test*'), a tool, server:tool or server:tool(pattern); may be repeated
  --ask RULE          the same: asks in any mode
  --deny RULE         the same: refuses in any mode
  --mcp FILE          more servers, in a file like mcp.json; may be repeated
  --no-toolcrib       without toolcrib's own server
  --rule, --read-only, --toolsets, --no-checkpoints    for toolcrib's own server, as in toolcrib --help

To look into it:
  --record FILE       keeps what the model answers
  --replay FILE       answers with what was kept; no model is asked
  --trace FILE        keeps all MCP messages

Exit codes: 0 answered, 1 a failure, 2 a wrong command line, 3 the limit of --max-turns, 4 answered, but a call was
refused because nobody could be asked, 130 interrupted.
`;
