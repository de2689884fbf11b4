import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type Implementation,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** The roots of a client as file: addresses; undefined when it does not say. */
type RootAddresses = readonly string[] | undefined;

type RootsAnswer =
  | { readonly kind: 'known'; readonly folders: RootAddresses }
  /** To be returned in the place of a result: a modern client answers by calling again. */
  | { readonly kind: 'ask'; readonly question: InputRequiredResult };

/** The folders that a client has opened. */
export interface ClientRoots {
  of(server: Server, context: ServerContext): Promise<RootsAnswer>;
  /** They have changed: they are asked for again with the next call. */
  forget(): void;
}

/** A client that does not answer must not keep its own calls waiting. */
const patienceMs = 2000;
/** Modern clients do not say when their roots change. */
const goodForMs = 60_000;

/**
 * A client without an open folder answers with none: that says nothing, where it would otherwise close
 * everything.
 */
const said = (roots: readonly { readonly uri: string }[]): RootAddresses =>
  roots.length > 0 ? roots.map(({ uri }) => uri) : undefined;

/** Asks a client for its roots, once for many calls. One that fails to answer has not narrowed anything. */
export function createClientRoots(): ClientRoots {
  let asked: Promise<RootAddresses> | undefined;
  let known: { folders: RootAddresses; until: number } | undefined;

  const askLegacy = (server: Server): Promise<RootAddresses> =>
    server.listRoots(undefined, { timeout: patienceMs }).then(
      ({ roots }) => said(roots),
      () => undefined,
    );

  function askModern(context: ServerContext): RootsAnswer {
    const answer = inputResponse(context.mcpReq.inputResponses, 'roots');
    // A call that comes back with the answer to another question goes on with what it began with: answers
    // hold for one round.
    const goesOn = answer.kind === 'missing' && context.mcpReq.inputResponses !== undefined;
    if (known && (goesOn || performance.now() < known.until))
      return { kind: 'known', folders: known.folders };
    if (answer.kind === 'missing') {
      return {
        kind: 'ask',
        question: inputRequired({ inputRequests: { roots: inputRequired.listRoots() } }),
      };
    }
    const folders = answer.kind === 'roots' ? said(answer.roots) : undefined;
    known = { folders, until: performance.now() + goodForMs };
    return { kind: 'known', folders };
  }

  return {
    async of(server: Server, context: ServerContext): Promise<RootsAnswer> {
      const { isModern, capabilities } = clientSays(server, context);
      if (capabilities?.roots === undefined) return { kind: 'known', folders: undefined };
      if (isModern) return askModern(context);
      asked ??= askLegacy(server);
      return { kind: 'known', folders: await asked };
    },
    forget() {
      asked = undefined;
      known = undefined;
    },
  };
}

interface ClientSays {
  /** Since 2026-07-28 there are no requests to the client: it is asked in a result, and calls again. */
  readonly isModern: boolean;
  readonly capabilities: ClientCapabilities | undefined;
  readonly info: Implementation | undefined;
}

/**
 * Facts that a client tells of itself: with every request since 2026-07-28, and once when it connects before.
 */
export function clientSays(server: Server, { mcpReq }: ServerContext): ClientSays {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  // Revisions are dates, and sort as text.
  const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28';
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return {
    isModern,
    capabilities: isModern ? declared : server.getClientCapabilities(),
    info: (envelope?.[CLIENT_INFO_META_KEY] as Implementation | undefined) ?? server.getClientVersion(),
  };
}
