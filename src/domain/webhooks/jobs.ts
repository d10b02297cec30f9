import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { createDeliverer } from './delivery/deliver-in-slot.ts';

/**
 * One attempt of one delivery; `emit_event()` sends the first one in the transaction of the event. The retries of a delivery are
 * scheduled in its row; those of the queue are only for failures of the service itself.
 */
export function deliverWebhookJob() {
  const deliver = createDeliverer();
  return defineJob({
    name: 'webhooks.deliver',
    payload: z.object({
      deliveryId: z.int(),
      /** Set for a replay by hand: the number of the last attempt at the time of the request. */
      afterAttempt: z.int().optional(),
    }),
    queue: { retryLimit: 5, retryDelaySeconds: 5, concurrency: 10 },
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
