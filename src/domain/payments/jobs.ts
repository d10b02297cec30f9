import { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { monitoringStep } from '../monitoring/monitoring-log.ts';
import { runAfterTopup } from './after-topup.ts';
import { chargeCards, startCharges } from './card-charges.ts';
import { checkAfterOutage, checkPendingPayments, notifyUnconfirmed } from './check-payments.ts';
import { notifyCase } from './open-case.ts';
import { processCallback } from './process-callback.ts';
import { readProviderLimits } from './provider-limits.ts';
import type { PaymentPurpose, StarsPurpose } from './purpose-payment.ts';
import { reconcileStars } from './reconcile-stars.ts';
import { runSendRefund } from './refunds.ts';
import { runAfterReversal } from './reversals.ts';

/** What payments are for besides top-ups of the balance; defined by later modules. */
export interface PaymentPurposes {
  stars: readonly StarsPurpose[];
  invoices: readonly PaymentPurpose[];
}

/** Processes one stored provider callback. Many retries, since a provider may be unavailable for a while; more workers than one provider gets (`ask-slots.ts`). */
const callback = (purposes: PaymentPurposes) =>
  defineJob({
    name: 'payments.callback',
    payload: z.object({ callbackId: z.int() }),
    queue: { retryLimit: 15, concurrency: 8 },
    handle: (app, { data }) => processCallback(app, data, purposes.stars, purposes.invoices),
  });

/** Asks providers about pending payments and expires those that nobody paid. */
const checkPending = (purposes: PaymentPurposes) =>
  defineJob({
    name: 'payments.check-pending',
    queue: { expireSeconds: 600 },
    every: (app) => Math.max(1, app.settings.get('PAYMENT_VERIFICATION_AUTO_CHECK_INTERVAL_MINUTES')) * MINUTE_MS,
    handle: (app) => checkPendingPayments(app, purposes.invoices),
  });

/** Asks providers for the invoices that were open during an outage. Many retries: the provider may be away, too. */
const checkOutage = (purposes: PaymentPurposes) =>
  defineJob({
    name: 'payments.check-after-outage',
    payload: z.object({ from: z.iso.datetime(), to: z.iso.datetime() }),
    queue: { retryLimit: 15, retryDelaySeconds: 10, retryDelayMaxSeconds: 600, expireSeconds: 1_800, concurrency: 1 },
    handle: (app, { data }) => checkAfterOutage(app, { from: new Date(data.from), to: new Date(data.to) }, purposes.invoices),
  });

/** Finds payments in Stars and refunds whose updates were lost. */
const starsTransfers = defineJob({
  name: 'payments.reconcile-stars',
  queue: { expireSeconds: 600 },
  every: () => 10 * MINUTE_MS,
  handle: reconcileStars,
});

/** Reads the limits of providers that set some by themselves. */
const limits = defineJob({
  name: 'payments.read-limits',
  queue: { expireSeconds: 300 },
  every: () => 15 * MINUTE_MS,
  handle: readProviderLimits,
});

/** Tells the administrators about providers in use whose interface no public document confirms. */
const unconfirmed = defineJob({
  name: 'payments.notify-unconfirmed',
  every: () => HOUR_MS,
  handle: notifyUnconfirmed,
});

/** What follows a credited top-up and must not delay it: the message to the payer and the cart (spec 03 section 2.2, steps 5 and 6). */
const afterTopup = defineJob({
  name: 'payments.after-topup',
  payload: z.object({ paymentId: z.int() }),
  handle: (app, { data }) => runAfterTopup(app, data),
});

/** Tells the administrators about a payment that needs their decision. */
const caseNotice = defineJob({
  name: 'payments.notify-case',
  payload: z.object({ caseId: z.int() }),
  handle: (app, { data }) => notifyCase(app, data),
});

/** What follows a reversal (03a section 0.5): what the money had bought, and the message to the payer. */
const afterReversal = (purposes: PaymentPurposes) =>
  defineJob({
    name: 'payments.after-reversal',
    payload: z.object({ reversalId: z.int() }),
    handle: (app, { data }) => runAfterReversal(app, data, purposes.invoices),
  });

/** Asks the provider for a refund that an administrator requested. Many retries: a provider may be away for hours; then it asks on, rarely. */
const refund = defineJob({
  name: 'payments.send-refund',
  payload: z.object({ reversalId: z.int() }),
  queue: { retryLimit: 15 },
  handle: (app, { data, isLastTry = false }) => runSendRefund(app, data, isLastTry),
});

/** Charges the saved cards of one owner for one renewal. */
const cardCharge = defineJob({
  name: 'payments.charge-card',
  payload: z.object({ chargeId: z.int() }),
  queue: { retryLimit: 15 },
  handle: (app, { data }) => chargeCards(app, data),
});

/** Opens the charges of saved cards that are planned for today. */
const cardCharges = defineJob({
  name: 'payments.charge-cards',
  queue: { expireSeconds: 1_800 },
  every: (app) => Math.max(1, app.settings.get('MONITORING_INTERVAL')) * MINUTE_MS,
  handle: monitoringStep('saved cards', startCharges),
});

export const paymentJobs = (purposes: PaymentPurposes) => [
  callback(purposes),
  checkPending(purposes),
  checkOutage(purposes),
  starsTransfers,
  limits,
  unconfirmed,
  afterTopup,
  caseNotice,
  afterReversal(purposes),
  refund,
  cardCharge,
  cardCharges,
];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'payments.callback': PayloadOf<typeof callback>;
    'payments.check-after-outage': PayloadOf<typeof checkOutage>;
    'payments.after-topup': PayloadOf<typeof afterTopup>;
    'payments.notify-case': PayloadOf<typeof caseNotice>;
    'payments.after-reversal': PayloadOf<typeof afterReversal>;
    'payments.send-refund': PayloadOf<typeof refund>;
    'payments.charge-card': PayloadOf<typeof cardCharge>;
  }
}
