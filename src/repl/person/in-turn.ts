/** Does one thing after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** One queue for all who talk to the person: what runs side by side must not ask at once. */
export function oneAtATime(): InTurn {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = before.then(work);
    before = done.catch(() => undefined);
    return done;
  };
}
