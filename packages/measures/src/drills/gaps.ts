/** Times without a success. */

/**
 * Longest time without a success between two times, in milliseconds of the same clock.
 * @param successes in ascending order; those outside of the period are left out
 */
export function longestGapMs(successes: readonly number[], from: number, to: number): number {
  let longest = 0;
  let last = from;
  for (const at of successes) {
    if (at < from || at > to) continue;
    longest = Math.max(longest, at - last);
    last = at;
  }
  return Math.max(longest, to - last);
}
