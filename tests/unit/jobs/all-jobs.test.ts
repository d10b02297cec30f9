import { describe, expect, expectTypeOf, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/clock.ts';
import type { PayloadOf } from '../../../src/core/jobs/define-job.ts';
import type { JobTypes } from '../../../src/core/jobs/job-sender.ts';
import { allJobs } from '../../../src/jobs/all-jobs.ts';

const jobs = allJobs();

type Listed = (typeof jobs)[number];
type Payloads = { [Job in Listed as Job['name']]: PayloadOf<Job> };

describe('the jobs of all modules', () => {
  it('have unique names and a handler each', () => {
    const names = jobs.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, handle } of jobs) {
      expect(name).toMatch(/^[a-z]+\.[a-z]+(-[a-z]+)*$/);
      expect(handle).toBeTypeOf('function');
    }
  });

  it('are all that can be sent, with the payloads of their definitions', () => {
    expectTypeOf<Exclude<keyof JobTypes, Listed['name']>>().toBeNever();
    expectTypeOf<Pick<Payloads, keyof JobTypes>>().toEqualTypeOf<{ [Name in keyof JobTypes]: JobTypes[Name] }>();
  });

  it('cannot be sent by an unknown name or with another payload', () => {
    const send = (app: App) => [
      app.jobs.send('mail.send', { mailId: 1 }),
      // @ts-expect-error no module defines it
      app.jobs.send('no.such.queue', {}),
      // @ts-expect-error the id of another thing
      app.jobs.send('mail.send', { userId: 1 }),
      // @ts-expect-error the payload is missing
      app.jobs.send('mail.send'),
    ];
    expect(send).toBeTypeOf('function');
  });

  it('run at their intervals where they have a schedule', () => {
    const values: Record<string, number> = {
      MONITORING_INTERVAL: 7,
      DAILY_SUBSCRIPTIONS_CHECK_INTERVAL_MINUTES: 30,
      PAYMENT_VERIFICATION_AUTO_CHECK_INTERVAL_MINUTES: 0,
      SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS: 1,
      MAINTENANCE_CHECK_INTERVAL: 45,
      NALOGO_QUEUE_CHECK_INTERVAL: 300,
      // Spec 10 O4.
      VERSION_CHECK_INTERVAL_HOURS: 6,
    };
    const app = { settings: { get: (key: string) => values[key] } } as unknown as App;
    const scheduled = jobs.filter(({ every }) => every !== null);
    expect(Object.fromEntries(scheduled.map(({ name, every }) => [name, every!(app)]))).toEqual({
      'access.link-audit-log': MINUTE_MS,
      'approvals.end-overdue': 5 * MINUTE_MS,
      'backups.drill': 10 * MINUTE_MS,
      'backups.schedule': MINUTE_MS,
      'insight.count-sales': MINUTE_MS,
      'insight.send-report': MINUTE_MS,
      'users.notify-low-balances': 5 * MINUTE_MS,
      'provisioning.reconcile': 30 * SECOND_MS,
      'messaging.sweep-sends': 30 * SECOND_MS,
      'engagement.rotate-rounds': MINUTE_MS,
      'engagement.send-summaries': MINUTE_MS,
      'provisioning.watch-runs': MINUTE_MS,
      'subscriptions.expire': MINUTE_MS,
      'subscriptions.autopay': 7 * MINUTE_MS,
      'subscriptions.remind': 7 * MINUTE_MS,
      'subscriptions.daily': 30 * MINUTE_MS,
      'promo.expire': MINUTE_MS,
      'promo.win-back': 7 * MINUTE_MS,
      'payments.check-pending': MINUTE_MS,
      'payments.reconcile-stars': 10 * MINUTE_MS,
      'payments.read-limits': 15 * MINUTE_MS,
      'payments.notify-unconfirmed': HOUR_MS,
      'ops.monitoring-cycle': 7 * MINUTE_MS,
      'ops.vacuum': 10 * MINUTE_MS,
      'ops.partitions': 6 * HOUR_MS,
      'persons.sweep': MINUTE_MS,
      'payments.charge-cards': 7 * MINUTE_MS,
      'tickets.remind-overdue': 10 * SECOND_MS,
      'gifts.watch': 5 * MINUTE_MS,
      'receipts.work': 5 * MINUTE_MS,
      'receipts.find-missing': HOUR_MS,
      'rates.fetch': DAY_MS,
      'ledger.count': MINUTE_MS,
      'ledger.check': HOUR_MS,
      'safety.refresh-disposable-domains': 5 * MINUTE_MS,
      'safety.check-channels': MINUTE_MS,
      'safety.watch-panel': 45 * SECOND_MS,
      'updates.check': 6 * HOUR_MS,
      'traffic.fast-check': 10 * MINUTE_MS,
      'traffic.daily-check': MINUTE_MS,
      'traffic.send-alarms': MINUTE_MS,
      'users.delete-inactive': HOUR_MS,
      'media.purge': DAY_MS,
      'core.purge': HOUR_MS,
    });
    // A second job of a round is not stored.
    for (const { queue } of scheduled) expect(queue).toMatchObject({ policy: 'short', concurrency: 1 });
  });
});
