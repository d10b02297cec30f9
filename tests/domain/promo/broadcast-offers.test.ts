import { beforeAll, describe, expect, test, vi } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import {
  type AdminBroadcast,
  broadcastOffers,
  broadcastOffersAsAdmin,
} from '../../../src/domain/promo/offers/broadcast-offers.ts';
import { claimOffer } from '../../../src/domain/promo/offers/claim-offer.ts';
import { continueBroadcast } from '../../../src/domain/promo/offers/send-messages.ts';
import { aConfigAdmin } from '../../support/admins.ts';
import { aSegment, withMessenger } from '../../support/audience-samples.ts';
import { aUser } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { anOfferTo, offersOf, someTerms, TOKEN, userActor } from '../../support/offer-samples.ts';
import { aServer, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const detailOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'given',
    (error: { status: number; detail: unknown }) => [error.status, error.detail],
  );
const web = (fields: Parameters<typeof someTerms>[0] & { target?: string | null }) =>
  broadcastOffers(t.app, TOKEN, { ...someTerms(fields), target: fields.target ?? null });
const adminRequest = (fields: Partial<AdminBroadcast>): AdminBroadcast => ({
  ...someTerms(),
  email: null,
  target: null,
  sendNotification: false,
  ...fields,
});
const idsOf = (users: readonly { id: number }[]) => users.map((user) => user.id).sort((a, b) => a - b);

interface BroadcastRow {
  id: number;
  state: string;
  created: number;
  sent: number;
  failed: number;
  skipped: number;
}
const lastBroadcast = () =>
  rowOf<BroadcastRow>(
    t.app,
    'SELECT id, state, created_offers AS created, sent, failed, skipped FROM promo_offer_broadcasts ORDER BY id DESC LIMIT 1',
  );
const deliver = (app: TestApp['app'], broadcastId: number, signal = new AbortController().signal) =>
  continueBroadcast(app, { data: { broadcastId }, signal });
const jobsOf = (broadcastId: number) =>
  t.app.db.sql(`SELECT id FROM jobs.job WHERE name = 'promo.offer-broadcast' AND data->>'broadcastId' = $1`, [
    String(broadcastId),
  ]);

/**
 * An administrator's broadcast with messages; the test's own runs deliver, there is no worker.
 * @param isAnswerDue whether the time is over for which the answer waits for messages; true from the start unless given
 */
async function aNotifying(fields: Partial<AdminBroadcast>, app = t.app, isAnswerDue = () => true) {
  const admin = await aConfigAdmin(t.app);
  const request = adminRequest({ sendNotification: true, ...fields });
  let reading = 0;
  const monotonicClock = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (isAnswerDue()) reading += MINUTE_MS;
    return reading;
  });
  try {
    const result = await broadcastOffersAsAdmin(app, admin, request);
    return { result, request, broadcast: await lastBroadcast() };
  } finally {
    monotonicClock.mockRestore();
  }
}

