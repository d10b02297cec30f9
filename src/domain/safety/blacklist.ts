import type { App } from '../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refuse } from '../../core/errors.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { isConfigAdmin } from '../access/read-effective-access.ts';
import type { SessionUser } from '../identity/types.ts';
import { text } from '../messaging/texts.ts';
import { isListed, replaceEntries } from './blacklist-repo.ts';
import './ports.ts';
import { parseBlacklist, pauseAfter, rawListUrl } from './rules.ts';

const STATE_KEY = 'blacklist';
const STATE_TRUST_MS = MINUTE_MS;
/** A verdict on one user. */
const VERDICT_TRUST_MS = 5 * MINUTE_MS;
const ASK_AGAIN_MS = 10 * SECOND_MS;

/** How the stored list stands, shared by all instances. */
interface BlacklistState {
  /** Address that the stored list came from; null = none yet. */
  url: string | null;
  /** ISO 8601; null = never. */
  fetchedAt: string | null;
  /** Failures in a row, for the address in `triedUrl`. */
  failures: number;
  triedUrl: string | null;
  /** Not before this moment, ISO 8601. */
  nextTryAt: string | null;
  /** Counts refreshes: verdicts of an older list are not believed. */
  version: number;
}

const NO_STATE: BlacklistState = { url: null, fetchedAt: null, failures: 0, triedUrl: null, nextTryAt: null, version: 0 };

/**
 * Row 7 of the cabinet gate: whoever stands on the published list, by messenger id or by user name, is not served. A list that is
 * too old is fetched in the background; meanwhile, and when fetching fails, the stored one counts.
 * @throws AppError 403 {code: 'blacklisted', message}
 */
export function judgeBlacklist(app: App, user: SessionUser): Promise<void> | undefined {
  if (user.messengerId === null || !app.settings.get('BLACKLIST_CHECK_ENABLED')) return undefined;
  if (app.settings.get('BLACKLIST_IGNORE_ADMINS') && isConfigAdmin(app, user)) return undefined;
  return judge(app, user, user.messengerId);
}

async function judge(app: App, user: SessionUser, messengerId: number): Promise<void> {
  const state = await app.cache.read(
    STATE_KEY,
    STATE_TRUST_MS,
    async () => (await readState<BlacklistState>(app.db, STATE_KEY)) ?? NO_STATE,
  );
  if (isDue(app, state)) askForRefresh(app);
  const username = user.username?.replace(/^@/, '').toLowerCase() ?? null;
  const isOut = await app.cache.read(`blacklisted:${state.version}:${user.id}:${username ?? ''}`, VERDICT_TRUST_MS, () =>
    isListed(app.db, messengerId, username),
  );
  if (isOut) throw refuse('blacklisted', 403, { code: 'blacklisted', message: text(user.language, 'errors.blacklisted') });
}

/**
 * Fetches the list when it is due and puts it in the place of the old one. After a failure the old list stays and the next try
 * waits 1, 2, 4 … 60 minutes. Runs as a job: never in a request, never in a transaction.
 */
export async function refreshBlacklist(app: App): Promise<void> {
  const state = (await readState<BlacklistState>(app.db, STATE_KEY)) ?? NO_STATE;
  if (!isDue(app, state)) return;
  const url = rawListUrl(app.settings.get('BLACKLIST_GITHUB_URL') ?? '');
  const now = app.clock.now();
  try {
    const list = await app.ports.publicLists.fetchText(url);
    const entries = parseBlacklist(list);
    // A page that is no list (a sign-in form, a notice) must not empty it.
    if (entries.length === 0 && /^\s*[^#\s]/m.test(list)) throw new Error('the list holds no entry');
    await inTransaction(app, async (t) => {
      await replaceEntries(t.db, entries, now);
      const next: BlacklistState = { ...NO_STATE, url, fetchedAt: now.toISOString(), version: state.version + 1 };
      await writeState(t.db, STATE_KEY, next);
      await t.cache.forget(t.db, [STATE_KEY]);
    });
    app.log.info({ entries: entries.length }, 'the blacklist was refreshed');
  } catch (error) {
    const failures = (state.triedUrl === url ? state.failures : 0) + 1;
    const nextTryAt = addMs(now, pauseAfter(failures)).toISOString();
    await writeState(app.db, STATE_KEY, { ...state, failures, triedUrl: url, nextTryAt });
    await app.cache.forget(app.db, [STATE_KEY]);
    app.log.warn({ err: error, failures }, 'the blacklist could not be fetched; the old one stays');
  }
}

function isDue(app: App, state: BlacklistState): boolean {
  const setting = app.settings.get('BLACKLIST_GITHUB_URL');
  if (!setting || !app.settings.get('BLACKLIST_CHECK_ENABLED')) return false;
  const url = rawListUrl(setting);
  const now = app.clock.now().getTime();
  const isOld =
    state.url !== url ||
    state.fetchedAt === null ||
    now - Date.parse(state.fetchedAt) >= app.settings.get('BLACKLIST_UPDATE_INTERVAL_HOURS') * HOUR_MS;
  const isPaused = state.triedUrl === url && state.nextTryAt !== null && now < Date.parse(state.nextTryAt);
  return isOld && !isPaused;
}

/** At most one job waits in the whole cluster, and each instance asks every 10 seconds at most. */
function askForRefresh(app: App): void {
  const send = async () => {
    await app.jobs.send('safety.refresh-blacklist', {}, { singletonKey: 'blacklist' });
    return true;
  };
  app.cache
    .read('blacklist-asked', ASK_AGAIN_MS, send)
    .catch((error: unknown) => app.log.warn({ err: error }, 'a refresh of the blacklist could not be asked for'));
}
