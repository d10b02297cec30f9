import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { AttemptSlots } from '../../core/jobs/attempt-slots.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { type DeliveryRequest, deliverWebhook } from './deliver-webhook.ts';
import { findWebhookOfDelivery } from './delivery-repo.ts';

/**
 * Makes the function that carries out deliveries on this instance. When a webhook has its maximum of running attempts, the job is sent
 * again for a little later, so that a receiver that does not answer does not delay the deliveries to others.
 */
export function createDeliverer(): (app: App, request: DeliveryRequest) => Promise<void> {
  const slots = new AttemptSlots();
  return async (app, request) => {
    const webhookId = await findWebhookOfDelivery(app.db, request.deliveryId);
    if (webhookId === null) return;
    const slot = await slots.acquire(webhookId);
    if (typeof slot === 'number') {
      await app.jobs.send('webhooks.deliver', { ...request }, { startAfter: addMs(app.clock.now(), slot) });
      return;
    }
    try {
      await deliverWebhook(app, request, slot.measure);
    } finally {
      slot.release();
    }
  };
}

/**
 * One attempt of one delivery; `emit_event()` sends the first one in the transaction of the event. The retries of a delivery are
 * scheduled in its row; those of the queue are only for failures of the service itself.
 */
function deliverWebhookJob() {
  const deliver = createDeliverer();
  return defineJob({
    name: 'webhooks.deliver',
    payload: z.object({
      deliveryId: z.int(),
      /** Set for a replay by hand: the number of the last attempt at the time of the request. */
      afterAttempt: z.int().optional(),
    }),
    // An attempt takes 10 s at most, and its claim ends after a minute: then another worker takes over from one that was killed.
    queue: { retryLimit: 5, retryDelaySeconds: 5, concurrency: 10, expireSeconds: 60 },
    handle: (app, { data }) => deliver(app, data),
  });
}

/** The jobs of one instance, which limits the attempts that it makes to one webhook at the same time. */
export const webhookJobs = () => [deliverWebhookJob()];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'webhooks.deliver': PayloadOf<typeof deliverWebhookJob>;
  }
}