describe('broadcast (spec 04 section 9.3)', () => {
  test('offers to the segment and the named user, one each, overwriting open ones (9.2)', async () => {
    const { target, users } = await aSegment(t.app, 3);
    const [named, admin] = [await aUser(t.app), await aConfigAdmin(t.app)];
    const old = await anOfferTo(t.app, users[0]!.id, { discountPercent: 5, notificationType: 'spring' });
    const used = await anOfferTo(t.app, users[1]!.id, { notificationType: 'spring' });
    await claimOffer(t.app, userActor(users[1]!.id), used.id);
    const request = adminRequest({ notificationType: 'spring', discountPercent: 30, target, userId: named.id });
    const result = await broadcastOffersAsAdmin(t.app, admin, request);
    expect(result).toEqual({ createdOffers: 4, userIds: idsOf([...users, named]), target, sent: 0, failed: 0 });
    const expected = {
      percent: 30,
      active: true,
      claimed: false,
      expiresAt: new Date(t.app.clock.now().getTime() + 24 * HOUR_MS),
    };
    expect(await offersOf(t.app, users[0]!.id)).toMatchObject([{ id: old.id, ...expected }]);
    expect(await offersOf(t.app, users[1]!.id)).toMatchObject([{ id: used.id, claimed: true }, expected]);
    expect(await offersOf(t.app, named.id)).toMatchObject([expected]);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', created: 4 });
  });

  test('a member who is also the named user gets one offer', async () => {
    const { target, users } = await aSegment(t.app, 2);
    const admin = await aConfigAdmin(t.app);
    const result = await broadcastOffersAsAdmin(t.app, admin, adminRequest({ target, messengerId: users[1]!.messengerId }));
    expect(result).toMatchObject({ createdOffers: 2, userIds: idsOf(users) });
  });

  test('Web API: targets by name or alias, while others are 422, tariffs too', async () => {
    const user = await aUser(t.app);
    expect(await web({ userId: user.id })).toMatchObject({ createdOffers: 1, userIds: [user.id], target: null });
    expect(await web({ userId: user.id, target: ' NO_SUB ' })).toMatchObject({ target: 'no' });
    for (const target of ['everybody', 'tariff_1', '', ' ']) {
      await expect(web({ userId: user.id, target })).rejects.toMatchObject({
        status: 422,
        issues: [{ loc: ['body', 'target'], msg: 'Value error, Unsupported target value' }],
      });
    }
  });

  test('Web API: refusals', async () => {
    const { users } = await aSegment(t.app, 2);
    const [user, other] = users;
    const subscriptionOf = async (userId: number) =>
      (await rowOf<{ id: number }>(t.app, 'SELECT id FROM subscriptions WHERE user_id = $1::int', [userId])).id;
    expect(await detailOf(web({}))).toEqual([400, 'Под эту рассылку не подходит ни один пользователь']);
    expect(await detailOf(web({ target: 'autopay_failed' }))).toEqual([400, 'Под эту рассылку не подходит ни один пользователь']);
    expect(await detailOf(web({ target: 'all', subscriptionId: await subscriptionOf(user!.id) }))).toEqual([
      400,
      'Подписку можно указать только для одного получателя',
    ]);
    expect(await detailOf(web({ userId: 2_147_000_000 }))).toEqual([404, 'User not found']);
    expect(await detailOf(web({ userId: user!.id, messengerId: other!.messengerId }))).toEqual([
      400,
      'Provided user_id does not match messenger_id',
    ]);
    expect(await detailOf(web({ userId: user!.id, subscriptionId: 2_147_000_000 }))).toEqual([404, 'Subscription not found']);
    expect(await detailOf(web({ userId: user!.id, subscriptionId: await subscriptionOf(other!.id) }))).toEqual([
      400,
      'Subscription does not belong to the user',
    ]);
    expect(await offersOf(t.app, user!.id)).toEqual([]);
    expect(await web({ userId: user!.id, subscriptionId: await subscriptionOf(user!.id) })).toMatchObject({ createdOffers: 1 });
  });

  test('administrators: refusals', async () => {
    const [one, two] = [await aUser(t.app, { email: 'one.offer@example.com' }), await aUser(t.app)];
    const admin = await aConfigAdmin(t.app);
    const send = (fields: Partial<AdminBroadcast>) => detailOf(broadcastOffersAsAdmin(t.app, admin, adminRequest(fields)));
    expect(await send({})).toEqual([400, 'No recipients: specify target or user']);
    expect(await send({ target: 'tariff_x' })).toEqual([400, 'No recipients: specify target or user']);
    expect(await send({ userId: 0 })).toEqual([404, 'User not found']);
    expect(await send({ messengerId: 1 })).toEqual([404, 'User not found by messenger_id']);
    expect(await send({ email: 'nobody@example.com' })).toEqual([404, 'User not found by email']);
    expect(await send({ userId: two.id, messengerId: one.messengerId })).toEqual([
      400,
      'Provided user_id does not match messenger_id',
    ]);
    expect(await send({ userId: two.id, email: 'ONE.offer@example.com' })).toEqual([
      400,
      'Provided user_id does not match email',
    ]);
    expect(await send({ messengerId: two.messengerId, email: 'one.offer@example.com' })).toBe('given');
    const long = { sendNotification: true, messageText: 'x'.repeat(4_097) };
    await expect(broadcastOffersAsAdmin(t.app, admin, adminRequest({ userId: one.id, ...long }))).rejects.toMatchObject({
      status: 422,
    });
  });

  test('spec 04 section 9.6: an interrupted broadcast is continued by the job', async () => {
    const { target, users } = await aSegment(t.app, 3);
    await broadcastOffersAsAdmin(t.app, await aConfigAdmin(t.app), adminRequest({ target, notificationType: 'cut' }));
    const { id } = await lastBroadcast();
    // As after the first batch of a process that died.
    await t.app.db.sql('DELETE FROM discount_offers WHERE notification_type = $1 AND user_id <> $2::int', ['cut', users[0]!.id]);
    await t.app.db.sql(
      `UPDATE promo_offer_broadcasts SET state = 'making', processed_up_to = $2::int, created_offers = 1 WHERE id = $1::int RETURNING id`,
      [id, users[0]!.id],
    );
    expect(await jobsOf(id)).toHaveLength(1);
    await deliver(t.app, id);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', created: 3 });
    for (const user of users) expect(await offersOf(t.app, user.id)).toHaveLength(1);
  });
});

