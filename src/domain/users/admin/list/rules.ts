import { type SearchPlan, SMALL_LIST, searchTerms } from '../../rules.ts';
import type { SearchTerms } from '../../types.ts';

export interface UserFilters {
  status: 'active' | 'blocked' | 'deleted' | null;
  search: SearchTerms | null;
  email: SearchTerms | null;
}

/**
 * What is searched for (spec 01 section 11.1): a text contained in username or names, or a messenger id; and a part of an e-mail.
 * Numbers that no id can be are text only, `%` and `_` are themselves (H23).
 */
export function userFilters(request: {
  status: UserFilters['status'];
  search: string | null;
  email: string | null;
}): UserFilters {
  return { status: request.status, search: searchTerms(request.search), email: searchTerms(request.email) };
}

/** Up to so many matches, or users of a status, are all read; beyond that the list is walked until a page is full. */
const MANY = 5_000;

/**
 * The way to search that stays fast, see `planSearch`; with lower bounds, because here matches are also put into other orders.
 * @param everyone all users
 * @param listed users of the status
 * @param share of a sample of users that match, 0..1
 */
export function planUserSearch(everyone: number, listed: number, share: number): SearchPlan {
  if (everyone <= SMALL_LIST) return 'scan';
  if (everyone * share < MANY) return 'index';
  return listed <= MANY ? 'scan' : 'walk';
}
