import type { App } from '../../core/app.ts';
import { collectMatches, countUsers, listNewest, sampleShares, walkToMatches } from './repo.ts';
import { type PagingRequest, planSearch, SMALL_LIST, searchTerms, settleTotal, sliceOf } from './rules.ts';
import type { SearchTerms, Slice, UserFilter, UserPage } from './types.ts';

const SAMPLE_USERS = 2_000;

export interface UserListRequest extends PagingRequest, UserFilter {
  /** Contained in username, names or referral code in any case of letters, or equal to an id. */
  search: string | null;
}

/**
 * Users, newest first (spec 01 section 10). The total is exact, but for a search that more than about 10,000 users of a larger
 * installation match: then it is estimated, until the last page gives it exactly.
 */
export async function listUsers(app: App, request: UserListRequest): Promise<UserPage> {
  const slice = sliceOf(request);
  const filter = { status: request.status, promoGroupId: request.promoGroupId === 0 ? null : request.promoGroupId };
  const terms = searchTerms(request.search);
  const { everyone, listed } = await countUsers(app.db, filter);
  if (terms) return { ...slice, ...(await search(app, terms, filter, slice, everyone, listed)) };
  return { ...slice, users: await listNewest(app.db, filter, slice, listed, app.clock.now()), total: listed };
}

async function search(app: App, terms: SearchTerms, filter: UserFilter, slice: Slice, everyone: number, listed: number) {
  const now = app.clock.now();
  const percent = Math.min(100, (100 * SAMPLE_USERS) / everyone);
  const shares = everyone <= SMALL_LIST ? { everyone: 1, listed: 1 } : await sampleShares(app.db, terms, filter, percent);
  const plan = planSearch(everyone, listed, shares.everyone);
  if (plan !== 'walk') return collectMatches(app.db, terms, filter, slice, plan === 'index', now);
  const users = slice.offset >= listed ? [] : await walkToMatches(app.db, terms, filter, slice, now);
  return { users, total: settleTotal(Math.round(listed * shares.listed), slice, users.length) };
}
