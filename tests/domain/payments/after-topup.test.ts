import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { MessengerError, type MessengerFailure } from '../../../src/domain/messaging/ports.ts';
import { runAfterTopup } from '../../../src/domain/payments/after-topup.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { aUser } from '../../support/builders.ts';
import { callback, moneyFacts, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
const provider = new ScriptedProvider();
beforeAll(async () => {
  t = await testApp();
  app = await withProvider(t.app, provider);
});

async function aCreditedTopup(fields: { language?: string; email?: string } = {}) {
  const user = await aUser(app, fields);
  const { paymentId } = await topupBalance(
    app,
    { kind: 'user', userId: user.id },
    { amountKopeks: 50_050, method: 'sandbox', option: null },
    { idempotencyKey: null },
  );
  const externalId = (await paymentFacts(app, paymentId)).externalId!;
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  return { user, paymentId };
}

function withMessenger(failures: MessengerFailure[]): { app: App; sent: { chatId: number; html: string }[] } {
  const sent: { chatId: number; html: string }[] = [];
  const sendMessage = async (chatId: number, html: string) => {
    const failure = failures.shift();
    if (failure) throw new MessengerError(failure, 'scripted');
    sent.push({ chatId, html });
    return { messageId: 1 };
  };
  return {
    app: { ...app, ports: { ...app.ports, messenger: { ...app.ports.messenger, isConfigured: () => true, sendMessage } } },
    sent,
  };
}

const mailsTo = (email: string) =>
  app.db.sql<{ subject: string }>('SELECT subject FROM outgoing_mails WHERE recipient = $1', [email]);

describe('runAfterTopup', () => {
  test('notifies the administrators of a top-up once, in its topic, also when two jobs run at once', async () => {
    const { user, paymentId } = await aCreditedTopup();
    const chat = `-100${paymentId}77`;
    const { app: withChat } = await testApp({
      environment: {
        ADMIN_NOTIFICATIONS_ENABLED: 'true',
        ADMIN_NOTIFICATIONS_CHAT_ID: chat,
        DEFAULT_LANGUAGE: 'en',
        ADMIN_NOTIFICATIONS_BALANCE_TOPIC_ID: '6',
      },
    });
    await Promise.all([1, 2, 3].map(() => runAfterTopup(withChat, { paymentId })));
    const sent = await app.db.sql<{ html: string; thread: string }>(
      `SELECT data ->> 'html' AS html, data ->> 'threadId' AS thread FROM jobs.job
       WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1`,
      [chat],
    );
    expect(sent).toEqual([{ html: expect.stringContaining(`#${user.id} (${user.messengerId})`), thread: '6' }]);
    expect(sent[0]!.html).toContain('500.5 ₽');
  });

  test('notifies the payer in the messenger once, however often the job runs', async () => {
    const { user, paymentId } = await aCreditedTopup({ language: 'en' });
    const { app: talking, sent } = withMessenger([]);
    await runAfterTopup(talking, { paymentId });
    await runAfterTopup(talking, { paymentId });
    expect(sent).toEqual([{ chatId: user.messengerId, html: expect.stringContaining('500.5 ₽') }]);
  });

  test('an unavailable messenger makes the job run again', async () => {
    const waiting = await aCreditedTopup();
    const down = withMessenger([{ kind: 'unavailable' }, { kind: 'rate_limited', retryAfterSeconds: 3 }]);
    await expect(runAfterTopup(down.app, waiting)).rejects.toThrow('after top-up');
    await expect(runAfterTopup(down.app, waiting)).rejects.toThrow('after top-up');
    await runAfterTopup(down.app, waiting);
    expect(down.sent).toHaveLength(1);
  });

  test('a payer who blocked the bot does not make the job run again', async () => {
    const blocked = await aCreditedTopup();
    const refusing = withMessenger([{ kind: 'blocked' }]);
    await runAfterTopup(refusing.app, blocked);
    expect(refusing.sent).toEqual([]);
    expect((await moneyFacts(app, blocked.user.id)).balance).toBe(50_050);
  });

  test('sends mail to the verified address of a payer without messenger, and to no other payer', async () => {
    const email = `after${Date.now()}@example.com`;
    const { user, paymentId } = await aCreditedTopup({ email, language: 'en' });
    await app.db.sql('UPDATE users SET messenger_id = NULL, email_verified = false WHERE id = $1::int RETURNING id', [user.id]);
    const other = await aCreditedTopup({ email: `x${email}` });
    await app.db.sql("UPDATE users SET messenger_id = NULL, status = 'blocked' WHERE id = $1::int RETURNING id", [other.user.id]);
    await runAfterTopup(app, other);
    expect(await mailsTo(`x${email}`)).toEqual([]);
    await app.db.sql('UPDATE users SET email_verified = true WHERE id = $1::int RETURNING id', [user.id]);
    await runAfterTopup(app, { paymentId });
    await runAfterTopup(app, { paymentId });
    expect(await mailsTo(email)).toEqual([{ subject: 'Balance topped up by 500.5 ₽' }]);
  });

  test('a daily subscription that was paused for insufficient funds is resumed, once', async () => {
    const { user, paymentId } = await aCreditedTopup();
    const tariffId = await aTariff(app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const hourAgo = new Date(t.clock.now().getTime() - 3_600_000);
    await aStoredSubscription(app, user.id, { tariff_id: tariffId, status: 'expired', end_date: hourAgo });
    await runAfterTopup(app, { paymentId });
    await runAfterTopup(app, { paymentId });
    expect((await moneyFacts(app, user.id)).balance).toBe(49_050);
    expect(await rowOf(app, 'SELECT status FROM subscriptions WHERE user_id = $1::int', [user.id])).toEqual({ status: 'active' });
  });

  test('a service that crashed after it spent the top-up does not spend it again after the restart', async () => {
    const { user, paymentId } = await aCreditedTopup();
    const tariffId = await aTariff(app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const hourAgo = new Date(t.clock.now().getTime() - 3_600_000);
    await aStoredSubscription(app, user.id, { tariff_id: tariffId, status: 'expired', end_date: hourAgo });
    const wanted = { tariffId: await aTariff(app, { period_prices: { 30: 50_060 } }), periodDays: 30, trafficGb: null };
    const actor = { kind: 'user', userId: user.id } as const;
    await expect(purchaseTariff(app, actor, { ...wanted, idempotencyKey: null })).rejects.toMatchObject({ status: 402 });
    await app.db.sql('UPDATE tariffs SET period_prices = \'{"30": 30000}\' WHERE id = $1::int', [wanted.tariffId]);
    const { settings } = (await testApp({ environment: { AUTO_PURCHASE_AFTER_TOPUP_ENABLED: 'true' } })).app;
    const buying = { ...app, settings };
    // The writes of the step are committed; the mark that the job writes afterwards is missing.
    const sql: App['db']['sql'] = (text, values) =>
      values?.includes('spend_topup') ? Promise.reject(new Error('killed')) : app.db.sql(text, values);
    await expect(runAfterTopup({ ...buying, db: { ...app.db, sql } }, { paymentId })).rejects.toThrow('after top-up');
    expect((await moneyFacts(app, user.id)).balance).toBe(49_050);
    const later = new Date(t.clock.now().getTime() + 121_000);
    await runAfterTopup({ ...buying, clock: { now: () => later } }, { paymentId });
    expect((await moneyFacts(app, user.id)).balance).toBe(49_050);
  });

  test('an uncredited payment has no steps', async () => {
    const user = await aUser(app);
    const { paymentId } = await topupBalance(
      app,
      { kind: 'user', userId: user.id },
      { amountKopeks: 5_000, method: 'sandbox', option: null },
      { idempotencyKey: null },
    );
    const { app: talking, sent } = withMessenger([]);
    await runAfterTopup(talking, { paymentId });
    expect(sent).toEqual([]);
  });
});
