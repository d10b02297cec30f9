/** Changes of balances above an amount wait for a second administrator (spec 01 section 4.8). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { HOUR_MS } from '../../src/core/clock.ts';
import { endOverdueApprovals } from '../../src/domain/approvals/decide.ts';
import { adjustBalanceByToken, changeBalance, refundPayment } from '../../src/domain/approvals/request-approval.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { type ActorClient, adminClient, giveRole } from '../support/actors.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { rowOf, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const LIMIT = 100_000;
const RIGHTS = ['users:balance', 'payments:edit', 'approvals:read', 'approvals:decide', 'users:delete'];
const ROOT = '/cabinet/admin/approvals';

let t: TestApp;
let server: FastifyInstance;
/** Asks; and another administrator, who knows nothing of the first. */
let asker: ActorClient;
let second: ActorClient;

beforeAll(async () => {
  t = await testApp({
    environment: { APPROVAL_BALANCE_CHANGE_KOPEKS: String(LIMIT), ADMIN_EMAILS: 'owner@example.com,other@example.com' },
  });
  server = await testServer(t.app);
});
beforeEach(async () => {
  asker = await adminClient(t.app, server, RIGHTS);
  second = await adminClient(t.app, server, RIGHTS);
});
afterAll(async () => {
  expect(await checkLedger(t.app)).toEqual([]);
  await server.close();
});

const change = (by: ActorClient, userId: number, amount: number) =>
  by.post(`/cabinet/admin/users/${userId}/balance`, { amount_kopeks: amount, description: 'By hand' });

const balanceOf = async (userId: number): Promise<number> =>
  (await rowOf<{ kopeks: number }>(t.app, 'SELECT balance_kopeks AS kopeks FROM users WHERE id = $1::int', [userId])).kopeks;

/** A customer with 2,000 rubles, and a change of the balance that waits. */
async function aWaiting(amount: number, by = asker): Promise<{ userId: number; id: number }> {
  const { id: userId } = await aUser(t.app);
  await topUp(t.app, userId, 200_000);
  const reply = await change(by, userId, amount);
  expect([reply.status, reply.body.message]).toEqual([200, expect.stringMatching(/^Waits for a second administrator/)]);
  return { userId, id: reply.body.approval.id };
}

const nameInConfiguration = (userId: number, email: string) =>
  t.app.db.sql('UPDATE users SET email = $2, email_verified = true WHERE id = $1::int RETURNING id', [userId, email]);

const decide = (by: ActorClient, id: number, decision: string, body?: object) => by.post(`${ROOT}/${id}/${decision}`, body);

