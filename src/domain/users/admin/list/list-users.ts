import type { App } from '../../../../core/app.ts';
import { SMALL_LIST, settleTotal } from '../../rules.ts';
import type { Slice } from '../../types.ts';
import { requireUser } from '../require-user.ts';
import type { AdminUserPage, UserSort } from '../types.ts';
import { collectMatches, countByStatus, listInOrder, listReferrals, sampleShares, walkToMatches } from './repo.ts';
import { planUserSearch, type UserFilters, userFilters } from './rules.ts';

const SAMPLE_USERS = 2_000;

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
  const { everyone, listed } = await countByStatus(app.db, filters.status);
  if (filters.search || filters.email) return { ...slice, ...(await search(app, filters, sort, slice, everyone, listed)) };
  const users = await listInOrder(app.db, sort, filters.status, slice, listed, app.clock.now());
  return { ...slice, users, total: listed };
}

async function search(app: App, filters: UserFilters, sort: UserSort, slice: Slice, everyone: number, listed: number) {
  const now = app.clock.now();
  const percent = Math.min(100, (100 * SAMPLE_USERS) / everyone);
  const shares = everyone <= SMALL_LIST ? { everyone: 1, listed: 1 } : await sampleShares(app.db, filters, percent);
  const plan = planUserSearch(everyone, listed, shares.everyone);
  if (plan !== 'walk') return collectMatches(app.db, filters, sort, slice, plan === 'index', now);
  const users = slice.offset >= listed ? [] : await walkToMatches(app.db, filters, sort, slice, now);
  return { users, total: settleTotal(Math.round(listed * shares.listed), slice, users.length) };
}

/** Whom a user brought, newest first, paged by the database (spec 01 section 11.1). @throws AppError 404 'User not found' */
export async function listReferralsForAdmin(app: App, userId: number, slice: Slice): Promise<AdminUserPage> {
  const user = await requireUser(app, userId);
  return { ...slice, ...(await listReferrals(app.db, user.id, slice, app.clock.now())) };
}
