import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { tellAdmins } from './notify-admins.ts';
import { tellRecipient } from './notify-recipient.ts';
import { deliverGranted, readSurroundings } from './repo.ts';

/**
 * Delivers what was granted to a user, or by a subscription, if the panel has given the links by now (spec 03 H7): state, links,
 * notices and mails in one transaction, once. To be called after each push of a subscription, and by the watch for pushes whose call
 * was lost.
 * @returns how many purchases this call delivered
 */
export async function deliverWaiting(app: App, by: { userId: number } | { subscriptionId: number }): Promise<number> {
  return inTransaction(app, async (t) => {
    const delivered = await deliverGranted(t.db, by, t.clock.now());
    for (const purchase of delivered) {
      const tariffName = (await readSurroundings(t.db, purchase.id)).tariffName ?? '';
      await tellRecipient(t, purchase, 'delivered', tariffName);
      await tellAdmins(t, purchase, 'admin_delivered', tariffName);
    }
    return delivered.length;
  });
}
