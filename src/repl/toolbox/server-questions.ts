import type { ElicitAnswer, ElicitRequest } from '../person/form.ts';
import type { ChatHost } from './link.ts';

/** The questions that a server puts to the person, which it may do while it does something for them. */
export class ServerQuestions {
  readonly #elicit: ChatHost['elicit'];
  #calls = 0;
  #open = 0;
  /** Aborted when the last call has ended, or the person wants no more questions: until the next call. */
  #mayAsk: AbortController | undefined;

  constructor(elicit: ChatHost['elicit']) {
    this.#elicit = elicit;
  }

  /** True while the person is asked: meanwhile, the time of calls does not run. */
  get areOpen(): boolean {
    return this.#open > 0;
  }

  callBegins(): void {
    if (this.#calls === 0) this.#mayAsk = new AbortController();
    this.#calls += 1;
  }

  callEnds(): void {
    this.#calls -= 1;
    if (this.#calls === 0) this.#mayAsk?.abort();
  }

  async ask(request: ElicitRequest): Promise<ElicitAnswer> {
    const during = this.#mayAsk;
    // One that does nothing for the person has nothing to ask: what they type would be meant for somebody
    // else.
    if (!during || during.signal.aborted) return { action: 'decline' };
    this.#open += 1;
    try {
      const signal = AbortSignal.any([request.signal, during.signal]);
      const answer = await this.#elicit({ ...request, signal });
      if (answer.action === 'cancel' && !request.signal.aborted) during.abort();
      return answer;
    } finally {
      this.#open -= 1;
    }
  }
}
