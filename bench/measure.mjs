// What the benchmarks share: medians, peak memory, and raw JSON-RPC over a pipe.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

// Node reads what it names at each start, and servers hand it on to programs: that would be measured, and nothing else.
delete process.env.NODE_EXTRA_CA_CERTS;

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
/** Of the rounds that other programs disturbed least: what has to wait for its turn twice suffers more than twice. */
export const quartile = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)];
export const ms = (value) => `${value.toFixed(1)} ms`;
export const ratio = (value, base) => `${(value / base).toFixed(2)}x`;

/** Peak resident memory of a running process in MB, as Linux keeps it; undefined elsewhere. */
export function peakMemory(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** A server spoken to in bare JSON-RPC lines, so that no client's own time is measured. */
export function startServer(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], ...options });
  const waiting = new Map();
  let rest = '';
  let id = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      send({ id, method, params });
    });
  return {
    child,
    ask,
    async initialize() {
      const answer = await ask('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1' },
      });
      send({ method: 'notifications/initialized' });
      return answer;
    },
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await gone;
    },
  };
}
