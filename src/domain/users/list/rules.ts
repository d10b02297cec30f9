import { type SearchBounds, searchTerms } from '../rules.ts';
import type { SearchTerms } from '../types.ts';

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
  return { status: request.status, search: searchTerms(request.search), email: emailTerms(request.email) };
}

/** Shorter texts have no window of the search index for themselves. */
const MIN_INDEXED_LENGTH = 3;

/**
 * The index is asked for what stands before the `@` where that is enough: what stands behind it, nearly every address has, and reading
 * where all those are takes longer than all the rest. The pattern keeps the whole text.
 */
function emailTerms(email: string | null): SearchTerms | null {
  const terms = searchTerms(email);
  const [local = ''] = terms?.text.split('@') ?? [];
  return terms && local.length >= MIN_INDEXED_LENGTH ? { ...terms, text: local } : terms;
}

/** Lower than those of a list with one order, because here matches are also put into other orders. */
export const SORTED_BOUNDS: SearchBounds = { manyMatches: 5_000, smallSlice: 5_000 };
