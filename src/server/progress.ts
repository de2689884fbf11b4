import type { ServerContext } from '@modelcontextprotocol/server';

/** At most ten notifications a second: a talkative program must not cost more than its output is worth. */
const intervalMs = 100;

/** Tells the client what a call is doing, if it asked to be told. Nothing is sent after `end`. */
export function progressOf({ mcpReq }: ServerContext): { report(message: string): void; end(): void } {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { report: () => {}, end: () => {} };
  let steps = 0;
  let lastSent = -Infinity;
  let waiting: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const send = (message: string) => {
    lastSent = performance.now();
    waiting = undefined;
    // A client that has gone away is no reason for the call to fail.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress: ++steps, message } })
      .catch(() => {});
  };
  return {
    report(message) {
      // A call that became a job has been answered, and goes on to say what it does.
      if (isEnded) return;
      const wait = lastSent + intervalMs - performance.now();
      if (wait <= 0) return send(message);
      waiting = message;
      timer ??= setTimeout(() => {
        timer = undefined;
        if (waiting !== undefined) send(waiting);
      }, wait);
    },
    end() {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}
