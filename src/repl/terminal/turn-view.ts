import type { AssistantMessage, Usage } from '../message.ts';
import type { ToolReply } from '../toolbox/tool.ts';
import type { TurnEnd, TurnEvent } from '../turn-event.ts';
import { createMarkdownStream } from './markdown.ts';
import { createPrintable, printable } from './printable.ts';
import { callLine, diffLines, looksLikeDiff, resultLine, thoughtsLine, usageLine } from './show.ts';
import type { Terminal } from './terminal.ts';

export interface TurnView {
  show(event: TurnEvent): void;
  /** The last call with its whole result, for `/last`. */
  readonly last: { readonly title: string; readonly reply: ToolReply } | undefined;
  /** What the model thought before its last answer. */
  readonly thoughts: string;
}

interface Settings {
  contextWindow(): number;
  /** Thoughts are streamed as they come, instead of one line about them. */
  thoughts(): boolean;
}

/** Shows a turn: text as it streams, one line a call and one a result; never moves the cursor. */
export function createTurnView(terminal: Terminal, settings: Settings): TurnView {
  const { paint } = terminal;
  const markdownStream = () =>
    createMarkdownStream({ paint, width: () => terminal.width, write: (text) => terminal.write(text) });
  let markdown = markdownStream();
  let clean = createPrintable();
  let streaming: 'text' | 'thoughts' | undefined;
  let thoughts = '';
  let thinkingSince = 0;
  const startedAt = performance.now();
  let total: Usage | undefined;
  let running = 0;
  let last: TurnView['last'];

  function finish(): void {
    if (streaming === 'text') {
      markdown.push(clean.end());
      markdown.end();
      markdown = markdownStream();
    } else if (streaming === 'thoughts') {
      if (settings.thoughts()) terminal.write(`${paint.dim(clean.end())}\n`);
      else terminal.print(thoughtsLine(thoughts, performance.now() - thinkingSince, paint));
    }
    clean = createPrintable();
    streaming = undefined;
  }
  function stream(kind: 'text' | 'thoughts', text: string): void {
    if (streaming !== kind) {
      finish();
      streaming = kind;
      if (kind === 'thoughts') [thoughts, thinkingSince] = ['', performance.now()];
    }
    if (kind === 'text') return markdown.push(clean.push(text));
    thoughts += text;
    if (settings.thoughts()) terminal.write(paint.dim(clean.push(text)));
  }
  /** What a turn took: all that was written, and what the last answer had to read. */
  function answered({ usage }: AssistantMessage): void {
    finish();
    total = { ...usage, output: usage.output + (total?.output ?? 0) };
  }
  function end(reason: TurnEnd): void {
    finish();
    terminal.idle();
    running = 0;
    if (reason !== 'done') terminal.print(paint.warning(ends[reason]));
    const ms = performance.now() - startedAt;
    if (total) terminal.print(usageLine(total, { window: settings.contextWindow(), ms }, paint));
  }

  return {
    get last() {
      return last;
    },
    get thoughts() {
      return thoughts;
    },
    show(event) {
      switch (event.type) {
        case 'text':
          return stream('text', event.text);
        case 'reasoning':
          return stream('thoughts', event.text);
        case 'call_begun':
          finish();
          return terminal.working(`writing a call of ${printable(event.name)}`);
        case 'retry': {
          finish();
          const discarded = event.discard ? ' What came so far does not count.' : '';
          return terminal.print(
            paint.warning(
              `↻ ${printable(event.reason)}: again in ${Math.ceil(event.inMs / 1000)} s.${discarded}`,
            ),
          );
        }
        case 'answer':
          return answered(event.message);
        case 'call_started':
          finish();
          running++;
          terminal.print(callLine(event.call, event.tool, { paint, width: terminal.width }));
          return terminal.working(event.call.name);
        case 'call_progress':
          return terminal.working(`${event.call.name}: ${printable(event.message)}`);
        case 'call_ended': {
          finish();
          running = Math.max(0, running - 1);
          const { call, reply, ms } = event;
          last = { title: call.name, reply };
          terminal.print(resultLine(call, reply, { ms, paint, width: terminal.width, named: running > 0 }));
          if (!reply.isError && looksLikeDiff(reply.text))
            terminal.print(diffLines(printable(reply.text), paint).slice(0, 40).join('\n'));
          return terminal.working('waiting for the model');
        }
        case 'compacted':
          finish();
          return terminal.print(
            paint.dim(`✂ shortened (${event.by}): ${event.tokensBefore} → ${event.tokensAfter} tokens`),
          );
        case 'warning':
          finish();
          return terminal.print(paint.warning(`! ${printable(event.text)}`));
        case 'ended':
          return end(event.reason);
      }
    },
  };
}

const ends: Readonly<Record<Exclude<TurnEnd, 'done'>, string>> = {
  length: 'The answer was cut at the length limit. Say "go on" for the rest.',
  filtered: 'The provider withheld the answer.',
  interrupted: 'Interrupted.',
  rounds: 'Stopped at the limit of answers in one turn.',
  stopped: 'Stopped.',
  failed: 'Failed.',
};
