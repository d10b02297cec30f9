/**
 * The queues of the service. `short`: at most one waiting job a `singletonKey`. Retries are pg-boss's own: exponential from
 * `retryDelaySeconds`; after `retryLimit` the job is kept as failed for a person.
 */
export interface QueueDefinition {
  policy: 'standard' | 'short';
  retryLimit: number;
  retryDelaySeconds: number;
  /** Where the doubling of the delay ends; left out, it ends after the 16th try only. */
  retryDelayMaxSeconds?: number;
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
  /**
   * Deletes or disables the panel user of an account that is gone. Nobody else looks after it, so it is tried for more than a week,
   * from some hours on every 6 hours; a job that waits for 14 days is thrown away.
   */
  'provisioning.remove-user': { ...usual, policy: 'short', retryLimit: 50, retryDelayMaxSeconds: 6 * 3600, concurrency: 2 },
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
  /** Goes on with long work at the panel (squad migration, synchronisation) where its last worker stopped. */
  'provisioning.continue': { ...usual, policy: 'short', retryDelaySeconds: 5, expireSeconds: 300, concurrency: 2 },
  /** Finds long work whose worker died, and starts the automatic synchronisation when it is due. */
  'provisioning.watch-runs': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Processes one stored provider callback. */
  'payments.callback': { ...usual, retryLimit: 15, concurrency: 5 },
  /** Asks providers about pending payments. */
  'payments.check-pending': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** After a top-up: cart chain and notices (spec 03 section 2.2, steps 5 and 6). */
  'payments.after-topup': { ...usual, concurrency: 4 },
  /** Pays referral rewards for one payment (spec 04 section 1.3). */
  'referrals.accrue': { ...usual, retryLimit: 15 },
  /** Looks an address up and mails the reset link, away from the request so that all addresses take the same time. */
  'identity.password-reset': { ...usual, retryLimit: 3, concurrency: 1 },
  /** Answers an update of the bot that is about signing in to the cabinet. */
  'identity.bot-update': { ...usual, retryLimit: 5, concurrency: 4 },
  /** Does what a "send" of a poll has left to the background; a run ends after some minutes and sends the next one. */
  'games.deliver-poll': { ...usual, retryDelaySeconds: 30, expireSeconds: 900, concurrency: 1 },
  /** Reminds the administrators' chat of tickets that wait for an answer; what was reminded of stands in the rows. */
  'tickets.remind-overdue': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Gives a user the promo group that the total spent has earned (spec 04 section 8.3). */
  'promo.assign-group': { ...usual, policy: 'short', concurrency: 2 },
  /** Finishes the offers of a broadcast and sends its messages; a run ends after some minutes and sends the next one. */
  'promo.offer-broadcast': { ...usual, retryDelaySeconds: 30, expireSeconds: 900, concurrency: 1 },
  /** Works on a pressed button under an offer. */
  'promo.offer-press': { ...usual, retryLimit: 5 },
  /** Ends offers, personal discounts and lent servers (spec 04 section 15). */
  'promo.expire': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** Offers discounts to users whose subscription ended some days ago (spec 04 section 15). */
  'promo.win-back': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** Works on a pressed button of a poll. */
  'games.poll-press': { ...usual, retryLimit: 5 },
  /** Gives a paid guest purchase to its recipient; the watch tries on when the queue has given up. */
  'gifts.fulfil': { ...usual, retryLimit: 5 },
  /** Looks after guest purchases: lost callbacks, unpaid ones, tries that are due (spec 03 section 8.4). */
  'gifts.watch': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** Works on a pressed button of a gift. */
  'gifts.press': { ...usual, retryLimit: 5 },
  /** Looks at the panel for the subscription of a proved e-mail; patient, for nobody asks again. */
  'users.import-from-panel': { ...usual, policy: 'short', retryLimit: 12, retryDelaySeconds: 30, concurrency: 2 },
  /** Marks users deleted who were not seen for months; what is left over waits for the next night. */
  'users.delete-inactive': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 3600, concurrency: 1 },
  'mail.send': { ...usual, retryLimit: 12, retryDelaySeconds: 10, concurrency: 2 },
  'messenger.send': { ...usual, retryLimit: 8, retryDelaySeconds: 5, concurrency: 4 },
  /** Marks past subscriptions expired (spec 02 section 13). */
  'subscriptions.expire': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Renews from the balance what ends soon and has autopay on (spec 02 section 13). */
  'subscriptions.autopay': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 1800, concurrency: 1 },
  /** Says that subscriptions are about to end, and a day later that they have ended (spec 02 section 13). */
  'subscriptions.remind': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** Charges and resumes daily subscriptions, ends bought traffic (spec 02 section 13). */
  'subscriptions.daily': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 1800, concurrency: 1 },
  /** Counts transactions by day, for the totals of lists. */
  'ledger.count': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  'ledger.check': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
  /** Fetches the published blacklist when it is due; its own pauses stand in the state. */
  'safety.refresh-blacklist': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Fetches the published list of throw-away mail domains when it is due; its own pauses stand in the state. */
  'safety.refresh-disposable-domains': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Looks at the panel for the maintenance mode (spec 06 section 14). */
  'safety.watch-panel': { ...usual, policy: 'short', retryLimit: 0, concurrency: 1 },
  /** Deletes rows past their keep: idempotency keys, rate windows, short-lived entries, events, deliveries, dead sessions. */
  'core.purge': { ...usual, policy: 'short', retryLimit: 0, expireSeconds: 600, concurrency: 1 },
} as const satisfies Record<string, QueueDefinition>;

export type QueueName = keyof typeof QUEUES;
