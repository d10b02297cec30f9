import type { App } from '../../../core/app.ts';
import { insertCode } from './repo.ts';

export interface IssuedCode {
  /** As `normaliseCode` returns it. */
  code: string;
  balanceBonusKopeks: number;
  /** 0 = a code for money. */
  subscriptionDays: number;
  validUntil: Date;
  /** The user it is issued to; anyone may use it. */
  createdBy: number;
}

/** Issues a code that can be used once, in the caller's transaction. @returns its id; null when the text is taken */
export async function issuePromocode(t: App, { createdBy, ...code }: IssuedCode): Promise<number | null> {
  const now = t.clock.now();
  const type = code.subscriptionDays > 0 ? ('subscription_days' as const) : ('balance' as const);
  const rest = { maxUses: 1, validFrom: now, isActive: true, firstPurchaseOnly: false, promoGroupId: null };
  return (await insertCode(t.db, { ...code, ...rest, type }, createdBy, now))?.id ?? null;
}
