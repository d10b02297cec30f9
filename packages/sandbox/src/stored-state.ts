import type { SandboxStore } from './host-ports.ts';

/** One server's state under one key. Changes run one after the other, each from load to save, so none is lost. */
export class StoredState<T> {
  readonly #store: SandboxStore;
  readonly #key: string;
  readonly #initial: () => T;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(store: SandboxStore, key: string, initial: () => T) {
    this.#store = store;
    this.#key = key;
    this.#initial = initial;
  }

  async read(): Promise<T> {
    await this.#tail;
    return this.#load();
  }

  /** Changes the state in place. A change that throws is not saved. */
  update<R>(change: (state: T) => R): Promise<R> {
    const run = this.#tail.then(async () => {
      const state = await this.#load();
      const result = change(state);
      await this.#store.save(this.#key, state);
      return result;
    });
    this.#tail = run.catch(() => undefined);
    return run;
  }

  async #load(): Promise<T> {
    return ((await this.#store.load(this.#key)) as T | null | undefined) ?? this.#initial();
  }
}
