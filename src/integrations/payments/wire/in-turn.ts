/** Runs work of one provider one after the other, in the order of the calls; a failure does not stop what waits. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  };
}
