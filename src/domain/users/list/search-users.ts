import type { Slice } from '../types.ts';
import { planSearch, type SearchBounds, SMALL_LIST, settleTotal } from './rules.ts';

const SAMPLE_USERS = 2_000;

/** The statements of one search; each list has its own. */
export interface UserSearch<User> {
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
export async function searchUsers<User>(
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
