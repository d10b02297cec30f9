/**
 * Runs work of one provider one after the other, in the order of the calls; a failure does not stop what waits. Work gets the milliseconds
 * that it waited for its turn.
 */
export type InTurn = <T>(work: (waitedMs: number) => Promise<T>) => Promise<T>;

export function createInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const calledAt = performance.now();
    const run = last.then(() => work(performance.now() - calledAt));
    last = run.catch(() => undefined);
    return run;
  };
}
