import type { SearchTerms, Slice, UserView } from './types.ts';

/** Up to so many users a list reads all of them to search; above it asks the index. */
export const SMALL_LIST = 20_000;
const MAX_INT = 2_147_483_647;

/** What clients may send to page: `limit` and `offset`, or `page` and `per_page`, which win (spec 01 section 0). */
export interface PagingRequest {
  limit: number;
  offset: number;
  page: number | null;
  perPage: number | null;
}

export function sliceOf({ limit, offset, page, perPage }: PagingRequest): Slice {
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
  // Control characters are in no name: the database refuses NUL, and U+0001 keeps the searched fields apart.
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

/** From how many users on a list searches in another way. */
export interface SearchBounds {
  /** So many expected matches: walk down the list instead of collecting them all first. */
  manyMatches: number;
  /** Up to so many users that the other filters leave are all read. */
  smallSlice: number;
}

/** For a list in the one order that its index has. */
export const PLAIN_BOUNDS: SearchBounds = { manyMatches: 10_000, smallSlice: SMALL_LIST };

/** An entry of the search index costs so much less than a match that is looked at. */
const INDEX_READ_FACTOR = 10;

/**
 * The way to search that stays fast. Collecting a hundred thousand matches of a common syllable is slow, and so is walking
 * through a million users for a rare one; only a walk leaves the total to an estimate.
 * @param everyone all users
 * @param listed users that the other filters leave
 * @param share of a sample of users that match, 0..1
 */
export function planSearch(everyone: number, listed: number, share: number, bounds: SearchBounds): SearchPlan {
  if (everyone <= SMALL_LIST) return 'scan';
  const matches = everyone * share;
  // A filter beside the text leaves few of them: the index of the text may then read more, since only those few are looked at.
  const isNarrowed = listed * share < bounds.manyMatches && matches < INDEX_READ_FACTOR * bounds.manyMatches;
  if (matches < bounds.manyMatches || isNarrowed) return 'index';
  return listed <= bounds.smallSlice ? 'scan' : 'walk';
}

/** An estimated total, made to agree with the page that was found: a page that is not full is the last one and gives it exactly. */
export function settleTotal(estimate: number, slice: Slice, found: number): number {
  if (found === 0) return Math.min(estimate, slice.offset);
  return found < slice.limit ? slice.offset + found : Math.max(estimate, slice.offset + found);
}

/** A view that was stored as JSON has texts for moments; gives them back as moments. */
export function reviveView(view: UserView): UserView {
  const { subscription } = view;
  return {
    ...view,
    createdAt: new Date(view.createdAt),
    updatedAt: new Date(view.updatedAt),
    lastActivity: view.lastActivity === null ? null : new Date(view.lastActivity),
    subscription: subscription && {
      ...subscription,
      startDate: new Date(subscription.startDate),
      endDate: new Date(subscription.endDate),
    },
  };
}
