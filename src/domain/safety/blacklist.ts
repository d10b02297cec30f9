import type { App } from '../../core/app.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { isConfigAdmin } from '../access/read-effective-access.ts';
import type { SessionUser } from '../identity/types.ts';
import { text } from '../messaging/texts.ts';
import { isListed, replaceEntries } from './blacklist-repo.ts';
import { isListDue, type PublishedList, readListState, refreshPublishedList } from './published-list.ts';
import { type BlacklistLine, parseBlacklist, rawListUrl } from './rules.ts';

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
