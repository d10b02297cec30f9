import { beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { defineJob } from '../../../src/core/jobs/define-job.ts';
import { listMonitoringLog, monitoringStep, recordMonitoring } from '../../../src/domain/monitoring/monitoring-log.ts';
import { recordCycle } from '../../../src/domain/ops/monitoring-cycle.ts';
import { purgeExpired } from '../../../src/domain/ops/purge.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { renewDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { expireSubscriptions } from '../../../src/domain/subscriptions/expire-subscriptions.ts';
import { remindOwners } from '../../../src/domain/subscriptions/reminders/remind-owners.ts';
import { runNow } from '../../support/run-now.ts';
import { aBuyer, aStoredSubscription, aTariff } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

/** Spec 06 sections 8 and 14. */
let t: TestApp;
beforeEach(async () => {
  t = await testApp();
  await t.app.db.sql('DELETE FROM subscriptions');
  await t.app.db.sql('DELETE FROM monitoring_logs');
});

const inHours = (hours: number) => new Date(t.clock.now().getTime() + hours * HOUR_MS);

async function ending(hours: number, columns: Record<string, unknown> = {}, balanceKopeks = 0) {
  const buyer = await aBuyer(t.app, balanceKopeks);
  await aStoredSubscription(t.app, buyer.userId, { end_date: inHours(hours), ...columns });
}

async function rows(app: App = t.app) {
  const { items } = await listMonitoringLog(app, {}, { limit: 50, offset: 0 });
  return items.map(({ eventType, data, isSuccess }) => [eventType, data, isSuccess]).reverse();
}

test('subscriptions that ended: one row a run, none when there were none', async () => {
  await ending(-1);
  await ending(-2);
  await expireSubscriptions(t.app);
  await expireSubscriptions(t.app);
  expect(await rows()).toEqual([['expired_subscriptions_processed', { count: 2 }, true]]);
});

test('reminders: a row for each number of days, one for trials, one for the day after the end', async () => {
  for (const hours of [60, 70, 20]) await ending(hours);
  await ending(1, { is_trial: true });
  await ending(-25, { status: 'expired' });
  await remindOwners(t.app);
  await remindOwners(t.app);
  expect(await rows()).toEqual([
    ['expiring_notifications_sent', { days: 1, count: 1 }, true],
    ['expiring_notifications_sent', { days: 3, count: 2 }, true],
    ['trial_expiring_notifications_sent', { count: 1 }, true],
    ['expired_followups_sent', { day1: 1, wave2: 0, wave3: 0 }, true],
  ]);
});

test('autopay: renewed and not renewed', async () => {
  const base = { tariff_id: await aTariff(t.app), autopay_enabled: true };
  await ending(48, base, 70_000);
  await ending(48, base, 0);
  await renewDue(t.app);
  expect(await rows()).toEqual([['autopayments_processed', { processed: 1, failed: 1 }, true]]);
});

test('a cycle ends with its row, the first of an hour also says whether the panel answers', async () => {
  t.clock.set(new Date('2025-01-31T12:00:05Z'));
  const { panel } = t.app.ports;
  const withPanel = (getSystemStats: typeof panel.getSystemStats): App => ({
    ...t.app,
    ports: { ...t.app.ports, panel: { ...panel, configurationError: () => null, getSystemStats } },
  });
  const stats = { totalUsers: 3, onlineNow: 1, raw: { host: 'secret.example.com' } };
  await recordCycle(withPanel(async () => stats as never));
  await recordCycle(withPanel(() => Promise.reject(new PanelError('unavailable', 'VPN panel: no answer'))));
  const completed = ['monitoring_cycle_completed', { timestamp: '2025-01-31T12:00:05.000Z' }, true];
  expect(await rows()).toEqual([
    ['vpnpanel_sync', { stats: { totalUsers: 3, onlineNow: 1 } }, true],
    completed,
    ['vpnpanel_sync_error', { error: 'VPN panel: no answer' }, false],
    completed,
  ]);
});

test('a step that fails is recorded by its name and the kind of failure, without the text of the error, and fails', async () => {
  const failing = defineJob({
    name: 'test.step',
    handle: monitoringStep('expire', async () => {
      throw Object.assign(new Error('at host 10.0.0.1: SELECT secret'), { code: '57014' });
    }),
  });
  await expect(runNow(t.app, failing, {})).rejects.toThrow('10.0.0.1');
  expect((await rows()).at(-1)).toEqual(['monitoring_cycle_error', { error: 'expire: Error 57014' }, false]);
});

test('a row of a rolled back transaction does not exist', async () => {
  const failed = inTransaction(t.app, async (tx) => {
    await recordMonitoring(tx, 'ticket_sla_reminders_sent', { count: 1 });
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  expect(await rows()).toEqual([]);
});

test.each([
  ['30', [29]],
  ['0', [31, 29]],
])('rows older than MONITORING_LOGS_RETENTION_DAYS=%s are purged', async (days, remaining) => {
  const { app, clock } = await testApp({ environment: { MONITORING_LOGS_RETENTION_DAYS: days } });
  const now = clock.now();
  for (const age of [31, 29]) {
    clock.set(new Date(now.getTime() - age * 24 * HOUR_MS));
    await recordMonitoring(app, 'ticket_sla_reminders_sent', { count: age });
  }
  clock.set(now);
  await purgeExpired(app);
  expect((await rows(app)).map(([, data]) => (data as { count: number }).count)).toEqual(remaining);
});
