import type { Clock, Random } from '../host-ports.ts';
import { type StoredDevice, type StoredMeta, type StoredUser, seedMeta } from './panel-data.ts';

const META_KEY = 'panel/meta';
const SHARD_COUNT = 64;
const SHARD_PREFIX = 'panel/users/';

/** Is called after the change. */
export interface PanelListener {
  created(user: StoredUser): void;
  deleted(user: StoredUser): void;
  deviceAdded(user: StoredUser, device: StoredDevice): void;
  deviceDeleted(user: StoredUser, device: StoredDevice): void;
}

/** State of the fake panel: users with their indexes, squads, nodes; every change is marked for saving. */
export interface PanelState {
  readonly meta: StoredMeta;
  readonly clock: Clock;
  readonly random: Random;
  users(): IterableIterator<StoredUser>;
  /** `size` users in the order of creation, from the offset `start`. */
  usersFrom(start: number, size: number): StoredUser[];
  userCount(): number;
  byId(id: number): StoredUser | undefined;
  byUuid(uuid: string): StoredUser | undefined;
  byShortUuid(shortUuid: string): StoredUser | undefined;
  byUsername(username: string): StoredUser | undefined;
  byTelegramId(telegramId: number): StoredUser[];
  byEmail(email: string): StoredUser[];
  insert(user: StoredUser): void;
  /** Applies changed fields and updates the indexes. */
  update(user: StoredUser, changes: Partial<StoredUser>): void;
  remove(user: StoredUser): void;
  addDevice(user: StoredUser, device: StoredDevice): void;
  removeDevice(user: StoredUser, hwid: string): boolean;
  touchMeta(): void;
  /** One listener; the next one replaces it. */
  listen(listener: PanelListener): void;
  flush(): Promise<void>;
}

/** Loads the stored panel, or seeds a new one. */
export async function openPanelState(deps: { state: SandboxStore; clock: Clock; random: Random }): Promise<PanelState> {
  const { state: store, clock, random } = deps;
  const meta = ((await store.load(META_KEY)) as StoredMeta | undefined) ?? seedMeta(clock.now());
  const users = new Map<number, StoredUser>();
  let listener: PanelListener | null = null;
  const shards = new Map<number, Set<number>>();
  const uuids = new Map<string, number>();
  const shortUuids = new Map<string, number>();
  const usernames = new Map<string, number>();
  const telegramIds = new Map<number, Set<number>>();
  const emails = new Map<string, Set<number>>();

  const pending = createWriteBehind(store, (key) => {
    if (key === META_KEY) return meta;
    const ids = shards.get(Number(key.slice(SHARD_PREFIX.length))) ?? new Set<number>();
    return [...ids].map((id) => users.get(id));
  });

  const many = <K>(index: Map<K, Set<number>>, key: K) => {
    const found = index.get(key);
    return found ? [...found].map((id) => users.get(id)).filter((user) => user !== undefined) : [];
  };
  const one = <K>(index: Map<K, number>, key: K) => {
    const id = index.get(key);
    return id === undefined ? undefined : users.get(id);
  };

  function link(user: StoredUser): void {
    uuids.set(user.uuid, user.id);
    shortUuids.set(user.shortUuid, user.id);
    usernames.set(user.username, user.id);
    if (user.telegramId !== null) addTo(telegramIds, user.telegramId, user.id);
    if (user.email !== null) addTo(emails, user.email.toLowerCase(), user.id);
  }

  function unlink(user: StoredUser): void {
    uuids.delete(user.uuid);
    shortUuids.delete(user.shortUuid);
    usernames.delete(user.username);
    if (user.telegramId !== null) telegramIds.get(user.telegramId)?.delete(user.id);
    if (user.email !== null) emails.get(user.email.toLowerCase())?.delete(user.id);
  }

  function add(user: StoredUser): void {
    users.set(user.id, user);
    addTo(shards, user.id % SHARD_COUNT, user.id);
    link(user);
  }

  const touch = (user: StoredUser) => pending.touch(`${SHARD_PREFIX}${user.id % SHARD_COUNT}`);

  const loaded = await Promise.all(meta.shards.map((shard) => store.load(`${SHARD_PREFIX}${shard}`)));
  const stored = loaded.flatMap((rows) => (rows as StoredUser[] | undefined) ?? []).sort((a, b) => a.id - b.id);
  for (const user of stored) add(user);
  // After a crash between two writes the counter may be lower than the ids of the rows.
  meta.nextId = Math.max(meta.nextId, (stored.at(-1)?.id ?? 0) + 1);

  return {
    meta,
    clock,
    random,
    users: () => users.values(),
    usersFrom: (start, size) => users.values().drop(Math.max(0, start)).take(size).toArray(),
    userCount: () => users.size,
    byId: (id) => users.get(id),
    byUuid: (uuid) => one(uuids, uuid.toLowerCase()),
    byShortUuid: (shortUuid) => one(shortUuids, shortUuid),
    byUsername: (username) => one(usernames, username),
    byTelegramId: (telegramId) => many(telegramIds, telegramId),
    byEmail: (email) => many(emails, email.toLowerCase()),
    insert(user) {
      add(user);
      const shard = user.id % SHARD_COUNT;
      if (!meta.shards.includes(shard)) meta.shards.push(shard);
      pending.touch(META_KEY);
      touch(user);
      listener?.created(user);
    },
    update(user, changes) {
      unlink(user);
      Object.assign(user, changes, { updatedAt: clock.now().toISOString() });
      link(user);
      touch(user);
    },
    remove(user) {
      unlink(user);
      users.delete(user.id);
      shards.get(user.id % SHARD_COUNT)?.delete(user.id);
      touch(user);
      listener?.deleted(user);
    },
    addDevice(user, device) {
      const others = user.devices.filter((known) => known.hwid !== device.hwid);
      const isNew = others.length === user.devices.length;
      user.devices = [...others, device];
      touch(user);
      if (isNew) listener?.deviceAdded(user, device);
    },
    removeDevice(user, hwid) {
      const removed = user.devices.find((device) => device.hwid === hwid);
      if (!removed) return false;
      user.devices = user.devices.filter((device) => device !== removed);
      touch(user);
      listener?.deviceDeleted(user, removed);
      return true;
    },
    touchMeta: () => pending.touch(META_KEY),
    listen(next) {
      listener = next;
    },
    flush: () => pending.flush(),
  };
}

function addTo<K>(index: Map<K, Set<number>>, key: K, id: number): void {
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}

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

interface WriteBehind {
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
