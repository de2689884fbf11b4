import { objectOf } from '../text/json.ts';
import { oneLine } from '../text/one-line.ts';

/** Why a server could not be started or did not answer, in one line. */
export function failureText(error: unknown, lastWords: string): string {
  const { code, status, message } = factsOf(error);
  const said = lastWords === '' ? '' : ` (it said: ${oneLine(lastWords)})`;
  if (typeof code === 'number') return `error ${code}: ${oneLine(message)}`;
  // The message names the program: "spawn name ENOENT".
  if (code === 'ENOENT') return `its program, or the folder it runs in, was not found (${oneLine(message)})`;
  if (code === 'CONNECTION_CLOSED') return `it ended${said}`;
  if (code === 'REQUEST_TIMEOUT') return `it did not answer in time${said}`;
  if (status === 401 || status === 403)
    return `it refused the key (HTTP ${status}); "headers" in mcp.json may hold one`;
  return `${typeof status === 'number' ? `HTTP ${status}: ` : ''}${oneLine(message)}${said}`;
}

/** Whether the other side answered, if only with an error: then the connection is good. */
export const isAnswer = (error: unknown): boolean => typeof factsOf(error).code === 'number';

/** `code`: a number in an answer of JSON-RPC, a word from the SDK or from the system. */
function factsOf(error: unknown): { code: unknown; status: unknown; message: string } {
  const { code, status, cause } = objectOf(error);
  const message = error instanceof Error ? error.message : String(error);
  // `fetch` hides what went wrong there.
  if (status !== undefined || !(cause instanceof Error)) return { code, status, message };
  const inner = factsOf(cause);
  return { ...inner, code: code ?? inner.code, message: inner.message || `${message} ${String(inner.code)}` };
}
