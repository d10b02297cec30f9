import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor, TokenActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { committedStatement } from '../../../src/core/db/db-errors.ts';
import { fieldOf } from '../../../src/core/db/sql-runner.ts';
import { toStoredJson } from '../../../src/core/stored-json.ts';
import { adjustBalance, changeUserBalance } from '../../../src/domain/users/account/change-balance.ts';
import { readUser } from '../../../src/domain/users/account/read-user.ts';
import { VIEW_COLUMNS, VIEW_JOINS } from '../../../src/domain/users/account/view-repo.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { recordingApp } from '../../support/sent-statements.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const actor: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };

let t: TestApp;
let app: App;
let admin: AdminActor;
beforeAll(async () => {
  t = await testApp();
  app = t.app;
  admin = await anAdmin(app, 100);
});

const request = (user: number, amountKopeks: number) => ({ user, amountKopeks, description: 'x', isShown: true });
const adjust = (user: number, amountKopeks: number, key: string | null = null, on = app) =>
  adjustBalance(on, actor, request(user, amountKopeks), key);
const change = (userId: number, amountKopeks: number, key: string | null = null, on = app) =>
  changeUserBalance(on, admin, { userId, amountKopeks, description: 'x', isShown: true }, key);
const aKey = () => `balance-${unique()}`;
const storedKeys = async (key: string) =>
  (await app.db.sql<{ response: unknown }>('SELECT response FROM idempotency_keys WHERE key = $1', [key])).map(
    ({ response }) => response,
  );
const balanceOf = async (userId: number) =>
  (await rowOf<{ balanceKopeks: number }>(app, 'SELECT balance_kopeks FROM users WHERE id = $1::int', [userId])).balanceKopeks;

/** A user with a subscription and everything else that a view may show. */
async function aShownUser() {
  const user = await aUser(app);
  await aStoredSubscription(app, user.id);
  return user;
}

describe('round trips', () => {
  test.each([
    ['with a key', aKey],
    ['without a key', () => null],
  ])('an adjustment %s is one statement', async (_name, key) => {
    const user = await aUser(app);
    const recording = recordingApp(app);
    await adjust(user.id, 500, key(), recording.app);
    expect(recording.sent).toEqual([expect.stringContaining('change_balance')]);
    expect(recording.announced()).toBe(1);
  });

  test('a repeat and a refusal are one statement, too', async () => {
    const user = await aUser(app);
    const key = aKey();
    await adjust(user.id, 500, key);
    const recording = recordingApp(app);
    await adjust(user.id, 500, key, recording.app);
    await expect(adjust(user.id, -501, aKey(), recording.app)).rejects.toMatchObject({ status: 400 });
    expect(recording.sent).toHaveLength(2);
  });

  test("the administrator's change is one statement after the guard of the target", async () => {
    const user = await aUser(app);
    const recording = recordingApp(app);
    await change(user.id, 500, aKey(), recording.app);
    expect(recording.sent.filter((text) => text.includes('change_balance'))).toHaveLength(1);
    expect(recording.sent.at(-1)).toContain('change_balance');
    expect(recording.sent).not.toContain('BEGIN');
  });
});

describe('the answer', () => {
  test('has the columns of every other view of a user', async () => {
    const user = await aShownUser();
    const [row] = await app.db.sql<object>(`SELECT ${VIEW_COLUMNS} FROM users u ${VIEW_JOINS} WHERE u.id = $1::int`, [user.id]);
    const [view] = await app.db.sql<{ view: object }>('SELECT user_view($1::int) AS view', [user.id]);
    expect(Object.keys(view!.view).map(fieldOf)).toEqual(Object.keys(row!));
  });

  test('is what a read gives, for a user with a subscription and without, by either id', async () => {
    const user = await aShownUser();
    expect(await adjust(user.id, 700, aKey())).toEqual(await readUser(app, user.id));
    expect(await adjust(user.messengerId!, 1, null)).toEqual(await readUser(app, user.id));
    await app.db.sql('UPDATE users SET promo_group_id = NULL WHERE id = $1::int RETURNING id', [user.id]);
    expect(await adjust(user.id, 1, null)).toEqual(await readUser(app, user.id));
    const other = await aUser(app);
    expect(await adjust(other.id, 1, null)).toEqual(await readUser(app, other.id));
  });

  test('keeps timestamps beyond the year 9999', async () => {
    const user = await aShownUser();
    await app.db.sql("UPDATE subscriptions SET end_date = '12026-01-02 03:04:05.678+00' WHERE user_id = $1::int RETURNING id", [
      user.id,
    ]);
    const answer = await adjust(user.id, 1, aKey());
    expect(answer.subscription!.endDate).toEqual(new Date('+012026-01-02T03:04:05.678Z'));
    expect(answer).toEqual(await readUser(app, user.id));
  });

  test('of a repeat is the first one, although the user has changed and the subscription has ended since', async () => {
    const user = await aShownUser();
    const key = aKey();
    const first = await adjust(user.id, 900, key);
    expect(first.subscription!.actualStatus).toBe('active');
    await adjust(user.id, 1);
    await app.db.sql("UPDATE users SET first_name = 'later' WHERE id = $1::int RETURNING id", [user.id]);
    const later = new Date(first.subscription!.endDate.getTime() + 1);
    const repeat = await adjust(user.id, 900, key, { ...app, clock: { now: () => later } });
    expect(repeat).toEqual(first);
    expect(await balanceOf(user.id)).toBe(901);
  });

  test('that an older release has stored is given again', async () => {
    const user = await aShownUser();
    const [key, adminKey] = [aKey(), aKey()];
    const [view, changed] = [await adjust(user.id, 300, key), await change(user.id, 200, adminKey)];
    await app.db.sql('UPDATE idempotency_keys SET response = $2::json WHERE key = $1 RETURNING key', [
      key,
      toStoredJson({ value: view }),
    ]);
    expect(await adjust(user.id, 300, key)).toEqual(view);
    expect(await storedKeys(adminKey)).toEqual([JSON.parse(toStoredJson({ value: changed }))]);
    expect(await change(user.id, 200, adminKey)).toEqual({ oldBalanceKopeks: 300, newBalanceKopeks: 500 });
  });
});

