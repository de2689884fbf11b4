import { closeSync, openSync, writeSync } from 'node:fs';
import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import type { Mask } from '../machine/secrets/mask.ts';
import { log } from './log.ts';

export type Trace = ReturnType<typeof createTrace>;

/** By these a host agrees in the place of a person. */
const hidden: ReadonlySet<string> = new Set(['toolcrib/key', 'toolcrib/ticket']);

/**
 * Writes every message to a file, made so that nobody else can read it, one a line, with secrets masked: when, whose,
 * in or out. Throws what the system says of the file; what cannot be written later is said once, and no more is.
 */
export function createTrace(file: string, mask: Mask) {
  let opened: number | undefined = openSync(file, 'a', 0o600);
  const veiled = (name: string, value: unknown) => {
    if (hidden.has(name)) return '[left out]';
    return typeof value === 'string' ? mask(value) : value;
  };
  const write = (client: string, way: 'in' | 'out', message: JSONRPCMessage) => {
    if (opened === undefined) return;
    try {
      const line = { at: new Date().toISOString(), client, way, message };
      writeSync(opened, `${JSON.stringify(line, veiled)}\n`);
    } catch (error) {
      log(`the trace ends: ${String(error)}`);
      closeSync(opened);
      opened = undefined;
    }
  };
  /** Watches a server, whose client is named, from when it is connected. */
  return (server: Server, client: string): void => {
    const connect = server.connect.bind(server);
    server.connect = (transport) => {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        write(client, 'out', message);
        return send(message, options);
      };
      let deliver = transport.onmessage;
      // A transport may deliver what has waited as soon as it is started, so that its listener is watched from before.
      Object.defineProperty(transport, 'onmessage', {
        set(listener: typeof deliver) {
          deliver = listener;
        },
        get: (): typeof deliver =>
          deliver &&
          ((message, extra) => {
            write(client, 'in', message);
            deliver?.(message, extra);
          }),
      });
      return connect(transport);
    };
  };
}