describe('a change above the amount', () => {
  test('that adds money is carried out by the approval of another administrator', async () => {
    const { userId, id } = await aWaiting(LIMIT + 1);
    expect(await balanceOf(userId)).toBe(200_000);
    expect((await second.get(`${ROOT}/${id}`)).body).toMatchObject({
      status: 'waiting',
      kind: 'balance_change',
      amount_kopeks: LIMIT + 1,
      reserved_kopeks: 0,
      description: 'By hand',
      requester_id: asker.user.id,
      requested_by: `admin:${asker.user.id}`,
      user_id: userId,
    });
    const reply = await decide(second, id, 'approve');
    expect([reply.status, reply.body.status, reply.body.decided_by]).toEqual([200, 'approved', second.user.id]);
    expect(await balanceOf(userId)).toBe(200_000 + LIMIT + 1);
    const twice = await decide(second, id, 'approve');
    expect([twice.status, twice.body.detail]).toEqual([409, 'This was decided already']);
  });

  test('that takes money holds it until the decision', async () => {
    const { userId, id } = await aWaiting(-150_000);
    expect(await balanceOf(userId)).toBe(50_000);
    expect((await second.get(`${ROOT}/${id}`)).body.reserved_kopeks).toBe(150_000);
    expect((await decide(second, id, 'approve')).status).toBe(200);
    expect(await balanceOf(userId)).toBe(50_000);
    const list = await asker.get(ROOT, { query: { status: 'approved', kind: 'balance_change', limit: 1 } });
    expect([list.body.items[0].id, list.body.items[0].reserved_kopeks]).toEqual([id, 0]);
  });

  test('that the balance does not cover is refused at once', async () => {
    const { id: userId } = await aUser(t.app);
    const reply = await change(asker, userId, -LIMIT - 1);
    expect([reply.status, reply.body.detail]).toEqual([400, `Insufficient balance. Current: 0, requested: ${LIMIT + 1}`]);
  });

  test('gives back what it holds when it is refused, withdrawn or over', async () => {
    const [refused, withdrawn, over] = [await aWaiting(-150_000), await aWaiting(-150_000), await aWaiting(-150_000)];
    const reply = await decide(second, refused.id, 'refuse', { reason: 'Not agreed' });
    expect(reply.body).toMatchObject({ status: 'refused', reason: 'Not agreed', decided_by: second.user.id });
    expect((await decide(second, withdrawn.id, 'withdraw')).body.detail).toBe('Only who asked for this can withdraw it');
    expect((await decide(asker, withdrawn.id, 'withdraw')).body.status).toBe('withdrawn');
    expect((await decide(asker, withdrawn.id, 'withdraw')).body.detail).toBe('This was decided already');
    t.clock.advance(72 * HOUR_MS);
    // Sessions of before are over, too.
    const reader = await adminClient(t.app, server, RIGHTS);
    const late = await decide(reader, over.id, 'approve');
    expect([late.status, late.body.detail]).toEqual([409, 'The time to approve this is over']);
    await endOverdueApprovals(t.app);
    expect((await reader.get(`${ROOT}/${over.id}`)).body).toMatchObject({ status: 'expired', decided_by: null });
    for (const { userId } of [refused, withdrawn, over]) expect(await balanceOf(userId)).toBe(200_000);
    for (const action of ['refuse', 'withdraw'])
      expect((await decide(reader, over.id, action, { reason: 'Late' })).status).toBe(action === 'refuse' ? 409 : 403);
  });

  test('of a user who is erased ends, and leaves nothing held', async () => {
    const { userId, id } = await aWaiting(-150_000);
    const boss = await adminClient(t.app, server, ['*:*'], 900);
    const reply = await boss.delete(`/cabinet/admin/users/${userId}/full`, { body: {} });
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
    expect((await asker.get(`${ROOT}/${id}`)).body).toMatchObject({ status: 'withdrawn', reserved_kopeks: 0 });
  });

  test('is in the audit log, with both administrators', async () => {
    const { id } = await aWaiting(LIMIT + 1);
    await decide(second, id, 'approve');
    await t.ports.audit.flush();
    const rows = await t.app.db.sql<{ userId: number; details: string }>(
      `SELECT user_id, details::text FROM admin_audit_log WHERE user_id = ANY($1::int[]) AND details::text LIKE '%pproval%' ORDER BY id`,
      [[asker.user.id, second.user.id]],
    );
    expect(rows.map(({ userId }) => userId)).toEqual([asker.user.id, second.user.id]);
    expect(rows[1]!.details).toContain(`admin:${asker.user.id}`);
  });
});

describe('who may approve', () => {
  const refusalOf = async (by: ActorClient, id: number) => {
    const { status, body } = await decide(by, id, 'approve');
    return [status, body.detail];
  };

  test('not the administrator who asked', async () => {
    const { id } = await aWaiting(LIMIT + 1);
    expect(await refusalOf(asker, id)).toEqual([403, 'You asked for this: another administrator has to decide']);
  });

  test('not somebody whose rights come from the one who asked, also through others', async () => {
    const [direct, indirect] = [await adminClient(t.app, server, RIGHTS), await adminClient(t.app, server, RIGHTS)];
    for (const [holder, by] of [
      [direct, asker],
      [indirect, direct],
    ] as const)
      await t.app.db.sql('UPDATE user_roles SET assigned_by = $2::int WHERE user_id = $1::int RETURNING id', [
        holder.user.id,
        by.user.id,
      ]);
    const { id } = await aWaiting(LIMIT + 1);
    for (const client of [direct, indirect]) {
      expect(await refusalOf(client, id)).toEqual([
        403,
        'Your rights come from the administrator who asks for this: somebody else has to decide',
      ]);
    }
  });

  test('not somebody who got the right after the request', async () => {
    const { id } = await aWaiting(LIMIT + 1);
    const late = await adminClient(t.app, server, ['approvals:decide']);
    t.clock.advance(1_000);
    await giveRole(t.app, late.user.id, RIGHTS, { at: t.clock.now() });
    expect(await refusalOf(late, id)).toEqual([
      403,
      'You had no right to this when it was asked for: somebody else has to decide',
    ]);
  });

  test('not somebody without the right to the change itself', async () => {
    const { id } = await aWaiting(LIMIT + 1);
    expect((await refusalOf(await adminClient(t.app, server, ['approvals:decide']), id))[0]).toBe(403);
  });

  test('nobody what cannot be carried out any more', async () => {
    const { userId, id } = await aWaiting(LIMIT + 1);
    await topUp(t.app, userId, Number.MAX_SAFE_INTEGER - 200_000);
    expect(await refusalOf(second, id)).toEqual([409, 'It cannot be carried out: Amount is too large']);
    expect((await second.get(`${ROOT}/${id}`)).body.status).toBe('waiting');
  });

  test('not about an administrator of the same rank, or oneself', async () => {
    const boss = await adminClient(t.app, server, RIGHTS, 900);
    const reply = await change(boss, second.user.id, LIMIT + 1);
    expect((await refusalOf(second, reply.body.approval.id))[0]).toBe(403);
    const other = await adminClient(t.app, server, RIGHTS);
    expect((await refusalOf(other, reply.body.approval.id))[0]).toBe(403);
    const { userId, id } = await aWaiting(LIMIT + 1);
    await nameInConfiguration(userId, 'other@example.com');
    expect((await refusalOf(second, id))[0]).toBe(403);
  });

  test('nobody for an approval that is not there', async () => {
    expect(await refusalOf(second, 2 ** 31 - 1)).toEqual([404, 'Approval not found']);
    expect((await second.get(`${ROOT}/${2 ** 40}`)).status).toBe(404);
    for (const action of ['refuse', 'withdraw'])
      expect((await decide(second, 2 ** 31 - 1, action, { reason: 'None' })).status).toBe(404);
  });
});

