import type { App } from '../../core/app.ts';
import { collectMatches, countUsers, listNewest, sampleShares, walkToMatches } from './repo.ts';
import { type PagingRequest, PLAIN_BOUNDS, searchTerms, sliceOf } from './rules.ts';
import { searchUsers } from './search-users.ts';
import type { SearchTerms, Slice, UserFilter, UserPage } from './types.ts';

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
  const size = await countUsers(app.db, filter);
  if (terms) return { ...slice, ...(await search(app, terms, filter, slice, size)) };
  return { ...slice, users: await listNewest(app.db, filter, slice, size.listed, app.clock.now()), total: size.listed };
}

function search(app: App, terms: SearchTerms, filter: UserFilter, slice: Slice, size: { everyone: number; listed: number }) {
  const now = app.clock.now();
  return searchUsers(size, slice, {
    bounds: PLAIN_BOUNDS,
    sample: (percent) => sampleShares(app.db, terms, filter, percent),
    collect: (useIndex) => collectMatches(app.db, terms, filter, slice, useIndex, now),
    walk: () => walkToMatches(app.db, terms, filter, slice, now),
  });
}
