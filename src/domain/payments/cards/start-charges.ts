import type { App } from '../../../core/app.ts';
import { retried } from '../../../core/db/retried.ts';
import { listUnpaidRenewals, type RenewalCursor } from '../../subscriptions/autopay/unpaid-renewals.ts';
import { chargeDay, daysBeforeEnd } from './charge-plan.ts';
import { openCharge } from './charge-repo.ts';

/** The provider that saves cards. */
export const CARD_PROVIDER = 'yookassa';

/** Whether saved cards are charged at all (spec 03 section 5.2). */
export function areCardsCharged(app: App): boolean {
  const { settings } = app;
  return (
    settings.get('ENABLE_AUTOPAY') &&
    settings.get('YOOKASSA_RECURRENT_ENABLED') &&
    (app.ports.payments.byMethod(CARD_PROVIDER)?.isConfigured() ?? false)
  );
}

/**
 * Opens today's charges of saved cards (job `payments.charge-cards`): for renewals that lack money, on the days of the plan
 * (`CARD_CHARGE_DAYS`). One charge a subscription and day, by a unique key, however many instances look.
 */
export async function startCharges(app: App): Promise<void> {
  if (!areCardsCharged(app)) return;
  let after: RenewalCursor | null = null;
  do {
    const page: Awaited<ReturnType<typeof listUnpaidRenewals>> = await listUnpaidRenewals(app, after);
    for (const { subscriptionId, endDate } of page.items) {
      const now = app.clock.now();
      if (!app.env.cardChargeDays.includes(daysBeforeEnd(endDate, now))) continue;
      await retried(app, () => openCharge(app.db, subscriptionId, chargeDay(now), now));
    }
    after = page.next;
  } while (after !== null);
  app.jobs.wake(['payments.charge-card']);
}
