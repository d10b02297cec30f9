import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { adjustBalance } from '../../src/domain/users/account/change-balance.ts';
import { giveSubscription } from '../../src/domain/users/account/give-subscription.ts';
import { readUser } from '../../src/domain/users/account/read-user.ts';
import { registerUser, updateUser } from '../../src/domain/users/account/save-user.ts';
import { aUser, unique } from '../support/builders.ts';
import { lost, refusals, settled, won } from '../support/parallel.ts';
import { recordedEvents } from '../support/recorded-events.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { aRegistration, userChanges } from '../support/user-requests.ts';

const actor: TokenActor = { kind: 'token', tokenId: 1, name: 'race' };

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('users raced', () => {
  let app: App;
  beforeAll(async () => {
    ({ app } = await testApp());
  });

  const adjust = (user: number, amountKopeks: number, key: string | null = null) =>
    adjustBalance(app, actor, { user, amountKopeks, description: null, isShown: true }, key);
  const movements = async (userId: number) =>
    (await app.db.sql<{ rows: number }>('SELECT count(*)::int AS rows FROM transactions WHERE user_id = $1::int', [userId]))[0]!
      .rows;

  const keysNamed = async (key: string) =>
    (await app.db.sql<{ rows: number }>('SELECT count(*)::int AS rows FROM idempotency_keys WHERE key = $1', [key]))[0]!.rows;

  test('fifty registrations of one messenger id make one user', async () => {
    const messengerId = 8_000_000_000 + unique();
    const results = await settled(50, () => registerUser(app, actor, aRegistration({ messengerId })));
    expect(won(results)).toHaveLength(1);
    expect(new Set(refusals(results))).toEqual(new Set(['User with this messenger_id already exists']));
    const users = await app.db.sql('SELECT id FROM users WHERE messenger_id = $1::bigint', [messengerId]);
    expect(users).toHaveLength(1);
    const events = await recordedEvents(app, 'user.created');
    expect(events.filter((event) => event.messenger_id === messengerId)).toHaveLength(1);
  });

  test('withdrawals at once never overdraw', async () => {
    const { id } = await aUser(app);
    await adjust(id, 1_000);
    const results = await settled(30, () => adjust(id, -100));
    expect(won(results)).toHaveLength(10);
    expect(new Set(refusals(results))).toEqual(new Set(['Insufficient balance']));
    expect((await readUser(app, id)).balanceKopeks).toBe(0);
    expect(await movements(id)).toBe(11);
  });

  test('mixed movements lose nothing', async () => {
    const { id } = await aUser(app);
    await adjust(id, 100_000);
    const results = await settled(60, (n) => adjust(id, n % 2 === 0 ? 70 + n : -(30 + n)));
    expect(refusals(results)).toEqual([]);
    const sum = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? 70 + n : -(30 + n))).reduce(
      (total, amount) => total + amount,
      0,
    );
    expect((await readUser(app, id)).balanceKopeks).toBe(100_000 + sum);
    expect(await movements(id)).toBe(61);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('concurrent calls with one key run once and get the same answer', async () => {
    const { id } = await aUser(app);
    const key = `race-${unique()}`;
    const results = await settled(20, () => adjust(id, 500, key));
    expect(won(results)).toHaveLength(20);
    for (const view of won(results)) expect(view).toEqual(won(results)[0]);
    expect((await readUser(app, id)).balanceKopeks).toBe(500);
    expect(await movements(id)).toBe(1);
  });

  test('fifty repeats of one key at once are one movement with one answer, those with another body are refused', async () => {
    const { id } = await aUser(app);
    const key = `race-${unique()}`;
    const results = await settled(60, (n) => adjust(id, n % 6 === 5 ? 501 : 500, key));
    const answers = won(results);
    const amount = answers[0]!.balanceKopeks;
    expect(answers).toHaveLength(amount === 500 ? 50 : 10);
    for (const view of answers) expect(view).toEqual(answers[0]);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 422 });
    expect((await readUser(app, id)).balanceKopeks).toBe(amount);
    expect(await movements(id)).toBe(1);
  });

  test('callers that wait for a refused one with their key go on, one after the other', async () => {
    const { id } = await aUser(app);
    const key = `race-${unique()}`;
    expect(new Set(refusals(await settled(20, () => adjust(id, -1, key))))).toEqual(new Set(['Insufficient balance']));
    expect(await keysNamed(key)).toBe(0);
    // Refused ones and one that is carried out, all with one key: the refused ones either come first and leave no key, or they are 422.
    const results = await settled(20, (n) => adjust(id, n === 10 ? 700 : -900, key));
    expect(won(results)).toHaveLength(1);
    for (const reason of lost(results)) expect([400, 422]).toContain((reason as { status: number }).status);
    expect(await keysNamed(key)).toBe(1);
    expect((await readUser(app, id)).balanceKopeks).toBe(700);
    expect(await movements(id)).toBe(1);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('one referral code for many users goes to one of them', async () => {
    const users = await Promise.all(Array.from({ length: 12 }, () => aUser(app)));
    const referralCode = `race${unique()}`.slice(0, 20);
    const results = await settled(users.length, (n) => updateUser(app, actor, users[n]!.id, userChanges({ referralCode })));
    expect(won(results)).toHaveLength(1);
    expect(new Set(refusals(results))).toEqual(new Set(['Referral code already in use']));
  });

  test('one of many calls gives the subscription', async () => {
    const { id } = await aUser(app);
    const request = {
      isTrial: false,
      durationDays: 30,
      trafficLimitGb: null,
      deviceLimit: null,
      squadUuid: null,
      connectedSquads: null,
      replaceExisting: false,
    };
    const results = await settled(15, () => giveSubscription(app, actor, id, request));
    expect(won(results)).toHaveLength(1);
    expect(new Set(refusals(results))).toEqual(
      new Set(['User already has a subscription. Use replace_existing=true to replace it']),
    );
  });

  test('totals stay exact during concurrent changes of statuses, and the number of counter rows stays small', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, () => aUser(app)));
    const statuses = ['blocked', 'active', 'deleted', 'active'];
    const results = await settled(400, (n) =>
      updateUser(app, actor, users[n % 20]!.id, userChanges({ status: statuses[Math.floor(n / 20) % 4]! })),
    );
    expect(refusals(results)).toEqual([]);
    const [row] = await app.db.sql<{ differing: number; kept: number }>(
      `SELECT (SELECT count(*)::int FROM user_counters) AS kept, (SELECT count(*)::int FROM (
         (SELECT status, promo_group_id, count(*)::int FROM users GROUP BY 1, 2
          EXCEPT SELECT status, promo_group_id, sum(users)::int FROM user_counters GROUP BY 1, 2 HAVING sum(users) <> 0)
         UNION ALL (SELECT status, promo_group_id, sum(users)::int FROM user_counters GROUP BY 1, 2 HAVING sum(users) <> 0
          EXCEPT SELECT status, promo_group_id, count(*)::int FROM users GROUP BY 1, 2)) d) AS differing`,
    );
    expect(row!.differing).toBe(0);
    expect(row!.kept).toBeLessThan(400);
  });
});
