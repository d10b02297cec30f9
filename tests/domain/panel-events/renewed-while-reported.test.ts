/** A renewal and the panel's report of the end at the same time, by two clocks (spec 06 section 17, hazard 7). */
import { expect, it } from 'vitest';
import { addDays, MINUTE_MS, SECOND_MS } from '../../../src/core/clock.ts';
import { refreshSubscription } from '../../../src/domain/panel-events/process-event.ts';
import { renewDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { changeUserStatus } from '../../../src/domain/users/account/change-account.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import { aProvisioned, deliver, PANEL_WEBHOOK_ON, panelBody, userData } from '../../support/panel-events.ts';
import { runPanelJobs } from '../../support/panel-jobs.ts';
import { jobsOf, readRow, withPanel } from '../../support/provisioning-setup.ts';
import { aTariff, topUp } from '../../support/sale-samples.ts';
import { push } from '../provisioning/panel-sync/setup.ts';

it('the end that the panel reported with a clock ahead does not take the paid term, nor charge it again', async () => {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const user = await aUser(t.app);
  await topUp(t.app, user.id, 1_000_000);
  const tariffId = await aTariff(t.app);
  const sub = await aProvisioned(t, { user, tariffId });
  // Its former term ended a minute ago, and a renewal of 30 days was pushed at once.
  const formerEnd = new Date(t.clock.now().getTime() - MINUTE_MS);
  const endDate = addDays(t.clock.now(), 30);
  await t.app.db.sql(
    'UPDATE subscriptions SET autopay_enabled = true, end_date = $2::timestamptz WHERE id = $1::int RETURNING id',
    [sub.id, endDate],
  );
  await push(t.app, sub.id);
  // The panel ended the user just before the push, and its clock is two seconds ahead.
  const happenedAt = new Date(t.clock.now().getTime() + 2 * SECOND_MS);
  const ended = userData(sub.panelUser, { status: 'EXPIRED', expireAt: formerEnd.toISOString() });
  expect(await deliver(t.app, panelBody('user.expired', happenedAt, ended))).toEqual(['read_again']);
  expect(await readRow(t.app, sub.id)).toMatchObject({ status: 'active', endDate });
  expect(await jobsOf(t.app, 'panel.refresh-user')).toContainEqual({ data: { userId: user.id } });
  t.clock.advance(62 * SECOND_MS);
  await renewDue(t.app);
  t.clock.advance(3 * SECOND_MS);
  await refreshSubscription(t.app, { userId: user.id });
  expect(await readRow(t.app, sub.id)).toMatchObject({ status: 'active', endDate });
  const [row] = await t.app.db.sql<{ kopeks: number }>('SELECT balance_kopeks::int AS kopeks FROM users WHERE id = $1::int', [
    user.id,
  ]);
  expect(row!.kopeks).toBe(1_000_000);
});

it('a paused daily plan whose owner was blocked and unblocked at once keeps its paid day', async () => {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const admin = await anAdmin(t.app);
  const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
  const sub = await aProvisioned(t, { tariffId, days: 1 });
  await t.app.db.sql('UPDATE subscriptions SET is_daily_paused = true WHERE id = $1::int RETURNING id', [sub.id]);
  for (const status of ['blocked', 'active'] as const) {
    await changeUserStatus(t.app, admin, sub.user.id, status, null);
    await runPanelJobs(t.app);
  }
  // The report of the first push; the panel's clock is two seconds ahead.
  const happenedAt = new Date(t.clock.now().getTime() + 2 * SECOND_MS);
  await deliver(t.app, panelBody('user.disabled', happenedAt, userData(sub.panelUser, { status: 'DISABLED' })));
  t.clock.advance(65 * SECOND_MS);
  await refreshSubscription(t.app, { userId: sub.user.id });
  await runPanelJobs(t.app);
  expect(await readRow(t.app, sub.id)).toMatchObject({ status: 'active' });
  expect(await t.adapter.findByUuid(sub.panelUser.uuid)).toMatchObject({ status: 'ACTIVE' });
});

it('after a minute the report of an earlier end counts', async () => {
  const t = await withPanel({ environment: PANEL_WEBHOOK_ON });
  const sub = await aProvisioned(t);
  const expireAt = new Date(t.clock.now().getTime() - SECOND_MS);
  const ended = userData(sub.panelUser, { status: 'EXPIRED', expireAt: expireAt.toISOString() });
  expect(await deliver(t.app, panelBody('user.expired', t.clock.now(), ended))).toEqual(['applied']);
  expect(await readRow(t.app, sub.id)).toMatchObject({ status: 'expired', endDate: expireAt });
});
