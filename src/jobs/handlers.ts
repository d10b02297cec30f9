import type { App } from '../core/app.ts';
import type { JobHandlers } from '../core/jobs/job-runner.ts';
import type { Metrics } from '../core/metrics.ts';
import { handlePasswordReset } from '../domain/identity/jobs.ts';
import { countTransactionsByDay } from '../domain/ledger/count-transactions.ts';
import { handleMailSend } from '../domain/messaging/jobs.ts';
import { handleMessengerSend } from '../domain/messaging/send-message.ts';
import { runLedgerCheck, runPurge } from '../domain/ops/jobs.ts';
import { checkPendingPayments, processCallback, runAfterTopup } from '../domain/payments/jobs.ts';
import { provisioningJobs } from '../domain/provisioning/jobs.ts';
import { expireSubscriptions } from '../domain/subscriptions/jobs.ts';
import { createDeliveryHandler } from '../domain/webhooks/jobs.ts';

/** Every queue of the catalogue with its handler on this instance. */
export function jobHandlers(app: App, metrics: Metrics): JobHandlers {
  const deliver = createDeliveryHandler(app);
  return {
    'provisioning.push': (job) => provisioningJobs['provisioning.push'](app, job),
    'provisioning.reconcile': () => provisioningJobs['provisioning.reconcile'](app),
    'provisioning.remove-user': (job) => provisioningJobs['provisioning.remove-user'](app, job),
    'provisioning.sync-squads': (job) => provisioningJobs['provisioning.sync-squads'](app, job),
    'webhooks.deliver': (job) => deliver(job.data),
    'payments.callback': (job) => processCallback(app, job.data),
    'payments.check-pending': () => checkPendingPayments(app),
    'payments.after-topup': (job) => runAfterTopup(app, job.data),
    'subscriptions.expire': async () => void (await expireSubscriptions(app)),
    'identity.password-reset': (job) => handlePasswordReset(app, job.data),
    'messenger.send': (job) => handleMessengerSend(app, job.data),
    'mail.send': (job) => handleMailSend(app, job.data),
    'ledger.count': () => countTransactionsByDay(app),
    'ledger.check': async () => metrics.recordLedgerCheck(await runLedgerCheck(app), app.clock.now()),
    'core.purge': () => runPurge(app),
  };
}
