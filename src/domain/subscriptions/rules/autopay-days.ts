/** Days before the end that are offered for autopay besides those in use. */
const OFFERED = [1, 3, 7, 14];

/** What may be picked as autopay's lead: the usual ones, the default and the current one, ascending (spec 02 section 12.2). */
export function autopayDayOptions(defaultDays: number, currentDays: number | null): number[] {
  const all = new Set([...OFFERED, defaultDays, ...(currentDays === null ? [] : [currentDays])]);
  return [...all].filter((days) => days > 0).sort((a, b) => a - b);
}
