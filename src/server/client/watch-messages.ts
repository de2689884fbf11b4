import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';

type Send = NonNullable<Parameters<Server['connect']>[0]>['send'];

/** Hears of each message of a server, in the moment that it goes out or comes in. */
export interface MessageWatcher {
  sent?(message: JSONRPCMessage, options?: Parameters<Send>[1]): void;
  received?(message: JSONRPCMessage): void;
}

/** Watches a server from when it is connected. */
export function watchMessages(server: Server, watcher: MessageWatcher): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      watcher.sent?.(message, options);
      return send(message, options);
    };
    let deliver = transport.onmessage;
    // A transport may deliver what has waited as soon as it is started, so that its listener is watched from
    // before.
    Object.defineProperty(transport, 'onmessage', {
      set(listener: typeof deliver) {
        deliver = listener;
      },
      get: (): typeof deliver =>
        deliver &&
        ((message, extra) => {
          watcher.received?.(message);
          deliver?.(message, extra);
        }),
    });
    return connect(transport);
  };
}
