import type { App } from '../../../core/app.ts';
import { requireUser } from '../../identity/require-user.ts';
import type { AdminUserPage, UserSort } from '../detail/types.ts';
import { searchUsers } from '../search-users.ts';
import type { Slice } from '../types.ts';
import { collectMatches, countByStatus, listInOrder, listReferrals, sampleShares, walkToMatches } from './repo.ts';
import { SORTED_BOUNDS, type UserFilters, userFilters } from './rules.ts';

export interface AdminListRequest extends Slice {
  /** Contained in username or names in any case of letters, or equal to a messenger id. */
  search: string | null;
  /** Contained in the e-mail. */
  email: string | null;
  status: 'active' | 'blocked' | 'deleted' | null;
  sort: UserSort;
}

/**
 * Users for an administrator (spec 01 section 11.1). The total is exact, but for a search that more than about 10,000 users of a
 * larger installation match: then it is estimated, until the last page gives it exactly.
 */
export async function listUsersForAdmin(app: App, request: AdminListRequest): Promise<AdminUserPage> {
  const { limit, offset, sort } = request;
  const slice = { limit, offset };
  const filters = userFilters(request);
  const size = await countByStatus(app.db, filters.status);
  if (filters.search || filters.email) return { ...slice, ...(await search(app, filters, sort, slice, size)) };
  const users = await listInOrder(app.db, sort, filters.status, slice, size.listed, app.clock.now());
  return { ...slice, users, total: size.listed };
}

function search(app: App, filters: UserFilters, sort: UserSort, slice: Slice, size: { everyone: number; listed: number }) {
  const now = app.clock.now();
  return searchUsers(size, slice, {
    bounds: SORTED_BOUNDS,
    sample: (percent) => sampleShares(app.db, filters, percent),
    collect: (useIndex) => collectMatches(app.db, filters, sort, slice, useIndex, now),
    walk: () => walkToMatches(app.db, filters, sort, slice, now),
  });
}

/** Whom a user brought, newest first, paged by the database (spec 01 section 11.1). @throws AppError 404 'User not found' */
export async function listReferralsForAdmin(app: App, userId: number, slice: Slice): Promise<AdminUserPage> {
  const user = await requireUser(app, userId);
  return { ...slice, ...(await listReferrals(app.db, user.id, slice, app.clock.now())) };
}
