import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { activateTrial } from '../../../src/domain/subscriptions/activate-trial.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { insufficientFundsForTrial } from '../../../src/domain/subscriptions/purchase/insufficient-funds.ts';
import { purchaseDevices } from '../../../src/domain/subscriptions/purchase-devices.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { switchTariff } from '../../../src/domain/subscriptions/switch-tariff.ts';
import { unique } from '../../support/builders.ts';
import { aBuyer, aServer, aStoredSubscription, aTariff, topUp } from '../../support/sale-samples.ts';
import { testApp } from '../../support/test-app.ts';

/** An app with a chat of its own, so that its messages are distinguished from those of other tests. */
async function withChat(changes: Record<string, string> = {}) {
  const chat = `-100${String(unique()).padStart(10, '7')}`;
  const environment = {
    ADMIN_NOTIFICATIONS_ENABLED: 'true',
    ADMIN_NOTIFICATIONS_CHAT_ID: chat,
    ADMIN_NOTIFICATIONS_TOPIC_ID: '1',
    ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID: '2',
    ADMIN_NOTIFICATIONS_RENEWALS_TOPIC_ID: '3',
    ADMIN_NOTIFICATIONS_ADDONS_TOPIC_ID: '4',
    DEFAULT_LANGUAGE: 'en',
    ...changes,
  };
  const { app } = await testApp({ environment });
  const sent = () =>
    app.db.sql<{ html: string; thread: string }>(
      `SELECT data ->> 'html' AS html, data ->> 'threadId' AS thread FROM jobs.job
       WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1 ORDER BY created_on, ctid`,
      [chat],
    );
  return { app, sent };
}

async function buy(app: App, userId: number, tariffId: number) {
  await topUp(app, userId, 30_000);
  return purchaseTariff(app, { kind: 'user', userId }, { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null });
}

describe('spec 02 section 5.16: notices of sales to the administrators', () => {
  it('tells a first purchase from further ones, in the topic of purchases, values escaped', async () => {
    const { app, sent } = await withChat();
    const { userId } = await aBuyer(app);
    const tariffId = await aTariff(app, { name: `<b>Plan ${unique()}` });
    await buy(app, userId, tariffId);
    const [first] = await sent();
    expect(first!.thread).toBe('2');
    expect(first!.html).toContain('First purchase');
    expect(first!.html).toContain(`#${userId} (`);
    expect(first!.html).toContain('&lt;b&gt;Plan');
    expect(first!.html).not.toMatch(/[{}]|undefined|NaN/);
    expect(await sent()).toHaveLength(1);
  });

  it('names renewals and add-ons in their topics, add-ons with the old and the new value', async () => {
    const { app, sent } = await withChat();
    const { userId } = await aBuyer(app);
    const actor = { kind: 'user', userId } as const;
    const tariffId = await aTariff(app, { device_limit: 2, device_price_kopeks: 5_000, max_device_limit: 9 });
    await buy(app, userId, tariffId);
    await topUp(app, userId, 200_000);
    await renewSubscription(app, actor, { periodDays: 30, idempotencyKey: null });
    await purchaseDevices(app, actor, { devices: 3, idempotencyKey: null });
    const [, renewal, addOn] = await sent();
    expect(renewal).toMatchObject({ thread: '3', html: expect.stringContaining('Renewal') });
    expect(addOn).toMatchObject({ thread: '4', html: expect.stringContaining('Devices: 2 → 5') });
  });

  it('names trials and changes of tariff in their topics, and an automatic day of a daily tariff as a renewal', async () => {
    const { app, sent } = await withChat({ ADMIN_NOTIFICATIONS_TRIALS_TOPIC_ID: '5' });
    await aServer(app, { is_trial_eligible: true });
    const trialing = await aBuyer(app);
    await activateTrial(app, trialing, null, insufficientFundsForTrial);
    const switching = await aBuyer(app);
    await buy(app, switching.userId, await aTariff(app));
    await topUp(app, switching.userId, 200_000);
    const dearer = await aTariff(app, { name: 'Dearer', period_prices: { 30: 90_000 } });
    await switchTariff(app, switching, { tariffId: dearer, periodDays: 30, trafficGb: null, idempotencyKey: null });
    const daily = await aBuyer(app, 2_500);
    const now = app.clock.now().getTime();
    const tariffId = await aTariff(app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const over = { end_date: new Date(now - 1_000), last_daily_charge_at: new Date(now - 86_401_000) };
    await aStoredSubscription(app, daily.userId, { tariff_id: tariffId, ...over });
    await runDailyService(app);
    const [trial, , change, day, ...more] = await sent();
    expect(trial).toMatchObject({ thread: '5', html: expect.stringContaining('Trial') });
    expect(change).toMatchObject({ thread: '2', html: expect.stringContaining('Change of plan') });
    expect(change!.html).toContain('Dearer');
    expect(day).toMatchObject({ thread: '3', html: expect.stringContaining(`#${daily.userId} (`) });
    expect(more).toEqual([]);
  });

  it('uses the common topic where a kind has none, and is silent while notices are off', async () => {
    const common = await withChat({ ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID: '' });
    const off = await withChat({ ADMIN_NOTIFICATIONS_ENABLED: 'false' });
    for (const { app } of [common, off]) await buy(app, (await aBuyer(app)).userId, await aTariff(app));
    expect((await common.sent()).map(({ thread }) => thread)).toEqual(['1']);
    expect(await off.sent()).toEqual([]);
  });

  it('sends nothing for a sale that is refused', async () => {
    const { app, sent } = await withChat();
    const { userId } = await aBuyer(app);
    const input = { tariffId: await aTariff(app), periodDays: 30, trafficGb: null, idempotencyKey: null };
    await expect(purchaseTariff(app, { kind: 'user', userId }, input)).rejects.toMatchObject({ status: 402 });
    expect(await sent()).toEqual([]);
  });
});
