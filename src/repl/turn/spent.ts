import type { Model } from '../models/model.ts';
import type { Provider } from '../providers/provider.ts';

/** What this process has had of models, whoever asked: the conversation, sub-agents, summaries. */
export interface Spent {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Of the models whose price is known; missing when none was. */
  cost?: number;
}

/** The same provider, whose answers are counted. */
export function counted(provider: Provider, { capabilities: { price } }: Model, spent: Spent): Provider {
  return {
    ...provider,
    async *stream(request, signal) {
      for await (const event of provider.stream(request, signal)) {
        if (event.type === 'end') {
          const { usage } = event.message;
          for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const)
            spent[kind] += usage[kind];
          const { input, output, cacheRead, cacheWrite } = usage;
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
