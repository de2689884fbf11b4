import { version } from '../server/version.ts';

export const serveHelp = `toolcrib ${version} serve [options] - an MCP server, which a host starts or connects to

  toolcrib serve --root ~/shop            over standard input and output
  toolcrib serve --http --root ~/shop     over HTTP, at http://127.0.0.1:7311/mcp, for clients that have the token

What a model may use:
  --root DIR          a folder; repeat it for more. Without one: what the client opens, else this folder
  --read-only         only what changes nothing
  --toolsets A,B      only the tools of these programs; "files" and "toolcrib" are our own
  --rule 'WHAT=DO'    allow, ask or deny: 'git_push=ask', 'run(npm test *)=allow', 'read(**/.env)=deny'
  --questions WHO     who asks a person: server (through the client), host (its own question), none (nobody is there)
  --expose WHAT       auto: tools that suit the project (usual); no-files: the same, for a host with file tools of its
                      own; all; catalogue: those of programs by find_actions only
  --no-checkpoints    keep no states of git work trees before actions that can change them

  --trace FILE        write every message to FILE, a line of JSON each, with secrets masked

Over HTTP (docs/hosts.md):
  --http              listen, and go on until SIGTERM or SIGINT. Folders that clients open do not count: use --root
  --port N            7311 is usual; 0 is any that is free, and is told on standard error
  --token-file FILE   tokens of 32 characters or more, one a line; each is a client of its own. Nobody else may read it.
                      Without it: one token of this user, made the first time; where it is, is told on standard error
  --host ADDRESS      127.0.0.1 is usual. Others can reach any other one, and HTTP hides nothing: put TLS in front of it
  --allow-host NAME   a name by which it is called beside localhost, as Host and Origin say it; repeat it for more
`;
