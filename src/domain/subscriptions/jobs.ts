import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { monitoringStep } from '../monitoring/monitoring-log.ts';
import { renewDue } from './autopay/renew-due.ts';
import { dailyServiceMs, runDailyService } from './daily.ts';
import { expireSubscriptions } from './expire-subscriptions.ts';
import { remindOwners } from './reminders/remind-owners.ts';
import { monitoringIntervalMs } from './settings.ts';

// All of spec 02 section 13.

/** Marks past subscriptions as expired. */
const expire = defineJob({
  name: 'subscriptions.expire',
  every: () => MINUTE_MS,
  handle: monitoringStep('expire', expireSubscriptions),
});

/** Renews from the balance the subscriptions that end soon and have autopay on. */
const autopay = defineJob({
  name: 'subscriptions.autopay',
  queue: { expireSeconds: 1800 },
  every: monitoringIntervalMs,
  handle: monitoringStep('autopay', renewDue),
});

/** Notifies owners whose subscription is about to end, and a day after it has ended. */
const remind = defineJob({
  name: 'subscriptions.remind',
  queue: { expireSeconds: 600 },
  every: monitoringIntervalMs,
  handle: monitoringStep('reminders', remindOwners),
});

/** Charges and resumes daily subscriptions, and removes purchased traffic that has expired. */
const daily = defineJob({
  name: 'subscriptions.daily',
  queue: { expireSeconds: 1800 },
  every: dailyServiceMs,
  handle: runDailyService,
});

export const subscriptionJobs = [expire, autopay, remind, daily];
