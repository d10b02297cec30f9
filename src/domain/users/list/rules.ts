import type { UserStatus } from '../../identity/types.ts';
import type { SearchTerms, Slice } from '../types.ts';

/** Up to this number of users a search reads all of them; above it the index is used. */
export const SMALL_LIST = 20_000;
const MAX_INT = 2_147_483_647;

/** How clients may ask for a page: `limit` and `offset`, or `page` and `per_page`, which have priority (spec 01 section 0). */
export interface PagingRequest {
  limit: number;
  offset: number;
  page?: number | null | undefined;
  perPage?: number | null | undefined;
}

export function sliceOf({ limit, offset, page = null, perPage = null }: PagingRequest): Slice {
  if (page === null && perPage === null) return { limit, offset };
  const size = perPage ?? limit;
  return { limit: size, offset: Math.min(((page ?? 1) - 1) * size, Number.MAX_SAFE_INTEGER) };
}

/**
 * Reads a search text: what is contained in a name, with `%`, `_` and `\` taken literally, and the ids that it may be
 * (spec 01 H23: a number that no id can be is only text).
 * @returns null when there is nothing to search
 */
export function searchTerms(search: string | null): SearchTerms | null {
  // Control characters are in no name: the database refuses NUL, and U+0001 separates the searched fields.
  const text = (search ?? '').replace(/\p{Cc}/gu, '').trim();
  if (text === '') return null;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : null;
  return {
    text,
    pattern: `%${text.replace(/[\\%_]/g, '\\$&')}%`,
    id: number !== null && number <= MAX_INT ? number : null,
    messengerId: number !== null && Number.isSafeInteger(number) ? number : null,
  };
}

/** scan: read every user of the list · index: collect all matches · walk: newest first until the page is full */
export type SearchPlan = 'scan' | 'index' | 'walk';

/** Numbers of users above which a list is searched in another way. */
export interface SearchBounds {
  /** From this number of expected matches on: walk down the list instead of collecting them all first. */
  manyMatches: number;
  /** Up to this number of users that match the other filters: read all of them. */
  smallSlice: number;
}

/** For a list in the one order that its index has. */
export const PLAIN_BOUNDS: SearchBounds = { manyMatches: 10_000, smallSlice: SMALL_LIST };

/** Reading an entry of the search index is this many times cheaper than checking a match. */
const INDEX_READ_FACTOR = 10;

/**
 * Chooses the fastest way to search. Collecting a hundred thousand matches of a common syllable is slow, and so is walking through a
 * million users for a rare one; only a walk has an estimated total.
 * @param everyone all users
 * @param listed users that match the other filters
 * @param share of a sample of users that match, 0..1
 */
export function planSearch(everyone: number, listed: number, share: number, bounds: SearchBounds): SearchPlan {
  if (everyone <= SMALL_LIST) return 'scan';
  const matches = everyone * share;
  // With another filter in addition to the text few matches have to be checked, so that reading more of the text's index is acceptable.
  const isNarrowed = listed * share < bounds.manyMatches && matches < INDEX_READ_FACTOR * bounds.manyMatches;
  if (matches < bounds.manyMatches || isNarrowed) return 'index';
  return listed <= bounds.smallSlice ? 'scan' : 'walk';
}

/** Corrects an estimated total by the page that was found: a page that is not full is the last one and gives it exactly. */
export function settleTotal(estimate: number, slice: Slice, found: number): number {
  if (found === 0) return Math.min(estimate, slice.offset);
  return found < slice.limit ? slice.offset + found : Math.max(estimate, slice.offset + found);
}

export interface UserFilters {
  status: UserStatus | null;
  search: SearchTerms | null;
  email: SearchTerms | null;
}

/**
 * What an administrator searches for (spec 01 section 11.1): a text contained in username or names, or a messenger id; and a part of an e-mail.
 * Numbers that no id can be are text only; `%` and `_` are taken literally (H23).
 */
export function userFilters(request: {
  status?: UserStatus | null | undefined;
  search?: string | null | undefined;
  email?: string | null | undefined;
}): UserFilters {
  return {
    status: request.status ?? null,
    search: searchTerms(request.search ?? null),
    email: emailTerms(request.email ?? null),
  };
}

/** The search index has no entries for shorter texts. */
const MIN_INDEXED_LENGTH = 3;

/**
 * The index is searched for the part before the `@` where that is long enough: nearly all addresses share the part behind it, so that
 * reading those entries of the index would take longest. The pattern contains the whole text.
 */
function emailTerms(email: string | null): SearchTerms | null {
  const terms = searchTerms(email);
  const [local = ''] = terms?.text.split('@') ?? [];
  return terms && local.length >= MIN_INDEXED_LENGTH ? { ...terms, text: local } : terms;
}

/** Lower than those of a list with one order, because here matches are also sorted in other orders. */
export const SORTED_BOUNDS: SearchBounds = { manyMatches: 5_000, smallSlice: 5_000 };
