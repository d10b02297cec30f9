/** Where the fake panel stores its state between starts; the server passes one that writes to the database. */
export interface SandboxStore {
  /** The value saved last under the key, or undefined. */
  load(key: string): Promise<unknown>;
  /** Replaces the value; it is plain JSON. */
  save(key: string, value: unknown): Promise<void>;
}

/** A store in memory. */
export function createMemoryStore(): SandboxStore {
  const values = new Map<string, string>();
  return {
    load: async (key) => {
      const text = values.get(key);
      return text === undefined ? undefined : JSON.parse(text);
    },
    save: async (key, value) => {
      values.set(key, JSON.stringify(value));
    },
  };
}

export interface WriteBehind {
  /** Marks a key as changed; its value is taken when it is written. */
  touch(key: string): void;
  /** Writes what is marked and waits for it. @throws the store's last error */
  flush(): Promise<void>;
}

/** The next write waits this many times the duration of the last one: with thousands of users, saving must not delay requests. */
const REST_FACTOR = 10;
const MAX_REST_MS = 3_000;

/**
 * Saves changed keys shortly after the change, several changes in one write; the longer a write takes, the later the next one. One write
 * per key at a time, so that an older value never replaces a newer one.
 */
export function createWriteBehind(store: SandboxStore, currentValue: (key: string) => unknown, delayMs = 50): WriteBehind {
  const dirty = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failure: unknown;
  let restMs = delayMs;

  /** One write of everything marked; later changes are written by the next one. */
  async function drain(): Promise<void> {
    const startedAt = performance.now();
    const keys = [...dirty];
    dirty.clear();
    try {
      for (const key of keys) await store.save(key, currentValue(key));
      failure = undefined;
    } catch (error) {
      // Stays queued for the next change or flush: a fake outside system must not stop the process.
      failure = error;
      for (const key of keys) dirty.add(key);
    }
    restMs = Math.min(Math.max(delayMs, (performance.now() - startedAt) * REST_FACTOR), MAX_REST_MS);
  }

  function schedule(): void {
    timer ??= setTimeout(start, restMs).unref();
  }

  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    running ??= drain().finally(() => {
      running = undefined;
      if (dirty.size > 0 && failure === undefined) schedule();
    });
    return running;
  }

  return {
    touch(key) {
      dirty.add(key);
      schedule();
    },
    async flush() {
      await start();
      if (dirty.size > 0) await start();
      if (failure !== undefined) throw failure;
    },
  };
}
