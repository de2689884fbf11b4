import { version } from '../server/version.ts';
import { chatHelp } from './chat-help.ts';
import { serveHelp } from './serve-help.ts';

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
`;

const asServe =
  '  --root, --read-only, --toolsets, --rule, --questions, --expose, --no-checkpoints    as for serve';

/** What `toolcrib COMMAND --help` prints. */
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
  toolcrib config cursor --write                puts it into the host's file, and keeps what was there
  toolcrib config zed --root ~/shop --write     for a host that tells no folder
  toolcrib config codex --remove --write        takes it out again

  --write             writes; without it nothing is changed
  --remove            takes the entry out
  --scope SCOPE       user (usual), or project: the file of this folder
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
  completion: `toolcrib completion SHELL - what completes commands, options, hosts and names of tools in a shell

  source <(toolcrib completion bash)             in ~/.bashrc
  source <(toolcrib completion zsh)              in ~/.zshrc, after compinit
  toolcrib completion fish | source              in ~/.config/fish/config.fish
  toolcrib completion powershell | Out-String | Invoke-Expression      in $PROFILE
`,
};