describe('what stays below the amount', () => {
  test('is changed at once, until the changes of a day exceed it together', async () => {
    const { id: userId } = await aUser(t.app);
    const amounts = [60_000, 40_000];
    for (const amount of amounts) expect((await change(asker, userId, amount)).body.approval).toBeNull();
    expect((await change(asker, userId, 100)).body.approval).toMatchObject({ id: expect.any(Number) });
    expect((await change(second, userId, 100)).body.approval).toBeNull();
    expect(await balanceOf(userId)).toBe(100_100);
    t.clock.advance(25 * HOUR_MS);
    const actor = { kind: 'admin', userId: asker.user.id, level: 100, isConfigAdmin: false } as const;
    const request = { userId, amountKopeks: 100, description: null, isShown: true };
    expect((await changeBalance(t.app, actor, request, null)).approval).toBeNull();
    await endOverdueApprovals(t.app);
  });

  test('is not counted twice when the request is repeated with its key', async () => {
    const { id: userId } = await aUser(t.app);
    const keyed = asker.with({ 'idempotency-key': `once ${userId}` });
    const send = () => keyed.post(`/cabinet/admin/users/${userId}/balance`, { amount_kopeks: 60_000 });
    const first = await send();
    expect((await send()).body).toEqual(first.body);
    expect(await balanceOf(userId)).toBe(60_000);
    expect((await change(asker, userId, 40_000)).body.approval).toBeNull();
  });
});

/** Tokens count together: what those of the other tests have changed is of the day before. */
const countsFromNow = () => t.clock.advance(25 * HOUR_MS);

test('an API token is refused above the amount, alone or in sum, and changes nothing', async () => {
  const api = await tokenClient(t.app, server);
  const { id: userId } = await aUser(t.app);
  const send = (amount: number) => api.post(`/users/${userId}/balance`, { amount_kopeks: amount });
  countsFromNow();
  expect((await send(60_000)).body.balance_kopeks).toBe(60_000);
  for (const amount of [LIMIT + 1, 50_000, -60_000])
    expect([(await send(amount)).status, await balanceOf(userId)]).toEqual([403, 60_000]);
  expect((await send(0)).body.detail).toBe('Amount must be non-zero');
  expect((await send(40_000)).body.balance_kopeks).toBe(100_000);
});

test('a repeat gets its first answer, whether the amount was set before or after', async () => {
  const [token, { id: user }] = [{ kind: 'token', tokenId: unique(), name: 'Bot' } as const, await aUser(t.app)];
  countsFromNow();
  const without = (await testApp({ clock: t.clock })).app;
  const send = (app: App, key: string) =>
    adjustBalanceByToken(app, token, { user, amountKopeks: 1_000, description: null, isShown: true }, key);
  for (const [first, then] of [
    [without, t.app],
    [t.app, without],
  ] as const) {
    const key = `token ${unique()}`;
    const answer = await send(first, key);
    expect(await send(then, key)).toEqual(answer);
  }
  expect(await balanceOf(user)).toBe(2_000);
});

test('an administrator of the configuration may decide whatever the roles are', async () => {
  const { id } = await aWaiting(LIMIT + 1);
  const owner = await adminClient(t.app, server, []);
  await nameInConfiguration(owner.user.id, 'owner@example.com');
  await giveRole(t.app, owner.user.id, RIGHTS, { by: asker.user.id });
  expect((await decide(owner, id, 'approve')).body.status).toBe('approved');
});

test('a refund by command is refused for a payment that is not there', async () => {
  const order = { paymentId: 2 ** 31 - 1, amountKopeks: null, reason: 'Why', requestedBy: 'command line' };
  await expect(refundPayment(t.app, { kind: 'system', name: 'command line' }, order)).rejects.toMatchObject({ status: 404 });
});
