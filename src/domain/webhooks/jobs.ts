import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { type DeliveryRequest, deliverWebhook } from './delivery/deliver-webhook.ts';
import { findWebhookOfDelivery } from './delivery/repo.ts';
import { DeliverySlots } from './delivery/take-slot.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** One attempt of one delivery. `emit_event()` sends the first one in the transaction of the event. */
    'webhooks.deliver': DeliveryRequest;
  }
}

/**
 * The handler of `webhooks.deliver` for this instance. A webhook whose places are all taken has the job moved a little into the
 * future, so that a receiver that hangs does not hold up the others.
 */
export function createDeliveryHandler(app: App): (request: DeliveryRequest) => Promise<void> {
  const slots = new DeliverySlots();
  return async (request) => {
    const webhookId = await findWebhookOfDelivery(app.db, request.deliveryId);
    if (webhookId === null) return;
    const place = await slots.enter(webhookId);
    if (typeof place === 'number') {
      await app.jobs.send('webhooks.deliver', { ...request }, { startAfter: addMs(app.clock.now(), place) });
      return;
    }
    try {
      await deliverWebhook(app, request);
    } finally {
      place();
    }
  };
}
