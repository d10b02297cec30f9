import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { deliverMail } from './send-mail.ts';
import { deliverMessage } from './send-message.ts';

/** Sends one row of `outgoing_mails`, so that the job contains no address and no text. */
const sendMail = defineJob({
  name: 'mail.send',
  payload: z.object({ mailId: z.int() }),
  queue: { retryLimit: 12, retryDelaySeconds: 10, concurrency: 2 },
  handle: (app, { data }) => deliverMail(app, data),
});

const button = z.union([
  z.object({ text: z.string(), url: z.string() }),
  z.object({ text: z.string(), webAppUrl: z.string() }),
  z.object({ text: z.string(), callbackData: z.string() }),
]);

/** Sends one message to a user or a chat; `html` is finished text without secrets. */
const sendMessage = defineJob({
  name: 'messenger.send',
  payload: z.object({
    messengerId: z.int(),
    html: z.string(),
    buttons: z.array(z.array(button).readonly()).readonly().optional(),
    threadId: z.int().optional(),
    photoFileId: z.string().optional(),
    onceKey: z.string().optional(),
  }),
  queue: { retryLimit: 8, retryDelaySeconds: 5 },
  handle: (app, { data }) => deliverMessage(app, data),
});

export const messagingJobs = [sendMail, sendMessage];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'mail.send': PayloadOf<typeof sendMail>;
    'messenger.send': PayloadOf<typeof sendMessage>;
  }
}
