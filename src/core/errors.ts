/**
 * Failures of a call, by codes that a caller may rely on. A code never changes its meaning;
 * docs/tools.md lists them all.
 */
export const errorCodes = {
  ARG_FLAG: 'A value would be read as an option by the program',
  ARG_INVALID: 'A parameter is missing, unknown, or not what was expected',
  NO_ROOTS: 'No folder has been opened to the model',
  PATH_OUTSIDE_ROOTS: 'The path leads outside the folders opened to the model',
  PATH_NOT_FOUND: 'Nothing exists at the path',
  PATH_NOT_REGULAR: 'The path is neither a regular file nor a folder where one was expected',
  PATH_PROTECTED: 'The path is never opened, or not changed unless a person says so, whatever the roots are',
  PATH_DENIED: 'The system does not let this user do that with the path',
  PATH_EXISTS: 'Something is already at the path',
  NOT_READ: 'A file that was never shown would be overwritten; the same call again does it',
  STALE_FILE: 'The file is no longer as it was when it was read, or when the change was made',
  NOT_FOUND: 'The text, change, job or output that was named is not there',
  AMBIGUOUS_EDIT: 'The text to replace occurs another number of times than stated',
  WRITE_FAILED: 'The system could not write; nothing was changed',
  ENCODING: 'The text cannot be decoded without loss',
  TOO_LARGE: 'More than the call can carry',
  EFFECT_DENIED: 'The settings do not allow what this action does',
  NEEDS_CONFIRM: 'A person has to be asked, and nobody was there; what would help is named',
  NOT_CONFIRMED: 'A person was asked and did not say yes, or the answer was for something else',
  CONFIG_INVALID: 'A settings file of the project or the operator cannot be understood',
  BUSY: 'More calls or jobs are waiting or running than are allowed',
  PROGRAM_NOT_FOUND: 'The program is not installed, or no longer where it was',
  PROGRAM_FAILED: 'The program ran and reported a failure',
  TIMEOUT: 'The program was stopped at its time limit',
  CANCELLED: 'The caller gave up',
  UNREACHABLE: 'An address did not answer, or not as HTTP wants it',
  UNKNOWN_TOOL: 'There is no tool of that name',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** A failure the caller can do something about: a stable code, what was wrong, and the way out. */
export class ToolcribError extends Error {
  override readonly name = 'ToolcribError';
  readonly code: ErrorCode;

  /** `message` says what was wrong and names the thing; `wayOut` says what to do instead. */
  constructor(code: ErrorCode, message: string, wayOut = '') {
    super(wayOut ? `${message} ${wayOut}` : message);
    this.code = code;
  }
}
