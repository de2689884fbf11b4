import { nearest } from '../core/nearest.ts';

/** Every failure that a person can do something about: its message names the thing and the way out. */
export type ChatErrorCode =
  | 'USAGE' // a wrong command line or slash command
  | 'CONFIG_INVALID' // a file of ours that cannot be understood
  | 'NO_MODEL' // nothing says which model to use
  | 'NO_KEY'
  | 'MODEL_OVERFLOW' // the conversation does not fit the model's context window
  | 'MODEL_KEY_REFUSED'
  | 'MODEL_QUOTA'
  | 'MODEL_BUSY' // 429, 5xx, overloaded: worth another try
  | 'MODEL_UNREACHABLE' // no connection, or one that was cut
  | 'MODEL_REFUSED' // any other answer that is no answer
  | 'SERVER_FAILED' // an MCP server that cannot be started or reached
  | 'PROGRAM_FAILED' // a hook, a key command, an editor
  | 'SESSION_UNUSABLE'
  | 'ATTACHMENT_REFUSED'
  | 'INTERRUPTED';

interface FailureDetails extends ErrorOptions {
  /** The HTTP status of a request that a model's server did not answer. */
  readonly status?: number | undefined;
  /** Worth another try, without any change. */
  readonly retryable?: boolean;
  /** The time that the server asked us to wait. */
  readonly retryAfterMs?: number | undefined;
}

export class ChatError extends Error {
  readonly code: ChatErrorCode;
  readonly details: FailureDetails;

  constructor(code: ChatErrorCode, message: string, details: FailureDetails = {}) {
    super(message, details);
    this.name = 'ChatError';
    this.code = code;
    this.details = details;
  }
}

/** ` Did you mean "…"?`, or nothing. */
export const hint = (word: string, words: readonly string[]): string => {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
};
