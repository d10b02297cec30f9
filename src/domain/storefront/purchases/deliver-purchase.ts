import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { notifyAdmins } from './notify-admins.ts';
import { notifyRecipient } from './notify-recipient.ts';
import { deliverGranted, readSurroundings } from './repo.ts';

/**
 * Delivers the granted purchases of a user or of a subscription, if the panel has given the links by now (spec 03 H7): state, links,
 * notices and mails in one transaction, once. It is called after each push of a subscription, and by the job `gifts.watch` in case
 * that call was lost.
 * @returns the number of purchases that this call delivered
 */
export async function deliverWaiting(app: App, by: { userId: number } | { subscriptionId: number }): Promise<number> {
  return inTransaction(app, async (t) => {
    const delivered = await deliverGranted(t.db, by, t.clock.now());
    for (const purchase of delivered) {
      const tariffName = (await readSurroundings(t.db, purchase.id)).tariffName ?? '';
      await notifyRecipient(t, purchase, 'delivered', tariffName);
      await notifyAdmins(t, purchase, 'admin_delivered', tariffName);
    }
    return delivered.length;
  });
}
