import { type SearchBounds, searchTerms } from '../../rules.ts';
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

/** Lower than those of a list with one order, because here matches are also put into other orders. */
export const SORTED_BOUNDS: SearchBounds = { manyMatches: 5_000, smallSlice: 5_000 };
