import type { AssistantMessage, Usage } from '../message.ts';
import { shownName, type Tool, type ToolReply } from '../toolbox/tool.ts';
import type { TurnEnd, TurnEvent } from '../turn/turn-event.ts';
import { createMarkdownStream } from './markdown.ts';
import { createPaint } from './paint.ts';
import { printable } from './printable.ts';
import {
  aboveDiff,
  callLine,
  diffLines,
  looksLikeDiff,
  resultLine,
  tellingArgument,
  thoughtsLine,
  usageLine,
} from './show.ts';
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
  /** The tool that the model calls so. */
  tool(name: string): Tool | undefined;
}

/** A stream that says nothing for so long has stalled. */
const stallMs = 3000;

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
  /** The calls that run by their ids, and whether another began meanwhile. */
  const running = new Map<string, Extract<TurnEvent, { type: 'call_started' }>>();
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
      const after = streaming === 'thoughts' && kind === 'text' && showsThoughts();
      finish();
      // Without colours nothing else would tell thoughts from what is said.
      if (after && paint.dim('-') === '-') terminal.write('\n');
      streaming = kind;
      if (kind === 'thoughts') [thoughts, thinkingSince] = ['', performance.now()];
    }
    if (kind === 'text') markdown.push(text);
    else thoughts += text;
    if (kind === 'thoughts' && showsThoughts()) thinking.push(text);
    terminal.working('waiting for the model', stallMs);
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

  const nameOf = (name: string) => {
    const tool = settings.tool(name);
    return printable(tool ? shownName(tool) : name);
  };
  function called({ call, reply, ms }: Extract<TurnEvent, { type: 'call_ended' }>): void {
    const look = { paint, width: terminal.width };
    const started = running.get(call.id);
    running.delete(call.id);
    const tool = started?.tool ?? settings.tool(call.name);
    last = { title: nameOf(call.name), reply };
    // One that was not made has not been shown yet, nor one that was to show itself and did not.
    if (!started || (tool?.quiet && reply.shown === undefined)) terminal.note(callLine(call, tool, look));
    if (reply.shown !== undefined) {
      if (reply.shown !== '') terminal.note(paint.dim(`  └ ${printable(reply.shown)}`));
      return;
    }
    terminal.note(
      resultLine(reply, {
        ...look,
        ms,
        ...(several ? { name: `${nameOf(call.name)} ${tellingArgument(call.arguments)}`.trim() } : {}),
      }),
    );
    if (reply.isError || started?.seen || !terminal.screen || !looksLikeDiff(reply.text)) return;
    const diff = reply.text.trim().slice(aboveDiff(reply.text.trim())?.length ?? 0);
    terminal.print(
      diffLines(printable(diff.replace(/^\n/, '')), paint)
        .slice(0, 40)
        .join('\n'),
    );
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
          return terminal.working(`writing a call of ${nameOf(event.name)}`);
        case 'retry': {
          finish();
          const discarded = event.discard ? ' What came so far does not count.' : '';
          return terminal.note(
            paint.warning(
              `↻ again in ${Math.ceil(event.inMs / 1000)} s: ${printable(event.reason).replace(/[^.?!]$/, '$&.')}${discarded}`,
            ),
          );
        }
        case 'answer':
          return answered(event.message);
        case 'call_started':
          finish();
          several = running.size > 0;
          running.set(event.call.id, event);
          if (!event.tool?.quiet)
            terminal.note(
              // The question has shown what it does.
              callLine(event.seen ? { ...event.call, arguments: '' } : event.call, event.tool, {
                paint,
                width: terminal.width,
              }),
            );
          return terminal.working(nameOf(event.call.name));
        case 'call_progress':
          return terminal.working(`${nameOf(event.call.name)}: ${printable(event.message)}`);
        case 'call_ended':
          finish();
          called(event);
          return terminal.working('waiting for the model');
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
  empty: 'The model gave no answer.',
};
