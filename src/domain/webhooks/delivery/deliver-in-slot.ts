import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { type DeliveryRequest, deliverWebhook } from './deliver-webhook.ts';
import { findWebhookOfDelivery } from './repo.ts';
import { DeliverySlots } from './take-slot.ts';

/**
 * Makes the function that carries out deliveries on this instance. When a webhook has as many attempts running as it may have, its
 * job is sent again for a little later, so that a receiver that does not answer does not delay the deliveries to others.
 */
export function createDeliverer(): (app: App, request: DeliveryRequest) => Promise<void> {
  const slots = new DeliverySlots();
  return async (app, request) => {
    const webhookId = await findWebhookOfDelivery(app.db, request.deliveryId);
    if (webhookId === null) return;
    const slot = await slots.enter(webhookId);
    if (typeof slot === 'number') {
      await app.jobs.send('webhooks.deliver', { ...request }, { startAfter: addMs(app.clock.now(), slot) });
      return;
    }
    try {
      await deliverWebhook(app, request);
    } finally {
      slot();
    }
  };
}
