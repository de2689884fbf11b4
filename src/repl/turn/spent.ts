import type { Model } from '../models/model.ts';
import type { Provider } from '../providers/provider.ts';

/** What this process has had of models, whoever asked: the conversation, sub-agents, summaries. */
export interface Spent {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Of the models whose price is known; undefined when none was. */
  cost: number | undefined;
}

export const nothingSpent = (): Spent => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cost: undefined,
});

/** The same provider, whose answers are counted. */
export function counted(provider: Provider, { capabilities: { price } }: Model, spent: Spent): Provider {
  return {
    ...provider,
    async *stream(request, signal) {
      for await (const event of provider.stream(request, signal)) {
        if (event.type === 'end') {
          const { input, output, cacheRead, cacheWrite } = event.message.usage;
          spent.input += input;
          spent.output += output;
          spent.cacheRead += cacheRead;
          spent.cacheWrite += cacheWrite;
          if (price) {
            const read = (input + cacheWrite) * price.input + cacheRead * (price.cacheRead ?? price.input);
            spent.cost = (spent.cost ?? 0) + (read + output * price.output) / 1e6;
          }
        }
        yield event;
      }
    },
  };
}
