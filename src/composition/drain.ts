/**
 * The time between the order to stop and the moment when no connection is accepted any more (spec 08 S11). A load balancer needs it to see
 * that the instance is not ready; until then everything is served.
 */
export class Drain {
  #isStopping = false;
  #end: () => void = () => undefined;

  /** From the order to stop on: not ready, and every answer asks its client to connect anew. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Resolves after `ms`, or as soon as `end` is called. */
  begin(ms: number): Promise<void> {
    this.#isStopping = true;
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  end(): void {
    this.#end();
  }
}
