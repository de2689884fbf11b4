import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

interface ClientSays {
  /** Since 2026-07-28 there are no requests to the client: it is asked in a result, and calls again. */
  readonly isModern: boolean;
  readonly capabilities: ClientCapabilities | undefined;
  readonly info: Implementation | undefined;
}

/** What a client says of itself: with every request since 2026-07-28, and once when it connects before. */
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
