import type { EventBus } from '../events/event-bus.ts';
import { DATABASE_RESTORED } from '../events/event-log.ts';
import type { EventRecorder } from '../events/event-recorder.ts';

declare module '../events/event-recorder.ts' {
  interface EventTypes {
    /** For the instances: what these keys of the shared cache hold has changed. */
    [CACHE_FORGOTTEN]: EventType<{ keys: readonly string[] }, 'instance'>;
  }
}

export const CACHE_FORGOTTEN = 'cache.forgotten';
const MAX_ENTRIES = 50_000;

interface Entry {
  value: unknown;
  freshUntil: number;
}

/**
 * Facts that are read on every request (tokens, sessions, roles), kept for seconds and dropped on every instance as soon as a
 * transaction that changed them commits. It is never the only guard: the write itself checks in the database what must be right.
 */
export interface SharedCache {
  /** The cached value, or what `load` returns (kept for `ttlMs`). Equal keys asked at once load once. */
  read<T>(key: string, ttlMs: number, load: () => Promise<T>): Promise<T>;
  /**
   * Drops keys everywhere, by an event of the caller's transaction: here as soon as the commit is known, on the other instances within a
   * second.
   */
  forget(app: { events: EventRecorder }, keys: readonly string[]): Promise<void>;
  /** Drops keys of this instance only. */
  drop(keys: readonly string[]): void;
}

export class DatabaseSharedCache implements SharedCache {
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<unknown>>();

  /** Drops what any instance forgets. @returns how to end that */
  follow(bus: Pick<EventBus, 'subscribe'>): () => void {
    return bus.subscribe(({ type, payload }) => {
      if (type === CACHE_FORGOTTEN) this.drop((payload as { keys: string[] }).keys);
      else if (type === DATABASE_RESTORED) this.clear();
    });
  }

  clear(): void {
    this.#entries.clear();
    this.#loading.clear();
  }

  async read<T>(key: string, ttlMs: number, load: () => Promise<T>): Promise<T> {
    const entry = this.#entries.get(key);
    if (entry && entry.freshUntil > performance.now()) return entry.value as T;
    const underWay = this.#loading.get(key);
    if (underWay) return underWay as Promise<T>;
    const promise = load();
    this.#loading.set(key, promise);
    try {
      const value = await promise;
      // Dropped while loading: the value may be older than the change, so it is used once and not kept.
      if (this.#loading.get(key) === promise) this.#keep(key, { value, freshUntil: performance.now() + ttlMs });
      return value;
    } finally {
      if (this.#loading.get(key) === promise) this.#loading.delete(key);
    }
  }

  drop(keys: readonly string[]): void {
    for (const key of keys) this.#drop(key);
  }

  async forget({ events }: { events: EventRecorder }, keys: readonly string[]): Promise<void> {
    await events.emit(CACHE_FORGOTTEN, { keys }, { audience: 'instance' });
    this.drop(keys);
  }

  #drop(key: string): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  #keep(key: string, entry: Entry): void {
    if (this.#entries.size >= MAX_ENTRIES) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, entry);
  }
}
