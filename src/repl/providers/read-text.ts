import type { AssistantMessage } from '../message.ts';
import type { ModelEvent, ToolDefinition } from './provider.ts';
import { createThinkSplitter, type Thought } from './think-tags.ts';
import { createXmlCallReader } from './xml-calls.ts';

interface TextReading {
  /** Thoughts may stand between tags in the text. */
  readonly thinkTags: boolean;
  /** The tools that calls in the text are read for. */
  readonly xmlTools: readonly ToolDefinition[] | undefined;
}

/** The events of an answer, with what models write into their text taken out of it: thoughts, and calls as XML. */
export async function* readText(
  events: AsyncIterable<ModelEvent>,
  { thinkTags, xmlTools }: TextReading,
): AsyncGenerator<ModelEvent> {
  const splitter = thinkTags ? createThinkSplitter() : undefined;
  const reader = xmlTools ? createXmlCallReader(xmlTools) : undefined;
  let text = '';
  let reasoning = '';

  function* pass(thoughts: readonly Thought[]): Generator<ModelEvent> {
    for (const thought of thoughts) {
      const shown = thought.type === 'text' && reader ? reader.push(thought.text) : thought.text;
      if (thought.type === 'text') text += shown;
      else reasoning += shown;
      if (shown !== '') yield { type: thought.type, text: shown };
    }
  }

  for await (const event of events) {
    if (event.type === 'text' || event.type === 'reasoning') {
      const split = event.type === 'text' && splitter;
      yield* pass(split ? splitter.push(event.text) : [event]);
    } else if (event.type === 'end') {
      yield* pass(splitter?.end() ?? []);
      const last = reader?.end();
      if (last && last.text !== '') {
        text += last.text;
        yield { type: 'text', text: last.text };
      }
      yield { type: 'end', message: withCalls({ ...event.message, text, reasoning }, last?.calls ?? []) };
    } else {
      yield event;
    }
  }
}

/** Calls that the wire knows of count, if there are any; else those of the text. */
function withCalls(message: AssistantMessage, calls: AssistantMessage['calls']): AssistantMessage {
  if (message.calls.length > 0 || calls.length === 0) return message;
  // What the wire keeps still holds them as text.
  const { native: _, ...rest } = message;
  return { ...rest, calls, stop: message.stop === 'done' ? 'calls' : message.stop };
}
