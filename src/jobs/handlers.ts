import type { App } from '../core/app.ts';
import type { JobHandlers } from '../core/jobs/job-runner.ts';
import type { Metrics } from '../core/metrics.ts';
import { deliverPoll, handlePollPress, wheelStars } from '../domain/engagement/jobs.ts';
import { handleBotUpdate } from '../domain/identity/deeplink/handle-bot-update.ts';
import { handlePasswordReset } from '../domain/identity/jobs.ts';
import { countTransactionsByDay } from '../domain/ledger/count-transactions.ts';
import { removeAbandonedPanelUser } from '../domain/merge/jobs.ts';
import { handleMailSend } from '../domain/messaging/jobs.ts';
import { handleMessengerSend } from '../domain/messaging/send-message.ts';
import { runLedgerCheck, runPurge } from '../domain/ops/jobs.ts';
import { checkPendingPayments, processCallback, runAfterTopup } from '../domain/payments/jobs.ts';
import { continueBroadcast, expirePromo, handleOfferPress, offerWinBacks } from '../domain/promo/offers/jobs.ts';
import { assignGroupBySpending } from '../domain/promo-groups/jobs.ts';
import { provisioningJobs } from '../domain/provisioning/jobs.ts';
import { accrueReward } from '../domain/referrals/jobs.ts';
import { safetyJobs } from '../domain/safety/jobs.ts';
import { deliverWaiting, fulfilPurchase, guestPurchases, handleGiftPress, watchPurchases } from '../domain/storefront/jobs.ts';
import { expireSubscriptions, remindOwners, renewDue, runDailyService } from '../domain/subscriptions/jobs.ts';
import { remindOverdueTickets } from '../domain/tickets/jobs.ts';
import { usersJobs } from '../domain/users/jobs.ts';
import { createDeliveryHandler } from '../domain/webhooks/jobs.ts';

/** Every queue of the catalogue with its handler on this instance. */
export function jobHandlers(app: App, metrics: Metrics): JobHandlers {
  const deliver = createDeliveryHandler(app);
  return {
    'provisioning.push': async (job) => {
      await provisioningJobs['provisioning.push'](app, job);
      // A purchase may have waited for the links that the panel has just given.
      await deliverWaiting(app, { subscriptionId: job.data.subscriptionId });
    },
    'provisioning.reconcile': () => provisioningJobs['provisioning.reconcile'](app),
    'provisioning.remove-user': (job) => provisioningJobs['provisioning.remove-user'](app, job),
    'provisioning.sync-squads': (job) => provisioningJobs['provisioning.sync-squads'](app, job),
    'provisioning.continue': (job) => provisioningJobs['provisioning.continue'](app, job),
    'provisioning.watch-runs': () => provisioningJobs['provisioning.watch-runs'](app),
    'merge.panel': (job) => removeAbandonedPanelUser(app, job.data),
    'webhooks.deliver': (job) => deliver(job.data),
    'payments.callback': (job) => processCallback(app, job.data, [wheelStars], [guestPurchases]),
    'gifts.fulfil': (job) => fulfilPurchase(app, job.data),
    'gifts.watch': () => watchPurchases(app),
    'gifts.press': (job) => handleGiftPress(app, job.data),
    'payments.check-pending': () => checkPendingPayments(app),
    'payments.after-topup': (job) => runAfterTopup(app, job.data),
    'referrals.accrue': (job) => accrueReward(app, job.data),
    'subscriptions.expire': async () => void (await expireSubscriptions(app)),
    'subscriptions.autopay': () => renewDue(app),
    'subscriptions.remind': async () => void (await remindOwners(app)),
    'subscriptions.daily': () => runDailyService(app),
    'identity.password-reset': (job) => handlePasswordReset(app, job.data),
    'identity.bot-update': (job) => handleBotUpdate(app, job.data),
    'games.deliver-poll': (job) => deliverPoll(app, job.data, job.signal),
    'tickets.remind-overdue': async () => void (await remindOverdueTickets(app)),
    'promo.assign-group': (job) => assignGroupBySpending(app, job.data),
    'promo.offer-broadcast': (job) => continueBroadcast(app, job),
    'promo.offer-press': (job) => handleOfferPress(app, job.data),
    'promo.expire': async () => void (await expirePromo(app)),
    'promo.win-back': async () => void (await offerWinBacks(app)),
    'games.poll-press': (job) => handlePollPress(app, job.data),
    'messenger.send': (job) => handleMessengerSend(app, job.data),
    'users.import-from-panel': (job) => usersJobs['users.import-from-panel'](app, job.data),
    'users.delete-inactive': (job) => usersJobs['users.delete-inactive'](app, job),
    'mail.send': (job) => handleMailSend(app, job.data),
    'ledger.count': () => countTransactionsByDay(app),
    'ledger.check': async () => metrics.recordLedgerCheck(await runLedgerCheck(app), app.clock.now()),
    'safety.refresh-blacklist': () => safetyJobs['safety.refresh-blacklist'](app),
    'safety.refresh-disposable-domains': () => safetyJobs['safety.refresh-disposable-domains'](app),
    'safety.watch-panel': () => safetyJobs['safety.watch-panel'](app),
    'core.purge': () => runPurge(app),
  };
}
