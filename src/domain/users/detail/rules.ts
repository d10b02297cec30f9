/** Movements that an administrator sees as a loss of the user, however they are stored (spec 01 section 11.1). */
const DEBITS: ReadonlySet<string> = new Set(['withdrawal', 'subscription_payment', 'gift_payment']);

export function shownAmount(type: string, kopeks: number): number {
  return DEBITS.has(type) && kopeks !== 0 ? -Math.abs(kopeks) : kopeks;
}
