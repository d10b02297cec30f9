import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/committed-statement.ts';
import { openCase } from './open-case.ts';
import { reversalTitles } from './payment-texts.ts';
import type { ProviderReversal } from './ports.ts';
import { postReversal } from './reversal-repo.ts';
import type { Payment } from './types.ts';

/**
 * Applies what the provider says was given back or taken back of a payment, each reversal once (03a section 0.5). What went to the payer's
 * balance is debited, at most what the balance has; the rest is a case for an administrator. A payment that was never credited only changes
 * its state.
 */
export async function applyReversals(app: App, payment: Payment, reversals: readonly ProviderReversal[]): Promise<void> {
  for (const reversal of reversals) {
    const { outcome, remainderKopeks } = await committedStatement(app, () =>
      postReversal(app.db, {
        paymentId: payment.id,
        reversal,
        titles: reversalTitles(app, payment.method),
        now: app.clock.now(),
      }),
    );
    if (outcome !== 'reversed') continue;
    app.jobs.wake(['payments.after-reversal', ...(remainderKopeks > 0 ? (['payments.notify-case'] as const) : [])]);
    app.log.warn(
      { paymentId: payment.id, method: payment.method, userId: payment.userId, kind: reversal.kind, remainderKopeks },
      'a payment was reversed',
    );
  }
}

/** A reversal of a payment that is not stored here. */
export function raiseUnknownReversal(app: App, method: string, reversal: ProviderReversal, externalId: string): Promise<void> {
  return openCase(app, {
    kind: 'reversal_unknown',
    payment: { id: null, method, userId: null },
    reference: reversal.reversalId,
    amountKopeks: reversal.amountKopeks,
    details: { externalId, kind: reversal.kind },
  });
}
