import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { findUserById } from '../identity/find-user.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { lockUserSubscription } from '../subscriptions/manual/manual-changes.ts';

/**
 * Has the panel know a user by the e-mail that he has just proved or changed to: the panel finds people by it, and the old address may
 * be another person's by now. The push sends it; whoever has no panel user yet gets it there with the creation.
 */
export async function tellPanelOfEmail(app: App, userId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const held = await lockUserSubscription(t, userId);
    const user = await findUserById(t, userId);
    if (held && user?.vpnpanelUuid && user.emailVerified) await requestProvisioning(t, held.id);
  });
}
