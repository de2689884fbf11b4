import { version } from '../machine/version.ts';

export const help = `toolcrib ${version} - the development tools of this machine, for a model

  toolcrib serve               the MCP server that a host starts, over standard input and output or HTTP
  toolcrib config HOST         the entry for a host (claude-code, cursor, codex, …); --write puts it there
  toolcrib try                 what a model can do here, shown once
  toolcrib chat [PROMPT]       a model in the terminal, with these tools
  toolcrib call TOOL [k=v…]    one call; without TOOL: the tools there are
  toolcrib list                the programs that were found
  toolcrib exposure            which tools a host is shown in this folder, and why
  toolcrib doctor [PROGRAM]    how programs are looked for, and what is wrong
  toolcrib trust [FOLDER]      whether a model may run a folder's own code unasked
  toolcrib audit               the calls that were made
  toolcrib completion SHELL    what completes command lines in bash, zsh, fish or powershell

  toolcrib help COMMAND        its options, with examples
  toolcrib version
  toolcrib --licenses          the licences of toolcrib and of all that comes with it
`;

const serveHelp = `toolcrib ${version} serve [options] - an MCP server, which a host starts or connects to

  toolcrib serve --root ~/shop            over standard input and output
  toolcrib serve --http --root ~/shop     over HTTP, at http://127.0.0.1:7311/mcp, \
for clients that have the token

What a model may use:
  --root DIR          a folder; repeat it for more. Without one: what the client opens, else this folder
  --read-only         only what changes nothing
  --toolsets A,B      only the tools of these programs; "files" and "toolcrib" are our own
  --rule 'WHAT=DO'    allow, ask or deny: 'git_push=ask', 'run(npm test *)=allow', 'read(**/.env)=deny'
  --questions WHO     who asks a person: server (through the client), host (its own question), \
none (nobody is there)
  --expose WHAT       auto: tools that suit the project (usual); no-files: the same, \
for a host with file tools of its
                      own; all; catalogue: those of programs by find_actions only
  --no-checkpoints    keep no states of git work trees before actions that can change them

  --trace FILE        write every message to FILE, a line of JSON each, with secrets masked

Over HTTP (docs/hosts.md):
  --http              listen, and go on until SIGTERM or SIGINT. Folders that clients open do not count: \
use --root
  --port N            7311 is usual; 0 is any that is free, and is told on standard error
  --token-file FILE   tokens of 32 characters or more, one a line; each is a client of its own. \
Nobody else may read it.
                      Without it: one token of this user, made the first time; where it is, \
is told on standard error
  --host ADDRESS      127.0.0.1 is usual. Others can reach any other one, and HTTP hides nothing: \
put TLS in front of it
  --allow-host NAME   a name by which it is called beside localhost, without scheme and port; \
repeat it for more
`;

const chatHelp = `toolcrib chat - a model in the terminal, with the tools of this machine

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

Exit codes: 0 answered, 1 a failure, 2 a wrong command line, 3 the limit of --max-turns, 4 answered, \
but a call was
refused because nobody could be asked, 130 interrupted.
`;

const asServe =
  '  --root, --read-only, --toolsets, --rule, --questions, --expose, --no-checkpoints    as for serve';

/** The text of `toolcrib COMMAND --help`, by command. */
export const pages: Readonly<Record<string, string>> = {
  serve: serveHelp,
  chat: chatHelp,
  call: `toolcrib call [TOOL [key=value…]] - one call, through a real client

  toolcrib call                                 the tools there are
  toolcrib call git_log --help                  the parameters of one
  toolcrib call git_log limit=5 paths=src paths=test
  toolcrib call grep --json '{"pattern": "TODO"}' --output json

  --json ARGS         the arguments as one JSON object
  --output FORMAT     text; json: the whole result as MCP has it
${asServe} (--root: this folder)

The result goes to standard output; errors, questions and progress to standard error.
Exit codes: 0 done, 1 the call failed, 2 a wrong command line, 130 interrupted.
`,
  list: `toolcrib list - the programs that were found

  toolcrib list               with version and path
  toolcrib list --all         the missing ones too, and why
  toolcrib list --json        for programs
`,
  exposure: `toolcrib exposure - which tools a host is shown in this folder, and why

  toolcrib exposure
  toolcrib exposure --root ~/shop --toolsets git,npm

${asServe}
`,
  config: `toolcrib config HOST - the entry for a host: claude-code, claude-desktop, cursor, vscode, codex, …

  toolcrib config claude-code                   prints it
  toolcrib config cursor --write                puts it into the host's file; all else in it stays as it is
  toolcrib config zed --root ~/shop --write     for a host that tells no folder
  toolcrib config codex --remove --write        takes it out again

  --write             writes; without it nothing is changed
  --remove            takes the entry out
  --scope SCOPE       user (usual), or project: the file of this folder, without a path of this machine
  --root DIR          a folder the model may use; repeat it for more
`,
  doctor: `toolcrib doctor [PROGRAM] - how programs are looked for, what hosts start, and what is wrong

  toolcrib doctor             everything; exit code 1 when something is wrong
  toolcrib doctor --json      the same, for programs
  toolcrib doctor python3     which one is used, and why
`,
  try: `toolcrib try - what a model can do here: looks, searches, edits a copy of a file and takes that back

  toolcrib try
  toolcrib try --root ~/shop --read-only

${asServe} (--root: this folder)
`,
  trust: `toolcrib trust [FOLDER] - whether a model may run a folder's own code unasked

  toolcrib trust              asks about this folder
  toolcrib trust ~/shop --yes
  toolcrib trust --list
  toolcrib trust --revoke ~/shop

  --json              for programs; alone it only looks
`,
  audit: `toolcrib audit - the calls that were made

  toolcrib audit -n 50
  toolcrib audit --follow --tool 'git_*'
  toolcrib audit --denied --json

  -f, --follow        goes on until Ctrl-C
  -n, --lines N       the last N (20)
  --tool GLOB         only such tools
  --denied            only what was refused
  --json              for programs
`,
  completion: `toolcrib completion SHELL - what completes commands, options, \
hosts and names of tools in a shell

  source <(toolcrib completion bash)             in ~/.bashrc
  source <(toolcrib completion zsh)              in ~/.zshrc, after compinit
  toolcrib completion fish | source              in ~/.config/fish/config.fish
  toolcrib completion powershell | Out-String | Invoke-Expression      in $PROFILE
`,
};