describe('a refusal', () => {
  test.each([
    ['for want of money', -501, { status: 400, detail: 'Insufficient balance' }],
    ['of a balance that no number holds', Number.MAX_SAFE_INTEGER, { status: 400, detail: 'Amount is too large' }],
  ])('%s leaves neither key nor money, and the key may be used again', async (_name, amountKopeks, refusal) => {
    const user = await aUser(app);
    await adjust(user.id, 500);
    const key = aKey();
    await expect(adjust(user.id, amountKopeks, key)).rejects.toMatchObject(refusal);
    await expect(change(user.id, amountKopeks, key)).rejects.toMatchObject({ status: 400 });
    expect(await storedKeys(key)).toEqual([]);
    expect(await balanceOf(user.id)).toBe(500);
    expect((await adjust(user.id, -500, key)).balanceKopeks).toBe(0);
  });

  test('of an unknown user leaves no key', async () => {
    const key = aKey();
    for (const unknown of [2_147_483_647, 2_147_483_648, -1, 0, Number.MAX_SAFE_INTEGER])
      await expect(adjust(unknown, 1, key)).rejects.toMatchObject({ status: 404, detail: 'User not found' });
    expect(await storedKeys(key)).toEqual([]);
  });

  test('of a used key comes before every other', async () => {
    const user = await aUser(app);
    const key = aKey();
    await adjust(user.id, 500, key);
    const other = { status: 422 };
    await expect(adjust(user.id, -501, key)).rejects.toMatchObject(other);
    await expect(adjust(2_147_483_647, 500, key)).rejects.toMatchObject(other);
    await expect(adjust(user.id, 500, 'k'.repeat(256))).rejects.toMatchObject(other);
    expect(await balanceOf(user.id)).toBe(500);
  });

  test('names the balance to an administrator', async () => {
    const user = await aUser(app);
    await adjust(user.id, 500);
    await expect(change(user.id, -501, aKey())).rejects.toMatchObject({
      detail: 'Insufficient balance. Current: 500, requested: 501',
    });
  });
});

describe("an administrator's change", () => {
  test('of nothing writes no movement, and with a key gives its answer again', async () => {
    const user = await aUser(app);
    await adjust(user.id, 500);
    const key = aKey();
    expect(await change(user.id, 0, key)).toEqual({ oldBalanceKopeks: 500, newBalanceKopeks: 500 });
    await adjust(user.id, 1);
    expect(await change(user.id, 0, key)).toEqual({ oldBalanceKopeks: 500, newBalanceKopeks: 500 });
    expect(await rowOf(app, 'SELECT count(*)::int AS n FROM transactions WHERE user_id = $1::int', [user.id])).toEqual({ n: 2 });
  });

  test('is recorded once for the audit log, not by a repeat', async () => {
    const user = await aUser(app);
    const key = aKey();
    const recorded: unknown[] = [];
    const audited = { ...app, audit: { record: (facts: unknown) => void recorded.push(facts) } };
    await change(user.id, 250, key, audited);
    await change(user.id, 250, key, audited);
    expect(recorded).toEqual([{ before: { balanceKopeks: 0 }, after: { balanceKopeks: 250 } }]);
  });
});

describe('committedStatement', () => {
  const writeConflict = () => Object.assign(new Error('could not serialize access'), { code: '40001' });

  test('runs again after a write conflict and announces events once', async () => {
    const recording = recordingApp(app);
    let calls = 0;
    const result = await committedStatement(recording.app, async () => {
      calls += 1;
      if (calls < 3) throw writeConflict();
      return 'done';
    });
    expect([result, calls, recording.announced()]).toEqual(['done', 3, 1]);
  });

  test('gives up after five times, and never repeats another error', async () => {
    const recording = recordingApp(app);
    let calls = 0;
    const failing = (error: Error) =>
      committedStatement(recording.app, async () => {
        calls += 1;
        throw error;
      });
    await expect(failing(writeConflict())).rejects.toThrow('could not serialize access');
    expect(calls).toBe(5);
    await expect(failing(new Error('other'))).rejects.toThrow('other');
    expect([calls, recording.announced()]).toEqual([6, 0]);
  });

  test('inside a transaction is a part of it: neither repeated nor announced', async () => {
    const recording = recordingApp(app);
    const inner = { ...recording.app, db: { ...recording.app.db, begin: null } };
    let calls = 0;
    const failing = committedStatement(inner, async () => {
      calls += 1;
      throw writeConflict();
    });
    await expect(failing).rejects.toThrow('could not serialize access');
    expect(await committedStatement(inner, async () => 'done')).toBe('done');
    expect([calls, recording.announced()]).toEqual([1, 0]);
  });
});
