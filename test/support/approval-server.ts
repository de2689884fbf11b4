// A server that asks for permission as the program does, about what a file says. Arguments: the file with the World, and
// a file that gets a line for each thing that was done.
import { appendFileSync, readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ToolcribError } from '../../src/core/errors.ts';
import type { Policy } from '../../src/core/policy.ts';
import type { PermitRequest } from '../../src/core/tool.ts';
import type { TrustState } from '../../src/machine/trust/trust.ts';
import { createApprovals, isAskFirst } from '../../src/server/approval/approvals.ts';
import { createPermission, type TrustedProjects } from '../../src/server/approval/permission.ts';

/** What the server finds when a call is made; it is read anew each time. */
export interface World {
  readonly policy: Partial<Policy>;
  /** What the call asks permission for, one after the other. */
  readonly requests: readonly PermitRequest[];
  readonly state?: TrustState;
  /** Whether the folder of the calls is one that trust covers; yes when left out. */
  readonly covered?: boolean;
  readonly lifetimeSeconds?: number;
  readonly client?: string;
}

const [worldFile = '', doneFile = ''] = process.argv.slice(2);
const world = (): World => JSON.parse(readFileSync(worldFile, 'utf8')) as World;
const done = (what: string) => appendFileSync(doneFile, `${what}\n`);

const { lifetimeSeconds } = world();
const approvals = createApprovals(lifetimeSeconds === undefined ? {} : { lifetimeSeconds });
const granted = new Set<string>();
let trusted: string | undefined;
const idOf = (...parts: unknown[]) => JSON.stringify(parts);

const nobodys: TrustState = { trusted: false, digest: 'none', files: [], changes: [], leftOut: [] };
const state = (): TrustState => {
  const { state: found = nobodys } = world();
  return { ...found, trusted: found.trusted || found.digest === trusted };
};
const covered = () => world().covered !== false;

const projects: TrustedProjects = {
  stateOf: () => Promise.resolve(state()),
  isTrusted: () => Promise.resolve(state().trusted && covered()),
  covers: () => Promise.resolve(covered()),
  trust: (_project, digest) => Promise.resolve(void (trusted = digest)),
  grants: {
    has: (...grant) => granted.has(idOf(...grant)),
    add: ({ project, tool, key, digest }) => void granted.add(idOf(project, tool, key, digest)),
  },
};

function build(): Server {
  const server = new Server(
    { name: 'approval', version: '1' },
    { capabilities: { tools: {} }, requestState: { verify: approvals.verify } },
  );
  server.setRequestHandler('tools/list', () => ({ tools: [] }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { policy, requests, client = 'one' } = world();
    const call = { client, tool: params.name, args: params.arguments ?? {} };
    const { permit } = createPermission({
      tool: params.name,
      roots: ['/work/project'],
      policyFor: () =>
        Promise.resolve({ readOnly: false, effects: {}, rules: [], whenUnasked: {}, ...policy }),
      trust: () => Promise.resolve(projects),
      ask: approvals.asker(server, context, call),
      decided: {},
    });
    try {
      for (const request of requests) await permit(request);
    } catch (error) {
      if (isAskFirst(error)) return error.result;
      if (!(error instanceof ToolcribError)) throw error;
      return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
    }
    done(JSON.stringify(call.args));
    return { content: [{ type: 'text', text: 'done' }] };
  });
  return server;
}

serveStdio(build);
