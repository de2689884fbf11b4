/**
 * The person's side: the one seam besides the model. Tests of the whole use a pseudo-terminal instead of replacing
 * it.
 */
export interface Terminal {
  /** Standard input and output are both terminals: questions can be asked. */
  readonly interactive: boolean;
  /** What is written is seen on a screen; else it is a pipe or a file. */
  readonly screen: boolean;
  /** Columns, and rows. */
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
  /** Prints whole lines; above the prompt when one is shown, with what is being typed left as it is. */
  print(text: string): void;
  /** Prints what is neither an answer nor asked for: where there is no screen, on the standard error. */
  note(text: string): void;
  /** Prints streamed text as it is, without a line end; never while a prompt is shown. */
  write(text: string): void;
  /**
   * Shows the prompt and waits for a line (of several lines, when they were entered so). Undefined at the end of
   * input. What was pasted is `inert`.
   */
  readLine(prompt: string): Promise<string | undefined>;
  /**
   * Asks one question; `signal` takes it back. What was typed before it was shown is no answer. Undefined when it
   * was interrupted.
   */
  ask(question: string, how?: { readonly signal?: AbortSignal }): Promise<string | undefined>;
  /**
   * Shows that something is under way, until `write`, `print` or `idle`; what is typed meanwhile is kept for the
   * next prompt. Nothing is shown for `patienceMs`.
   */
  working(what: string, patienceMs?: number): void;
  idle(): void;
  /** Lines that were entered while nobody was waiting for one. */
  readonly queued: readonly string[];
  /** Takes the queued lines away and gives them back. */
  takeQueued(): string[];
  /** Puts text into the line that is edited next. */
  prefill(text: string): void;
  /** Ends raw mode and bracketed paste; what is printed afterwards is plain. */
  close(): void;
}

/** Colour by meaning. Every function leaves its text alone where there are no colours. */
export interface Paint {
  heading(text: string): string;
  strong(text: string): string;
  emphasis(text: string): string;
  struck(text: string): string;
  code(text: string): string;
  link(text: string): string;
  quote(text: string): string;
  dim(text: string): string;
  tool(text: string): string;
  good(text: string): string;
  warning(text: string): string;
  bad(text: string): string;
  added(text: string): string;
  removed(text: string): string;
  prompt(text: string): string;
}

export type Palette = 'dark' | 'light' | 'plain';
