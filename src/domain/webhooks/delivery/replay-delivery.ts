import type { Actor } from '../../../core/actor.ts';
import { actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refuse } from '../../../core/errors.ts';
import { findDelivery } from '../repo.ts';
import type { WebhookDelivery } from '../types.ts';

/**
 * Sends a stored delivery again, also of a disabled webhook (spec 00, Outside effects). It is sent within a second under the same
 * `webhook-id`; two requests before that send it once. Its failure schedules no further attempt.
 * @returns the delivery before the attempt
 * @throws AppError 404 'Delivery not found'
 */
export async function replayDelivery(app: App, actor: Actor, deliveryId: number): Promise<WebhookDelivery> {
  return inTransaction(app, async (t) => {
    const delivery = await findDelivery(t.db, deliveryId);
    if (delivery === null) throw refuse('webhook_delivery_not_found', 404, 'Delivery not found');
    // Before the first attempt there is nothing to repeat; the second job is only a safeguard for the first.
    const afterAttempt = delivery.status === 'pending' ? undefined : delivery.attemptNumber;
    await t.jobs.send('webhooks.deliver', { deliveryId, afterAttempt });
    t.log.info({ deliveryId, actor: actorKey(actor) }, 'a webhook delivery is sent again by hand');
    return delivery;
  });
}
