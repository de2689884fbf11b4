import type { Usage } from '../message.ts';
import type { Model } from '../models/model.ts';

/** What this process has had of models, whoever asked: the conversation, sub-agents, summaries. */
export interface Spent {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Of the models whose price is known; missing when none was. */
  cost?: number;
}

/** Adds what one answer of a model took. */
export function spend(spent: Spent, { capabilities: { price } }: Model, usage: Usage): void {
  for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) spent[kind] += usage[kind];
  const { input, output, cacheRead, cacheWrite } = usage;
  if (!price) return;
  const read = (input + cacheWrite) * price.input + cacheRead * (price.cacheRead ?? price.input);
  spent.cost = (spent.cost ?? 0) + (read + output * price.output) / 1e6;
}
