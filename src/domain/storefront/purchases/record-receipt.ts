import type { App } from '../../../core/app.ts';

/** Writes the tax receipt of the purchase that a payment paid for, or that it has none any more (null). Without a purchase nothing happens. */
export async function recordPurchaseReceipt(t: Pick<App, 'db'>, paymentId: number, uuid: string | null): Promise<void> {
  await t.db.prisma.guestPurchase.updateMany({ where: { paymentId }, data: { receiptUuid: uuid } });
}
