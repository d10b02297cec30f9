import type { App } from '../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readState, writeState } from '../../core/service-state.ts';
import './ports.ts';
import { refusal } from '../../core/errors.ts';
import { isConfigAdmin } from '../access/effective-access.ts';
import { countDisposableDomains, replaceDisposableDomains } from '../identity/email/disposable-addresses.ts';
import type { SessionUser } from '../identity/types.ts';
import { text } from '../messaging/texts.ts';
import { isListed, replaceEntries } from './repo.ts';
import { type BlacklistLine, parseBlacklist, parseDomainList, pauseAfter, rawListUrl } from './rules.ts';

/** State of the stored copy of a published list, shared by all instances. */
interface ListState {
  /** Address that the stored list came from; null = none yet. */
  url: string | null;
  /** ISO 8601; null = never. */
  fetchedAt: string | null;
  /** Failures in a row, for the address in `triedUrl`. */
  failures: number;
  triedUrl: string | null;
  /** Not before this time, ISO 8601. */
  nextTryAt: string | null;
  /** Counts refreshes: results of an older list are not used. */
  version: number;
}

const NO_STATE: ListState = { url: null, fetchedAt: null, failures: 0, triedUrl: null, nextTryAt: null, version: 0 };

/** A published list and how it is stored. */
interface PublishedList<T> {
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

async function readListState(app: App, stateKey: string): Promise<ListState> {
  return (await readState<ListState>(app.db, stateKey)) ?? NO_STATE;
}

/** Older than its interval, or of another address, and not waiting after a failure. */
function isListDue(state: ListState, list: Pick<PublishedList<unknown>, 'url' | 'intervalMs'>, now: Date): boolean {
  const isOld =
    state.url !== list.url || state.fetchedAt === null || now.getTime() - Date.parse(state.fetchedAt) >= list.intervalMs;
  const isPaused = state.triedUrl === list.url && state.nextTryAt !== null && now.getTime() < Date.parse(state.nextTryAt);
  return isOld && !isPaused;
}

/**
 * Fetches a list when it is due and replaces the stored one. After any failure the stored list stays and the next try waits 1, 2, 4 …
 * 60 minutes (spec 01 H25). Runs as a job: never in a request, never in a transaction.
 */
async function refreshPublishedList<T>(app: App, list: PublishedList<T>): Promise<void> {
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

export const blacklisted = refusal('blacklisted', 403, {
  code: 'blacklisted',
  message: 'Доступ закрыт: аккаунт внесён в чёрный список.',
});

const STATE_KEY = 'blacklist';
const STATE_TRUST_MS = MINUTE_MS;
/** How long the result for one user is cached. */
const RESULT_TRUST_MS = 5 * MINUTE_MS;
const REQUEST_INTERVAL_MS = 10 * SECOND_MS;

/**
 * Row 7 of the cabinet gate: users on the published list, by messenger id or by username, are refused. A list that is too old is
 * fetched in the background; until then, and when fetching fails, the stored one is used.
 * @throws AppError 403 {code: 'blacklisted', message}
 */
export function assertNotBlacklisted(app: App, user: SessionUser): Promise<void> | undefined {
  if (user.messengerId === null || !app.settings.get('BLACKLIST_CHECK_ENABLED')) return undefined;
  if (app.settings.get('BLACKLIST_IGNORE_ADMINS') && isConfigAdmin(app, user)) return undefined;
  return assertNotListed(app, user, user.messengerId);
}

async function assertNotListed(app: App, user: SessionUser, messengerId: number): Promise<void> {
  const state = await app.cache.read(STATE_KEY, STATE_TRUST_MS, () => readListState(app, STATE_KEY));
  const list = blacklistOf(app);
  if (list && isListDue(state, list, app.clock.now())) requestRefresh(app);
  const username = user.username?.replace(/^@/, '').toLowerCase() ?? null;
  const isBlacklisted = await app.cache.read(`blacklisted:${state.version}:${user.id}:${username ?? ''}`, RESULT_TRUST_MS, () =>
    isListed(app.db, messengerId, username),
  );
  if (isBlacklisted) throw blacklisted({ detail: { code: 'blacklisted', message: text(user.language, 'errors.blacklisted') } });
}

/** Fetches the list when it is due; a failure leaves the old one. Runs as a job: never in a request, never in a transaction. */
export async function refreshBlacklist(app: App): Promise<void> {
  const list = blacklistOf(app);
  if (list) await refreshPublishedList(app, list);
}

/** Null while the check is off or no address is set. */
function blacklistOf(app: App): PublishedList<BlacklistLine[]> | null {
  const url = app.settings.get('BLACKLIST_GITHUB_URL');
  if (!url || !app.settings.get('BLACKLIST_CHECK_ENABLED')) return null;
  return {
    stateKey: STATE_KEY,
    name: 'blacklist',
    url: rawListUrl(url),
    intervalMs: app.settings.get('BLACKLIST_UPDATE_INTERVAL_HOURS') * HOUR_MS,
    parse: (list) => {
      const entries = parseBlacklist(list);
      // A page that is not a list (a sign-in form, an error page) must not empty the stored list.
      if (entries.length === 0 && /^\s*[^#\s]/m.test(list)) throw new Error('the list has no entry');
      return entries;
    },
    replace: async (t, entries, now) => {
      await replaceEntries(t.db, entries, now);
      return entries.length;
    },
  };
}

/** At most one job waits in the whole cluster, and each instance sends one every 10 seconds at most. */
function requestRefresh(app: App): void {
  const send = async () => {
    await app.jobs.send('safety.refresh-blacklist', {}, { singletonKey: 'blacklist' });
    return true;
  };
  app.cache
    .read('blacklist-asked', REQUEST_INTERVAL_MS, send)
    // Any failure: the next request sends the job.
    .catch((error: unknown) => app.log.warn({ err: error }, 'the job that refreshes the blacklist could not be sent'));
}

/** A list that is shorter than this share of the stored one was cut or replaced by another text. */
const MIN_RETAINED_SHARE = 0.5;

/**
 * Fetches the published list of disposable mail domains once a day (spec 01 sections 2.6, 17). A text that is not such a list never
 * replaces a valid one. Not while the check is off, and not in the sandbox, which sends no mail.
 */
export async function refreshDisposableDomains(app: App): Promise<void> {
  if (!app.settings.get('DISPOSABLE_EMAIL_CHECK_ENABLED') || app.ports.instance.sandboxKinds().includes('mail')) return;
  await refreshPublishedList(app, {
    stateKey: 'disposable_domains',
    name: 'disposable e-mail domains',
    url: app.env.disposableEmailListUrl,
    intervalMs: DAY_MS,
    parse: parseDomainList,
    replace: async (t, domains) => {
      const stored = await countDisposableDomains(t.db);
      if (domains.length < stored * MIN_RETAINED_SHARE) {
        throw new Error(`the list shrank from ${stored} to ${domains.length} domains`);
      }
      await replaceDisposableDomains(t.db, domains);
      return domains.length;
    },
  });
}
