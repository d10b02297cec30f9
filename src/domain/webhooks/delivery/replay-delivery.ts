import type { Actor } from '../../../core/actor.ts';
import { actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refuse } from '../../../core/errors.ts';
import { findDelivery } from '../repo.ts';
import type { WebhookDelivery } from '../types.ts';

/**
 * Sends any kept delivery once more, also of a webhook that is switched off (spec 00, Outside effects). It goes out within a
 * second under the same `webhook-id`; asked for twice before it went, it goes once. Its failure schedules nothing.
 * @returns the delivery as it stands before the attempt
 * @throws AppError 404 'Delivery not found'
 */
export async function replayDelivery(app: App, actor: Actor, deliveryId: number): Promise<WebhookDelivery> {
  return inTransaction(app, async (t) => {
    const delivery = await findDelivery(t.db, deliveryId);
    if (delivery === null) throw refuse('webhook_delivery_not_found', 404, 'Delivery not found');
    // Before the first attempt there is nothing to repeat; a second job only makes sure that it comes.
    const afterAttempt = delivery.status === 'pending' ? undefined : delivery.attemptNumber;
    await t.jobs.send('webhooks.deliver', { deliveryId, afterAttempt });
    t.log.info({ deliveryId, actor: actorKey(actor) }, 'a webhook delivery is sent again by hand');
    return delivery;
  });
}
