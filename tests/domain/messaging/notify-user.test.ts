import { beforeAll, describe, expect, test } from 'vitest';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import { deliverMessage, type MessageRequest, notifyUser, recipientOf } from '../../../src/domain/messaging/send-message.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { aUser, unique } from '../../support/builders.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

/** Notices queued for a user, by the three ways. */
const sentTo = async (userId: number) => ({
  ...(await rowOf<{ messages: number; mails: number }>(
    t.app,
    `SELECT (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'messenger.send'
         AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages,
       (SELECT count(*)::int FROM outgoing_mails m WHERE m.recipient = u.email) AS mails
     FROM users u WHERE id = $1::int`,
    [userId],
  )),
  sockets: (await recordedEventsOf(t.app, userId, { prefix: 'notification.' })).length,
});

async function notify(status: string, hasMessenger: boolean) {
  const email = `notified${unique()}@example.com`;
  const { id, messengerId } = await aUser(t.app, { email });
  if (!hasMessenger) await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int', [id]);
  const user = { id, status, messengerId: hasMessenger ? messengerId : null, email, emailVerified: true, language: 'en' };
  const context = { reset_gb: 5, current_limit_gb: 10 };
  await notifyUser(t.app, recipientOf(user), {
    html: 'notice',
    mail: 'traffic_reset',
    mailParams: context,
    event: 'notification.traffic_reset',
    context,
  });
  return sentTo(id);
}

describe('a notice', () => {
  test('goes to the messenger, else by mail and to the sockets', async () => {
    expect(await notify('active', true)).toEqual({ messages: 1, mails: 0, sockets: 0 });
    expect(await notify('active', false)).toEqual({ messages: 0, mails: 1, sockets: 1 });
  });

  test.each(['blocked', 'deleted'])('does not go to a %s user in any way', async (status) => {
    for (const hasMessenger of [true, false]) {
      expect(await notify(status, hasMessenger)).toEqual({ messages: 0, mails: 0, sockets: 0 });
    }
  });

  test.each([
    ['active', 1],
    ['blocked', 0],
  ])('of a sale reaches %s buyers %i times', async (status, mails) => {
    const { userId } = await aBuyer(t.app, 30_000);
    const tariffId = await aTariff(t.app);
    await t.app.db.sql(
      'UPDATE users SET status = $2, messenger_id = NULL, email = $3, email_verified = true WHERE id = $1::int',
      [userId, status, `sold${unique()}@example.com`],
    );
    // As a late payment does with the saved order of somebody who was blocked meanwhile.
    await purchaseTariff(t.app, { kind: 'user', userId }, { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null });
    expect(await sentTo(userId)).toMatchObject({ mails, sockets: mails });
  });

  test.each([
    ['active', 1],
    ['blocked', 0],
    ['deleted', 0],
  ])('of bought traffic that ran out reaches %s owners %i times, and the limit falls for all', async (status, messages) => {
    const { userId } = await aBuyer(t.app);
    const id = await aStoredSubscription(t.app, userId, { traffic_limit_gb: 150, purchased_traffic_gb: 50 });
    await storeRow(t.app, 'TrafficPurchase', {
      subscriptionId: id,
      trafficGb: 50,
      expiresAt: t.clock.now(),
      createdAt: new Date(),
    });
    await t.app.db.sql('UPDATE users SET status = $2 WHERE id = $1::int', [userId, status]);
    await runDailyService(t.app);
    expect(await sentTo(userId)).toMatchObject({ messages });
    expect(await rowOf(t.app, 'SELECT traffic_limit_gb FROM subscriptions WHERE id = $1::int', [id])).toEqual({
      trafficLimitGb: 100,
    });
  });
});

describe('spec 10 F8: a notice of a charge', () => {
  /** The message that the daily service queued for the owner whom it charged. */
  async function aChargeNotice(): Promise<MessageRequest> {
    const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const { userId } = await aBuyer(t.app, 5_000);
    const day = new Date(t.clock.now().getTime() - 86_400_000);
    await aStoredSubscription(t.app, userId, { tariff_id: tariffId, end_date: t.clock.now(), last_daily_charge_at: day });
    await runDailyService(t.app);
    const { data } = await rowOf<{ data: MessageRequest }>(
      t.app,
      `SELECT data FROM jobs.job JOIN users u ON data ->> 'messengerId' = u.messenger_id::text
       WHERE name = 'messenger.send' AND u.id = $1::int`,
      [userId],
    );
    return data;
  }

  /** Delivers it twice, as the queue does after a failed or lost attempt; the first call ends as `first` says. */
  async function sentTwice(request: MessageRequest, first: () => Promise<{ messageId: number }>): Promise<number> {
    let calls = 0;
    const started = Promise.withResolvers<void>();
    const sendMessage = async () => {
      calls += 1;
      started.resolve();
      return calls === 1 ? first() : { messageId: calls };
    };
    const app = {
      ...t.app,
      ports: { ...t.app.ports, messenger: { ...t.app.ports.messenger, isConfigured: () => true, sendMessage } },
    };
    const attempt = deliverMessage(app, request).catch(() => undefined);
    await started.promise;
    // A process that was killed never gets to the end of its call.
    if (first !== never) await attempt;
    await deliverMessage(app, request);
    return calls;
  }
  const never = () => new Promise<never>(() => undefined);
  const failing = (failure: MessengerError['failure']) => () => Promise.reject(new MessengerError(failure, 'failed'));

  test.each([
    ['its process was killed during the call', 1, never],
    ['it was sent', 1, async () => ({ messageId: 1 })],
    ['the answer was lost', 1, failing({ kind: 'unavailable', mayHaveArrived: true })],
    ['the messenger was away', 2, failing({ kind: 'unavailable' })],
    ['the messenger asked to wait', 2, failing({ kind: 'rate_limited', retryAfterSeconds: 1 })],
  ])('where %s: %i call(s)', async (_what, calls, first) => {
    expect(await sentTwice(await aChargeNotice(), first)).toBe(calls);
  });

  test('other messages are sent at least once', async () => {
    const { messengerId } = await aUser(t.app);
    expect(await sentTwice({ messengerId, html: 'Sign in' }, never)).toBe(2);
  });
});
