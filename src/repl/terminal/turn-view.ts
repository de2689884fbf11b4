import type { AssistantMessage, Usage } from '../message.ts';
import type { ToolReply } from '../toolbox/tool.ts';
import type { TurnEnd, TurnEvent } from '../turn-event.ts';
import { createMarkdownStream } from './markdown.ts';
import { createPaint } from './paint.ts';
import { printable } from './printable.ts';
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
  const markdown = createMarkdownStream(terminal);
  const thinking = createMarkdownStream({
    screen: terminal.screen,
    get width() {
      return terminal.width;
    },
    paint: createPaint({ palette: 'plain', env: {}, stream: {} }),
    write: (text) => terminal.write(paint.dim(text)),
  });
  const showsThoughts = () => settings.thoughts() && terminal.screen;
  let streaming: 'text' | 'thoughts' | undefined;
  let thoughts = '';
  let thinkingSince = 0;
  const startedAt = performance.now();
  let total: Usage | undefined;
  /** Ids of the calls that run, and whether another began meanwhile. */
  const running = new Set<string>();
  let several = false;
  let last: TurnView['last'];

  function finish(): void {
    const ms = performance.now() - thinkingSince;
    if (streaming === 'text') markdown.end();
    else if (streaming && showsThoughts()) thinking.end();
    else if (streaming) terminal.note(thoughtsLine(thoughts, ms, { paint, width: terminal.width }));
    streaming = undefined;
  }
  function stream(kind: 'text' | 'thoughts', text: string): void {
    if (streaming !== kind) {
      finish();
      streaming = kind;
      if (kind === 'thoughts') [thoughts, thinkingSince] = ['', performance.now()];
    }
    if (kind === 'text') return markdown.push(text);
    thoughts += text;
    if (showsThoughts()) thinking.push(text);
  }
  /** What a turn took: all that was written, and what the last answer had to read. */
  function answered({ usage }: AssistantMessage): void {
    finish();
    total = { ...usage, output: usage.output + (total?.output ?? 0) };
  }
  function end(reason: TurnEnd): void {
    finish();
    terminal.idle();
    running.clear();
    if (reason !== 'done') terminal.note(paint.warning(ends[reason]));
    const ms = performance.now() - startedAt;
    if (total) terminal.note(usageLine(total, { window: settings.contextWindow(), ms }, paint));
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
          return terminal.note(
            paint.warning(
              `↻ ${printable(event.reason).replace(/\.$/, '')}: again in ${Math.ceil(event.inMs / 1000)} s.${discarded}`,
            ),
          );
        }
        case 'answer':
          return answered(event.message);
        case 'call_started':
          finish();
          several = running.size > 0;
          running.add(event.call.id);
          terminal.note(callLine(event.call, event.tool, { paint, width: terminal.width }));
          return terminal.working(event.call.name);
        case 'call_progress':
          return terminal.working(`${event.call.name}: ${printable(event.message)}`);
        case 'call_ended': {
          finish();
          const { call, reply, ms } = event;
          // One that was not made has not been shown yet.
          if (!running.delete(call.id))
            terminal.note(callLine(call, undefined, { paint, width: terminal.width }));
          last = { title: call.name, reply };
          terminal.note(resultLine(call, reply, { ms, paint, width: terminal.width, named: several }));
          if (!reply.isError && terminal.screen && looksLikeDiff(reply.text))
            terminal.print(diffLines(printable(reply.text), paint).slice(0, 40).join('\n'));
          return terminal.working('waiting for the model');
        }
        case 'compacted':
          finish();
          return terminal.note(
            paint.dim(`✂ shortened (${event.by}): ${event.tokensBefore} → ${event.tokensAfter} tokens`),
          );
        case 'warning':
          finish();
          return terminal.note(paint.warning(`! ${printable(event.text)}`));
        case 'note':
          finish();
          return terminal.note(paint.dim(printable(event.text)));
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
