import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { deliverWaiting, fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { guestPurchases } from '../../../src/domain/storefront/purchases/purpose.ts';
import { viewPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { callback, callbackResults, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import {
  aDeliveredPurchase,
  anEmail,
  aPaidPurchase,
  aPurchase,
  aStorefront,
  confirmPayment,
  contact,
  factsOf,
  mailsTo,
  mailText,
  panelAnswers,
  revenueOf,
  subscriptionOf,
} from '../../support/purchase-samples.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

describe('a paid purchase', () => {
  test('becomes an account, one revenue row and a running subscription, however often the callback comes', async () => {
    const storefront = await aStorefront(app, {}, { name: 'Family' });
    const email = anEmail();
    const bought = await aPurchase(app, storefront, { buyer: contact(email.toUpperCase()) });
    provider.set(bought.externalId, 'paid');
    for (const eventId of ['a', 'a', 'b', 'c']) await callback(app, bought.externalId, { eventId: eventId + bought.externalId });
    await runCallbackJobs(app, bought.externalId, [guestPurchases]);
    await runCallbackJobs(app, bought.externalId, [guestPurchases]);
    expect(await callbackResults(app, bought.externalId)).toEqual(['credited', 'already_credited', 'already_credited']);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid', accountCreated: true, grantedAt: null });
    expect(await paymentFacts(app, bought.paymentId)).toMatchObject({ outcome: 'paid', isPaid: true });
    expect(await revenueOf(app, bought.id)).toEqual({
      rows: 1,
      kopeks: -30_000,
      methods: 'subscription_payment:sandbox',
      balance: 0,
    });
    const jobs = await app.db.sql("SELECT data FROM jobs.job WHERE name = 'gifts.fulfil' AND data ->> 'purchaseId' = $1", [
      String(bought.id),
    ]);
    expect(jobs).toHaveLength(1);

    for (let run = 0; run < 3; run++) await fulfilPurchase(app, { purchaseId: bought.id });
    const { userId } = await factsOf(app, bought.id);
    expect(await subscriptionOf(app, userId!)).toMatchObject({
      status: 'active',
      isTrial: false,
      tariffId: storefront.tariffId,
      trafficLimitGb: 50,
      deviceLimit: 3,
      startDate: app.clock.now(),
      endDate: addDays(app.clock.now(), 30),
    });
    await panelAnswers(app, bought.id);
    await fulfilPurchase(app, { purchaseId: bought.id });
    expect(await deliverWaiting(app, { userId: userId! })).toBe(0);
    const facts = await factsOf(app, bought.id);
    expect(facts).toMatchObject({ status: 'delivered', deliveredAt: app.clock.now(), nextAttemptAt: null });
    expect(facts.subscriptionUrl).toMatch(/^https?:/);
    expect(await mailsTo(app, email)).toEqual([
      'email_verification',
      'guest_subscription_delivered',
      'guest_cabinet_credentials',
    ]);
    expect(await mailText(app, email, 'guest_subscription_delivered')).toContain(facts.subscriptionUrl!);
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1, kopeks: -30_000 });
    expect(await checkLedger(app)).toEqual([]);
    const [event] = await recordedEvents(app, 'transaction.created', userId);
    expect(event).toMatchObject({ type: 'subscription_payment', amount_kopeks: 30_000, payment_method: 'sandbox' });
  });

  test('spec 03 H7: is not delivered before the panel has given the links', async () => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));
    await fulfilPurchase(app, { purchaseId: bought.id });
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid', deliveredAt: null, grantedAt: app.clock.now() });
    expect((await viewPurchase(app, bought.token)).subscriptionUrl).toBeNull();
    await panelAnswers(app, bought.id);
    expect((await factsOf(app, bought.id)).status).toBe('delivered');
  });

  test.each([
    ['the panel has not answered yet, and the link is that of the subscription before', 'pending', 'https://sub.example.com/old'],
    ['the panel has failed, and the link is that of the subscription before', 'failed', 'https://sub.example.com/old'],
    ['the panel has answered without a link', 'synced', null],
  ])('spec 03 H7: is not delivered while %s', async (_why, state, url) => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));
    await fulfilPurchase(app, { purchaseId: bought.id });
    const { userId } = await factsOf(app, bought.id);
    const panel = (provisionState: string, subscriptionUrl: string | null) =>
      app.db.prisma.subscription.update({ where: { userId: userId! }, data: { provisionState, subscriptionUrl } });
    await panel(state, url);
    expect(await deliverWaiting(app, { userId: userId! })).toBe(0);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid', deliveredAt: null, subscriptionUrl: null });
    await panel('synced', 'https://sub.example.com/new');
    expect(await deliverWaiting(app, { userId: userId! })).toBe(1);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'delivered', subscriptionUrl: 'https://sub.example.com/new' });
  });

  test('spec 03 H15: an expired purchase is delivered when its money comes late', async () => {
    const bought = await aPurchase(app, await aStorefront(app));
    await app.db.sql("UPDATE guest_purchases SET status = 'expired' WHERE id = $1::int RETURNING id", [bought.id]);
    await app.db.sql("UPDATE payments SET outcome = 'expired' WHERE id = $1::int RETURNING id", [bought.paymentId]);
    await confirmPayment(app, provider, bought);
    await fulfilPurchase(app, { purchaseId: bought.id });
    await panelAnswers(app, bought.id);
    expect((await factsOf(app, bought.id)).status).toBe('delivered');
  });

  test('is delivered after its page was deleted', async () => {
    const storefront = await aStorefront(app);
    const bought = await aPurchase(app, storefront);
    await app.db.sql('DELETE FROM landing_pages WHERE id = $1::int RETURNING id', [storefront.landing.id]);
    await confirmPayment(app, provider, bought);
    await fulfilPurchase(app, { purchaseId: bought.id });
    await panelAnswers(app, bought.id);
    expect((await factsOf(app, bought.id)).status).toBe('delivered');
  });

  test.each([
    ['another amount', { amountKopeks: 29_999 }],
    ['another currency', { currency: 'USD' }],
  ])('spec 03 H10: %s ends failed with the reason, an account is not made, nothing is given', async (_what, change) => {
    const email = anEmail();
    const bought = await aPurchase(app, await aStorefront(app), { buyer: contact(email) });
    provider.set(bought.externalId, 'paid', change);
    await callback(app, bought.externalId);
    await runCallbackJobs(app, bought.externalId, [guestPurchases]);
    expect(await factsOf(app, bought.id)).toMatchObject({
      status: 'failed',
      lastError: 'amount_mismatch',
      userId: null,
      paidAt: null,
    });
    expect(await paymentFacts(app, bought.paymentId)).toMatchObject({ outcome: 'amount_mismatch', transactionId: null });
    expect(await app.db.sql('SELECT id FROM users WHERE email = $1', [email])).toEqual([]);
    // The provider corrects the amount: the purchase is credited then.
    provider.set(bought.externalId, 'paid', { amountKopeks: 30_000, currency: 'RUB' });
    await confirmPayment(app, provider, bought);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid', lastError: null });
  });

  test('a payment that failed at the provider changes nothing', async () => {
    const bought = await aPurchase(app, await aStorefront(app));
    provider.set(bought.externalId, 'failed');
    await callback(app, bought.externalId);
    await runCallbackJobs(app, bought.externalId, [guestPurchases]);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'pending', userId: null });
  });

  test('money for a deleted purchase stays with its invoice, with an alarm', async () => {
    const bought = await aPurchase(app, await aStorefront(app));
    await app.db.sql('DELETE FROM guest_purchases WHERE id = $1::int RETURNING id', [bought.id]);
    await confirmPayment(app, provider, bought);
    expect(await callbackResults(app, bought.externalId)).toEqual(['no_user']);
    expect(await paymentFacts(app, bought.paymentId)).toMatchObject({ transactionId: null });
  });

  test.each([
    [
      'tariff_unavailable',
      (storefront: { tariffId: number }) => ["UPDATE tariffs SET period_prices = '{}' WHERE id = $1::int", storefront.tariffId],
    ],
    [
      'recipient_blocked',
      (_storefront: unknown, userId: number) => ["UPDATE users SET status = 'blocked' WHERE id = $1::int", userId],
    ],
  ] as const)('spec 03 H21: %s ends failed with an alert, while the revenue row stays, for the refund', async (reason, spoil) => {
    const alerted = await withAdminChat();
    const storefront = await aStorefront(alerted);
    const bought = await aPaidPurchase(alerted, provider, storefront);
    const { userId } = await factsOf(app, bought.id);
    const [sql, id] = spoil(storefront, userId!);
    await app.db.sql(`${sql} RETURNING id`, [id]);
    await fulfilPurchase(alerted, { purchaseId: bought.id });
    await fulfilPurchase(alerted, { purchaseId: bought.id });
    expect(await factsOf(app, bought.id)).toMatchObject({
      status: 'failed',
      lastError: reason,
      grantedAt: null,
      cabinetPassword: null,
      autoLoginToken: null,
    });
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1 });
    expect(await subscriptionOf(app, userId!)).toBeNull();
    expect(await adminNotices(bought.id)).toHaveLength(1);
  });

  test('administrators are notified of a delivery', async () => {
    const withChat = await withAdminChat();
    const bought = await aDeliveredPurchase(withChat, provider, await aStorefront(withChat));
    const [notice] = await adminNotices(bought.id);
    expect(notice!.html).toContain('300 ₽');
  });

  /** The app with a chat for administrators. */
  async function withAdminChat(): Promise<App> {
    const withChat = await testApp({
      environment: { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: '-100123', DEFAULT_LANGUAGE: 'en' },
      clock: t.clock,
    });
    return withProvider(withChat.app, provider);
  }

  function adminNotices(id: number) {
    return app.db.sql<{ html: string }>(
      `SELECT data ->> 'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = '-100123'
         AND data ->> 'html' LIKE $1`,
      [`%#${id} %`],
    );
  }
});
