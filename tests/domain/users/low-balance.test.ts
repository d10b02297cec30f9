import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { changeMyPreferences } from '../../../src/domain/users/notifications/notifications.ts';
import { notifyLowBalances } from '../../../src/domain/users/notifications/notify-low-balances.ts';
import { aUser, type BuiltUser } from '../../support/builders.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { topUp } from '../../support/sale-samples.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { takeMessages } from '../../support/ticket-fixture.ts';

let app: App;
let clock: TestClock;
beforeEach(async () => {
  ({ app, clock } = await testApp());
  await app.db.sql("DELETE FROM service_state WHERE key = 'users:low-balance' RETURNING key");
  await notifyLowBalances(app);
});

async function spend(userId: number, kopeks: number): Promise<void> {
  await postMovement(app, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -kopeks,
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: null,
    description: 'spent',
  });
}

async function aPayer(kopeks: number, threshold?: number): Promise<BuiltUser> {
  const user = await aUser(app, { language: 'en' });
  await topUp(app, user.id, kopeks);
  if (threshold !== undefined)
    await changeMyPreferences(app, { kind: 'user', userId: user.id }, { balanceLowThreshold: threshold });
  return user;
}

/** Messages of the user after a run. */
async function run(user: BuiltUser) {
  await notifyLowBalances(app);
  return takeMessages(app, user.messengerId);
}

describe('spec 05 section 9.1: the notice of a low balance', () => {
  it('is sent once for each debit that takes the balance below the threshold of the user', async () => {
    const user = await aPayer(50_000, 10_000);
    await spend(user.id, 40_000);
    expect(await run(user)).toEqual([]);
    await spend(user.id, 1);
    const [notice, ...more] = await run(user);
    expect(more).toEqual([]);
    expect(notice!.html).toContain('99.99');
    expect(notice!.buttons!.flat()).toMatchObject([{ callbackData: 'menu_balance' }]);
    expect(await run(user)).toEqual([]);
    await spend(user.id, 500);
    expect(await run(user)).toEqual([]);
    await topUp(app, user.id, 600);
    expect(await run(user)).toEqual([]);
    await spend(user.id, 1_000);
    expect(await run(user)).toHaveLength(1);
  });

  it('is sent though later debits follow the one that crossed, and not when the balance is sufficient again', async () => {
    const [low, recovered, never] = [await aPayer(500), await aPayer(500), await aPayer(90)];
    for (const user of [low, recovered]) {
      await spend(user.id, 450);
      await spend(user.id, 10);
    }
    await topUp(app, recovered.id, 1_000);
    await spend(never.id, 10);
    expect(await run(low)).toHaveLength(1);
    expect(await takeMessages(app, recovered.messengerId)).toEqual([]);
    expect(await takeMessages(app, never.messengerId)).toEqual([]);
  });

  it('is not sent to who has switched it off, to blocked users, nor while notifications are off, also not afterwards', async () => {
    const [off, blocked, quiet] = [await aPayer(500), await aPayer(500), await aPayer(500)];
    await changeMyPreferences(app, { kind: 'user', userId: off.id }, { balanceLowEnabled: false });
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [blocked.id]);
    for (const user of [off, blocked]) await spend(user.id, 450);
    expect(await run(off)).toEqual([]);
    expect(await takeMessages(app, blocked.messengerId)).toEqual([]);

    await spend(quiet.id, 450);
    const silent = (await testApp({ environment: { ENABLE_NOTIFICATIONS: 'false' }, clock })).app;
    for (let round = 0; round < 2; round++) {
      clock.advance(MINUTE_MS);
      expect(await notifyLowBalances(silent)).toBe(0);
    }
    expect(await run(quiet)).toEqual([]);
  });

  it('goes to the sockets of users without a messenger', async () => {
    const user = await aPayer(500);
    await app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [user.id]);
    await spend(user.id, 450);
    await notifyLowBalances(app);
    const events = await recordedEvents(app, 'notification.balance_low', user.id);
    expect(events).toMatchObject([{ balance_kopeks: 50, balance_rubles: 0.5 }]);
  });

  it('finds an entry that commits after later ones were read', async () => {
    const [late, early] = [await aPayer(500), await aPayer(500)];
    await spend(late.id, 450);
    await spend(early.id, 450);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [late.id]);
    expect(await run(early)).toHaveLength(1);
    // As if the debit had become visible only now, within the time in which a transaction can last.
    await app.db.sql("UPDATE users SET status = 'active' WHERE id = $1::int RETURNING id", [late.id]);
    expect(await run(late)).toHaveLength(1);
  });
});