describe('messages of a broadcast (spec 04 section 9.4)', () => {
  test('are queued: text filled and escaped, buttons for claiming and closing', async () => {
    const { app, sent } = withMessenger(t.app);
    const server = await aServer(t.app, { display_name: 'NL <1>' });
    const user = await aUser(t.app, { language: 'en' });
    const text = '<b>{discount_percent}</b> {valid_hours} {active_discount_hours} {test_duration_hours} {server_name} {user}';
    const { result, broadcast } = await aNotifying(
      {
        userId: user.id,
        extraData: { test_squad_uuids: [server.uuid], test_duration_hours: 7 },
        messageText: text,
        buttonText: 'Take it',
      },
      app,
    );
    expect(result).toMatchObject({ createdOffers: 1, sent: 0, failed: 0 });
    expect(broadcast).toMatchObject({ state: 'sending' });
    expect(sent).toEqual([]);
    await deliver(app, broadcast.id);
    const [offer] = await offersOf(t.app, user.id);
    expect(sent).toEqual([
      {
        chatId: user.messengerId,
        html: '<b>20</b> 24 24 7 NL &lt;1&gt; {user}',
        buttons: [
          [{ text: 'Take it', callbackData: `claim_discount_${offer!.id}` }],
          [{ text: 'Close', callbackData: 'promo_offer_close' }],
        ],
      },
    ]);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', sent: 1 });
  });

  test('without a text the default one, in the language of each user, with a configured mini-app in place of the claim button', async () => {
    const { app, sent } = withMessenger(t.app);
    const { settings } = t.app;
    const withMiniApp = {
      ...app,
      settings: {
        get: ((key: never) => (key === 'MINIAPP_CUSTOM_URL' ? 'https://mini.example' : settings.get(key))) as typeof settings.get,
      },
    };
    const { target, users } = await aSegment(t.app, 2);
    await t.app.db.sql("UPDATE users SET language = 'ru' WHERE id = $1::int RETURNING id", [users[1]!.id]);
    const { broadcast } = await aNotifying({ target, bonusAmountKopeks: 5_000 }, app);
    await deliver(withMiniApp, broadcast.id);
    const textOf = (index: number) => sent.find(({ chatId }) => chatId === users[index]!.messengerId)!.html;
    expect(textOf(0)).toBe('🎁 <b>A 20% discount for you</b>\nBonus: 50 ₽\nYou can take it within 24 h.');
    expect(textOf(1)).toBe('🎁 <b>Для вас скидка 20%</b>\nБонус: 50 ₽\nЗабрать можно в течение 24 ч.');
    expect(sent[0]!.buttons[0]).toEqual([expect.objectContaining({ webAppUrl: 'https://mini.example' })]);
  });

  test('users without messenger or who blocked it count as failed, users who switched offers off get none', async () => {
    const { target, users } = await aSegment(t.app, 4);
    const [plain, mailOnly, quiet, blocked] = users;
    await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [mailOnly!.id]);
    await t.app.db.sql(
      `UPDATE users SET notification_settings = '{"promo_offers_enabled": false}' WHERE id = $1::int RETURNING id`,
      [quiet!.id],
    );
    const { app, sent } = withMessenger(t.app, (chatId) => {
      if (chatId === blocked!.messengerId) throw new MessengerError({ kind: 'blocked' }, 'blocked');
    });
    const { result, broadcast } = await aNotifying({ target }, app);
    expect(result).toMatchObject({ createdOffers: 4, sent: 0, failed: 1 });
    await deliver(app, broadcast.id);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', created: 4, sent: 1, failed: 2, skipped: 1 });
    expect(sent.map(({ chatId }) => chatId)).toEqual([plain!.messengerId]);
    for (const user of users) expect(await offersOf(t.app, user.id)).toHaveLength(1);
  });

  test('the answer counts the messages sent while it waits', async () => {
    const { app } = withMessenger(t.app);
    const user = await aUser(t.app);
    const [{ result }] = await Promise.all([
      aNotifying({ userId: user.id }, app, () => false),
      (async () => {
        const id = await eventually(async () => {
          const [row] = await t.app.db.sql<{ id: number }>(
            `SELECT d.broadcast_id AS id FROM promo_offer_deliveries d JOIN discount_offers o ON o.id = d.offer_id
             WHERE o.user_id = $1::int AND d.state = 'queued'`,
            [user.id],
          );
          if (!row) throw new Error('no message waits in the queue');
          return row.id;
        });
        await deliver(app, id);
      })(),
    ]);
    expect(result).toMatchObject({ sent: 1, failed: 0 });
  });

  test('spec 04 section 9.6: sending stops when the messenger limits the rate and continues later, nobody gets two messages', async () => {
    const { target, users } = await aSegment(t.app, 3);
    let isLimited = true;
    const { app, sent } = withMessenger(t.app, (chatId) => {
      if (!isLimited) return;
      if (chatId === users[1]!.messengerId)
        throw new MessengerError({ kind: 'rate_limited', retryAfterSeconds: 60 }, 'slow down');
      if (chatId === users[2]!.messengerId) throw new MessengerError({ kind: 'unavailable' }, 'not there');
    });
    const { broadcast } = await aNotifying({ target }, app);
    await expect(deliver(app, broadcast.id)).rejects.toThrow('does not accept messages');
    expect(await lastBroadcast()).toMatchObject({ state: 'sending', sent: 1, failed: 0 });
    isLimited = false;
    await deliver(app, broadcast.id);
    await deliver(app, broadcast.id);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', sent: 3, failed: 0 });
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(users.map((user) => user.messengerId).sort());
  });

  test('spec 04 section 9.6: messages that may have arrived, or were claimed by a crashed run, are not sent again', async () => {
    const { target, users } = await aSegment(t.app, 2);
    const { app, sent } = withMessenger(t.app, (chatId) => {
      if (chatId === users[0]!.messengerId) throw new MessengerError({ kind: 'unavailable', mayHaveArrived: true }, 'no answer');
    });
    const { broadcast } = await aNotifying({ target }, app);
    const [lost] = await offersOf(t.app, users[1]!.id);
    await t.app.db.sql(
      `UPDATE promo_offer_deliveries SET state = 'sending', claimed_at = $2::timestamptz WHERE offer_id = $1::int RETURNING offer_id`,
      [lost!.id, t.app.clock.now()],
    );
    await deliver(app, broadcast.id);
    expect(await lastBroadcast()).toMatchObject({ state: 'sending', sent: 0, failed: 1 });
    expect(await jobsOf(broadcast.id)).toHaveLength(3);
    t.clock.advance(11 * MINUTE_MS);
    await deliver(app, broadcast.id);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', sent: 0, failed: 2 });
    expect(sent).toEqual([]);
  });

  test('no message about an offer that was claimed, has expired or was overwritten meanwhile', async () => {
    const { target, users } = await aSegment(t.app, 3);
    const [claimed, renewed, plain] = users;
    const { app, sent } = withMessenger(t.app);
    const first = await aNotifying({ target, notificationType: 'again' }, app);
    const [offer] = await offersOf(t.app, claimed!.id);
    await claimOffer(t.app, userActor(claimed!.id), offer!.id);
    const second = await aNotifying({ userId: renewed!.id, notificationType: 'again', discountPercent: 40 }, app);
    await deliver(app, first.broadcast.id);
    expect(sent.map(({ chatId }) => chatId)).toEqual([plain!.messengerId]);
    await deliver(app, second.broadcast.id);
    expect(sent.slice(1)).toMatchObject([{ chatId: renewed!.messengerId, html: expect.stringContaining('40%') }]);
    const third = await aNotifying({ userId: plain!.id, notificationType: 'late', validHours: 1 }, app);
    t.clock.advance(HOUR_MS);
    await deliver(app, third.broadcast.id);
    expect(sent).toHaveLength(2);
    expect(await lastBroadcast()).toMatchObject({ state: 'done', skipped: 1 });
  });

  test('a stopped run leaves a job that continues', async () => {
    const { target } = await aSegment(t.app, 1);
    const { app, sent } = withMessenger(t.app);
    const { broadcast } = await aNotifying({ target }, app);
    const before = (await jobsOf(broadcast.id)).length;
    await deliver(app, broadcast.id, AbortSignal.abort());
    expect([sent.length, (await jobsOf(broadcast.id)).length - before]).toEqual([0, 1]);
    await deliver(app, broadcast.id);
    expect(sent).toHaveLength(1);
  });
});
