/** What must be stopped or dropped at the end of a measurement, in the opposite order of its start. */
export class Cleanup {
  readonly #ends: (() => Promise<unknown>)[] = [];

  add<T>(thing: T, end: (thing: T) => Promise<unknown>): T {
    this.#ends.push(() => end(thing));
    return thing;
  }

  /** Does not throw: what cannot be ended is reported, and the rest is ended. */
  async run(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end().catch((error: unknown) => console.error(String(error)));
  }
}
