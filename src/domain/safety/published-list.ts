import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readState, writeState } from '../../core/service-state.ts';
import './ports.ts';
import { pauseAfter } from './rules.ts';

/** State of the stored copy of a published list, shared by all instances. */
export interface ListState {
  /** Address that the stored list came from; null = none yet. */
  url: string | null;
  /** ISO 8601; null = never. */
  fetchedAt: string | null;
  /** Failures in a row, for the address in `triedUrl`. */
  failures: number;
  triedUrl: string | null;
  /** Not before this moment, ISO 8601. */
  nextTryAt: string | null;
  /** Counts refreshes: results of an older list are not used. */
  version: number;
}

const NO_STATE: ListState = { url: null, fetchedAt: null, failures: 0, triedUrl: null, nextTryAt: null, version: 0 };

/** A published list and how it is stored. */
export interface PublishedList<T> {
  /** Key of its state in `service_state` and in the cache. */
  stateKey: string;
  /** For the log. */
  name: string;
  url: string;
  /** Age at which it is fetched again. */
  intervalMs: number;
  /** @throws Error when the text is not such a list: it must not replace a valid one */
  parse: (text: string) => T;
  /** Replaces the stored list, in a transaction. @returns the number of entries @throws Error when it must not be replaced */
  replace: (t: App, parsed: T, now: Date) => Promise<number>;
}

export async function readListState(app: App, stateKey: string): Promise<ListState> {
  return (await readState<ListState>(app.db, stateKey)) ?? NO_STATE;
}

/** Older than its interval, or of another address, and not waiting after a failure. */
export function isListDue(state: ListState, list: Pick<PublishedList<unknown>, 'url' | 'intervalMs'>, now: Date): boolean {
  const isOld =
    state.url !== list.url || state.fetchedAt === null || now.getTime() - Date.parse(state.fetchedAt) >= list.intervalMs;
  const isPaused = state.triedUrl === list.url && state.nextTryAt !== null && now.getTime() < Date.parse(state.nextTryAt);
  return isOld && !isPaused;
}

/**
 * Fetches a list when it is due and replaces the stored one. After any failure the stored list stays and the next try waits 1, 2, 4 …
 * 60 minutes (spec 01 H25). Runs as a job: never in a request, never in a transaction.
 */
export async function refreshPublishedList<T>(app: App, list: PublishedList<T>): Promise<void> {
  const state = await readListState(app, list.stateKey);
  const now = app.clock.now();
  if (!isListDue(state, list, now)) return;
  try {
    const parsed = list.parse(await app.ports.publicLists.fetchText(list.url));
    const entries = await inTransaction(app, async (t) => {
      const stored = await list.replace(t, parsed, now);
      const next: ListState = { ...NO_STATE, url: list.url, fetchedAt: now.toISOString(), version: state.version + 1 };
      await writeState(t.db, list.stateKey, next);
      await t.cache.forget(t, [list.stateKey]);
      return stored;
    });
    app.log.info({ entries, list: list.name }, 'a published list was refreshed');
  } catch (error) {
    // Any failure: the old list stays, and the next try has its time.
    const failures = (state.triedUrl === list.url ? state.failures : 0) + 1;
    const nextTryAt = addMs(now, pauseAfter(failures)).toISOString();
    await writeState(app.db, list.stateKey, { ...state, failures, triedUrl: list.url, nextTryAt });
    await app.cache.forget(app, [list.stateKey]);
    app.log.warn({ err: error, failures, list: list.name }, 'a published list could not be refreshed; the old one stays');
  }
}
