import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { handleBotUpdate } from './deeplink-sign-in.ts';
import { mailPasswordReset } from './email/password.ts';

/**
 * Mails a reset link to this address (lower case) if it belongs to an account. A job, so that the request takes the same time for
 * every address.
 */
const passwordReset = defineJob({
  name: 'identity.password-reset',
  payload: z.object({ email: z.string() }),
  queue: { retryLimit: 3, concurrency: 1 },
  handle: (app, { data }) => mailPasswordReset(app, data.email),
});

const sender = z.object({
  messengerId: z.int(),
  username: z.string().nullable(),
  firstName: z.string(),
  lastName: z.string().nullable(),
  languageCode: z.string().nullable(),
});

/** Answers an update of the bot that is about signing in to the cabinet; the payload is the update as received. */
const botUpdate = defineJob({
  name: 'identity.bot-update',
  payload: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('message'),
      updateId: z.int(),
      chatId: z.int(),
      messageId: z.int(),
      from: sender,
      text: z.string(),
      startParameter: z.string().nullable(),
    }),
    z.object({
      kind: z.literal('callback'),
      updateId: z.int(),
      queryId: z.string(),
      fromMessengerId: z.int(),
      chatId: z.int().nullable(),
      messageId: z.int().nullable(),
      data: z.string(),
    }),
  ]),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handleBotUpdate(app, data),
});

export const identityJobs = [passwordReset, botUpdate];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'identity.password-reset': PayloadOf<typeof passwordReset>;
    'identity.bot-update': PayloadOf<typeof botUpdate>;
  }
}
