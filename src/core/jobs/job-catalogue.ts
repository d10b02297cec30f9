/**
 * The queues of the service. `short`: at most one waiting job a `singletonKey`. Retries are pg-boss's own: exponential from
 * `retryDelaySeconds`; after `retryLimit` the job is kept as failed for a person.
 */
export interface QueueDefinition {
  policy: 'standard' | 'short';
  retryLimit: number;
  retryDelaySeconds: number;
  /** An unfinished job of a dead process is handed out again after this time. */
  expireSeconds: number;
  /** Jobs of this queue that one instance runs at the same time. */
  concurrency: number;
}

const usual: QueueDefinition = { policy: 'standard', retryLimit: 10, retryDelaySeconds: 2, expireSeconds: 120, concurrency: 4 };

export const QUEUES = {
  /** Sends one webhook delivery; its own schedule of retries stands in the delivery row. */
  'webhooks.deliver': { ...usual, retryLimit: 5, retryDelaySeconds: 5, concurrency: 10 },
  /** Brings one subscription's panel user in step with the subscription row. */
  'provisioning.push': { ...usual, policy: 'short', retryLimit: 20, concurrency: 5 },
  /** Finds subscriptions whose push was lost or gave up, and sends them again. */
  'provisioning.reconcile': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Deletes or disables the panel user of an account that is gone. */
  'provisioning.remove-user': { ...usual, policy: 'short', concurrency: 2 },
  /** Removes the panel user that an account merge left without an owner; patient, for nobody else looks after it. */
  'merge.panel': { ...usual, retryLimit: 15, concurrency: 2 },
  /** Tells the panel the squads of every subscription of a tariff whose servers changed. */
  'provisioning.sync-squads': {
    ...usual,
    policy: 'short',
    retryLimit: 5,
    retryDelaySeconds: 30,
    expireSeconds: 3600,
    concurrency: 1,
  },
  /** Processes one stored provider callback. */
  'payments.callback': { ...usual, retryLimit: 15, concurrency: 5 },
  /** Asks providers about pending payments. */
  'payments.check-pending': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** After a top-up: cart chain and notices (spec 03 section 2.2, steps 5 and 6). */
  'payments.after-topup': { ...usual, concurrency: 4 },
  /** Looks an address up and mails the reset link, away from the request so that all addresses take the same time. */
  'identity.password-reset': { ...usual, retryLimit: 3, concurrency: 1 },
  /** Answers an update of the bot that is about signing in to the cabinet. */
  'identity.bot-update': { ...usual, retryLimit: 5, concurrency: 4 },
  /** Delivers what a "send" of a poll has left to the background. */
  'games.deliver-poll': { ...usual, retryDelaySeconds: 30, expireSeconds: 3600, concurrency: 1 },
  /** Reminds the administrators' chat of tickets that wait for an answer; what was reminded of stands in the rows. */
  'tickets.remind-overdue': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Gives a user the promo group that the total spent has earned (spec 04 section 8.3). */
  'promo.assign-group': { ...usual, policy: 'short', concurrency: 2 },
  /** Works on a pressed button of a poll. */
  'games.poll-press': { ...usual, retryLimit: 5 },
  'mail.send': { ...usual, retryLimit: 12, retryDelaySeconds: 10, concurrency: 2 },
  'messenger.send': { ...usual, retryLimit: 8, retryDelaySeconds: 5, concurrency: 4 },
  /** Marks past subscriptions expired (spec 02 section 13). */
  'subscriptions.expire': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Counts transactions by day, for the totals of lists. */
  'ledger.count': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  'ledger.check': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** Fetches the published blacklist when it is due; its own pauses stand in the state. */
  'safety.refresh-blacklist': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Looks at the panel for the maintenance mode (spec 06 section 14). */
  'safety.watch-panel': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Deletes rows past their keep: idempotency keys, rate windows, short-lived entries, events, deliveries, dead sessions. */
  'core.purge': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
} as const satisfies Record<string, QueueDefinition>;

export type QueueName = keyof typeof QUEUES;
