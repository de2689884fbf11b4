import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

// Revisions are dates, and sort as text.
const revisionOf = (server: Server): string => server.getNegotiatedProtocolVersion() ?? '';

/**
 * Whether a client can put a form to its user. It declares that with every request since 2026-07-28, and once when it
 * connects before; `elicitation: {}` is from the time when there were only forms.
 */
export function canElicit(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared =
    revisionOf(server) >= '2026-07-28'
      ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)
      : server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return elicitation.form !== undefined || Object.keys(elicitation).length === 0;
}

/** Whether a client knows choices with titles as `oneOf`; older ones take them for a text to be typed. */
export const knowsTitles = (server: Server): boolean => revisionOf(server) >= '2025-11-25';
