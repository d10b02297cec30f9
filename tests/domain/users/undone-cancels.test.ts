import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { type ActionRequest, runSubscriptionAction } from '../../../src/domain/subscriptions/manual/run-action.ts';
import { setAutopay } from '../../../src/domain/subscriptions/set-autopay.ts';
import { spendTopup } from '../../../src/domain/subscriptions/spend-topup.ts';
import { anAction } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
let admin: AdminActor;
beforeAll(async () => {
  ({ app, clock } = await testApp());
  admin = await anAdmin(app);
});

const act = (userId: number, action: string, given: Partial<ActionRequest> = {}) =>
  runSubscriptionAction(app, admin, userId, anAction(action, given));
const inDays = (days: number) => addDays(clock.now(), days);

/** A user with a subscription that ends in 10 days. */
async function holder(columns: Record<string, unknown> = {}): Promise<{ id: number }> {
  const { id } = await aUser(app);
  await aStoredSubscription(app, id, columns);
  return { id };
}

describe('spec 10 X8: what a cancel switched off', () => {
  const switches = (id: number) =>
    rowOf(app, 'SELECT autopay_enabled, is_daily_paused FROM subscriptions WHERE user_id = $1::int', [id]);
  const RUNNING = { autopayEnabled: true, isDailyPaused: false };
  const ENDED = { autopayEnabled: false, isDailyPaused: true };
  const RESTARTS: [string, () => Partial<ActionRequest>][] = [
    ['activate', () => ({})],
    ['extend', () => ({ days: 5 })],
    ['set_end_date', () => ({ endDate: inDays(5) })],
  ];

  test.each(RESTARTS)('is switched on again by %s, after a second cancel too', async (action, given) => {
    const { id } = await holder({ autopay_enabled: true });
    await act(id, 'cancel');
    expect(await switches(id)).toEqual(ENDED);
    await act(id, 'cancel');
    await act(id, action, given());
    expect(await switches(id)).toEqual(RUNNING);
  });

  test.each(RESTARTS)('is not more than its owner had switched on: %s', async (action, given) => {
    const { id } = await holder({ autopay_enabled: false, is_daily_paused: true });
    await act(id, 'cancel');
    await act(id, action, given());
    expect(await switches(id)).toEqual(ENDED);
    const without = await holder({ autopay_enabled: false, is_daily_paused: true, status: 'expired', end_date: inDays(-1) });
    await act(without.id, action, given());
    expect(await switches(without.id)).toEqual(ENDED);
  });

  test('stays off where somebody else has started it since, and where the end stays in the past', async () => {
    const { id } = await holder({ autopay_enabled: true });
    await act(id, 'cancel');
    await act(id, 'set_end_date', { endDate: inDays(-1) });
    expect(await switches(id)).toEqual(ENDED);
    // Its owner starts it and pauses it again, and switches autopay on and off.
    for (const columns of [
      'is_daily_paused = false, autopay_enabled = true',
      'is_daily_paused = true, autopay_enabled = false',
    ]) {
      await app.db.sql(`UPDATE subscriptions SET ${columns} WHERE user_id = $1::int RETURNING id`, [id]);
    }
    await act(id, 'activate');
    expect(await switches(id)).toEqual(ENDED);
    const bought = await holder({ autopay_enabled: true });
    await act(bought.id, 'cancel');
    await app.db.sql("UPDATE subscriptions SET status = 'active' WHERE user_id = $1::int RETURNING id", [bought.id]);
    await act(bought.id, 'activate');
    expect(await switches(bought.id)).toEqual(ENDED);
  });

  test('stays off where its owner, or an administrator, has switched autopay off since', async () => {
    const answers: ((id: number) => Promise<unknown>)[] = [
      (userId) => setAutopay(app, { kind: 'user', userId }, false, null),
      (id) => act(id, 'toggle_autopay', { autopayEnabled: false }),
    ];
    for (const switchOff of answers) {
      const { id } = await holder({ autopay_enabled: true });
      await act(id, 'cancel');
      await switchOff(id);
      await act(id, 'activate');
      expect(await switches(id)).toEqual({ autopayEnabled: false, isDailyPaused: false });
    }
  });

  test.each(['cancel', 'pause of its owner'])('of a daily subscription stays off with another daily tariff: %s', async (end) => {
    const daily = () => aTariff(app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const { userId } = await aBuyer(app, 5_000);
    const isPaused = end !== 'cancel';
    const ended = isPaused ? { status: 'expired', end_date: inDays(-1 / 24), is_daily_paused: true } : {};
    await aStoredSubscription(app, userId, { tariff_id: await daily(), ...ended });
    if (!isPaused) await act(userId, 'cancel');
    await act(userId, 'change_tariff', { tariffId: await daily() });
    await runDailyService(app);
    await spendTopup(app, userId);
    const state = 'SELECT s.status, u.balance_kopeks FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int';
    expect(await rowOf(app, state, [userId])).toEqual({ status: 'expired', balanceKopeks: 5_000 });
    await act(userId, 'activate');
    expect(await switches(userId)).toEqual({ autopayEnabled: false, isDailyPaused: isPaused });
  });
});
