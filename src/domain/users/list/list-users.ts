import type { App } from '../../../core/app.ts';
import { requireUser } from '../../identity/find-user.ts';
import type { UserStatus } from '../../identity/types.ts';
import type { AdminUserPage, Slice, UserPage, UserSort } from '../types.ts';
import { collectMatches, countUsers, listNewest, sampleShares, walkToMatches } from './repo.ts';
import {
  type PagingRequest,
  PLAIN_BOUNDS,
  planSearch,
  type SearchBounds,
  SMALL_LIST,
  SORTED_BOUNDS,
  searchTerms,
  settleTotal,
  sliceOf,
  userFilters,
} from './rules.ts';
import * as sorted from './sorted-repo.ts';

export interface UserListRequest extends PagingRequest {
  /** Contained in username, names or referral code in any case of letters, or equal to an id. */
  search?: string | null | undefined;
  status?: UserStatus | null | undefined;
  /** The primary group; 0 and null = every group. */
  promoGroupId?: number | null | undefined;
}

/**
 * Users, newest first (spec 01 section 10). The total is exact, but for a search that more than about 10,000 users of a larger
 * installation match: then it is estimated, until the last page gives it exactly.
 */
export async function listUsers(app: App, request: UserListRequest): Promise<UserPage> {
  const slice = sliceOf(request);
  const filter = { status: request.status ?? null, promoGroupId: request.promoGroupId || null };
  const terms = searchTerms(request.search ?? null);
  const size = await countUsers(app.db, filter);
  const now = app.clock.now();
  if (!terms) return { ...slice, users: await listNewest(app.db, filter, slice, size.listed, now), total: size.listed };
  const found = await searchUsers(size, slice, {
    bounds: PLAIN_BOUNDS,
    sample: (percent) => sampleShares(app.db, terms, filter, percent),
    collect: (useIndex) => collectMatches(app.db, terms, filter, slice, useIndex, now),
    walk: () => walkToMatches(app.db, terms, filter, slice, now),
  });
  return { ...slice, ...found };
}

export interface AdminListRequest extends Slice {
  /** Contained in username or names in any case of letters, or equal to a messenger id. */
  search?: string | null | undefined;
  /** Contained in the e-mail. */
  email?: string | null | undefined;
  status?: UserStatus | null | undefined;
  sortBy: UserSort;
}

/** Users for an administrator (spec 01 section 11.1). The total is as exact as that of `listUsers`. */
export async function listUsersForAdmin(app: App, request: AdminListRequest): Promise<AdminUserPage> {
  const { limit, offset, sortBy } = request;
  const slice = { limit, offset };
  const filters = userFilters(request);
  const size = await sorted.countByStatus(app.db, filters.status);
  const now = app.clock.now();
  if (!filters.search && !filters.email) {
    const users = await sorted.listInOrder(app.db, sortBy, filters.status, slice, size.listed, now);
    return { ...slice, users, total: size.listed };
  }
  const found = await searchUsers(size, slice, {
    bounds: SORTED_BOUNDS,
    sample: (percent) => sorted.sampleShares(app.db, filters, percent),
    collect: (useIndex) => sorted.collectMatches(app.db, filters, sortBy, slice, useIndex, now),
    walk: () => sorted.walkToMatches(app.db, filters, sortBy, slice, now),
  });
  return { ...slice, ...found };
}

/** The users that a user referred, newest first, paged by the database. @throws AppError 404 'User not found' */
export async function listReferralsForAdmin(app: App, userId: number, { limit, offset }: Slice): Promise<AdminUserPage> {
  const user = await requireUser(app, userId);
  return { limit, offset, ...(await sorted.listReferrals(app.db, user.id, { limit, offset }, app.clock.now())) };
}

const SAMPLE_USERS = 2_000;

/** The statements of one search; each list has its own. */
interface UserSearch<User> {
  bounds: SearchBounds;
  /** Shares of matches among a sample: of all users, and of those that match the other filters. */
  sample: (percent: number) => Promise<{ everyone: number; listed: number }>;
  /** All matches, from the index or from every user of the list. */
  collect: (useIndex: boolean) => Promise<{ users: User[]; total: number }>;
  /** Walks down the list until the page is full. */
  walk: () => Promise<User[]>;
}

/**
 * Searches by the plan that a sample of the users suggests (`planSearch`). Only a walk estimates the total, until the last page gives
 * it exactly.
 * @param size all users, and those that match the other filters
 */
async function searchUsers<User>(
  size: { everyone: number; listed: number },
  slice: Slice,
  search: UserSearch<User>,
): Promise<{ users: User[]; total: number }> {
  const { everyone, listed } = size;
  const percent = Math.min(100, (100 * SAMPLE_USERS) / everyone);
  const shares = everyone <= SMALL_LIST ? { everyone: 1, listed: 1 } : await search.sample(percent);
  const plan = planSearch(everyone, listed, shares.everyone, search.bounds);
  if (plan !== 'walk') return search.collect(plan === 'index');
  const users = slice.offset >= listed ? [] : await search.walk();
  return { users, total: settleTotal(Math.round(listed * shares.listed), slice, users.length) };
}
