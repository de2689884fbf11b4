import { closeSync, openSync, writeSync } from 'node:fs';
import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import type { Mask } from '../../machine/secrets/mask.ts';
import { log } from '../log.ts';
import { watchMessages } from './watch-messages.ts';

/** Watches a server, whose client is named, from when it is connected. */
export type Trace = (server: Server, client: string) => void;

/** Fields by which a host agrees in the place of a person. */
const hidden: ReadonlySet<string> = new Set(['toolcrib/key', 'toolcrib/ticket']);

/**
 * Writes every message to a file, made so that nobody else can read it, one a line, with secrets masked:
 * when, whose, in or out. Throws what the system says of the file; what cannot be written later is said once,
 * and no more is.
 */
export function createTrace(file: string, mask: Mask): Trace {
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
  return (server, client) =>
    watchMessages(server, {
      sent: (message) => write(client, 'out', message),
      received: (message) => write(client, 'in', message),
    });
}
