import type { Database } from '../db/database.ts';
import type { Db } from '../db/db.ts';

/** Channel on which every instance receives the keys to drop. */
const CHANNEL = 'cache_forget';
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
  /** The cached value, or what `load` gives (kept for `ttlMs`). Equal keys asked at once load once. */
  read<T>(key: string, ttlMs: number, load: () => Promise<T>): Promise<T>;
  /** Drops keys everywhere once the surrounding transaction commits; at once outside one. */
  forget(db: Db, keys: readonly string[]): Promise<void>;
  /** Drops keys of this instance only; `inTransaction` does so for keys that were dropped inside, as soon as the commit is known. */
  drop(keys: readonly string[]): void;
}

export class DatabaseSharedCache implements SharedCache {
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<unknown>>();
  #stop: (() => Promise<void>) | null = null;

  async start(database: Database): Promise<void> {
    this.#stop = await database.listen(
      CHANNEL,
      (key) => this.#drop(key),
      () => this.clear(),
    );
  }

  async stop(): Promise<void> {
    await this.#stop?.();
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

  async forget(db: Db, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      if (db.begin !== null) this.#drop(key);
      await db.sql('SELECT pg_notify($1, $2)::text AS sent', [CHANNEL, key]);
    }
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
