import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts';
import type { Rows } from '../../src/core/db/columns.ts';
import { linkAuditLog } from '../../src/domain/access/audit-chain.ts';
import { verifyAuditLog } from '../../src/domain/access/verify-audit-log.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { advanceErasure } from '../../src/domain/personal-data/erase-person.ts';
import { sweepRequests } from '../../src/domain/personal-data/jobs.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { aStoredSubscription, rowOf, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/personal-data/erasure';
const ADMIN = '/cabinet/admin/personal-data';
const CONFIRMED = { confirmation: 'ERASE', forfeit_balance: true, end_subscription: true };

let t: TestApp;
let server: FastifyInstance;
let person: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { PERSONAL_DATA_SELF_SERVICE: 'export_and_erasure' } });
  server = await testServer(t.app);
});
afterAll(() => server.close());
beforeEach(async () => {
  person = await userClient(t.app, server, { email: `gone${unique()}@example.com` });
});

const stateOf = async (id: number) =>
  (await rowOf<{ state: string }>(t.app, 'SELECT state FROM data_requests WHERE id = $1::int', [id])).state;
const accountOf = (userId: number) =>
  rowOf<{ status: string; messengerId: number | null; email: string | null; referralCode: string }>(
    t.app,
    'SELECT status, messenger_id, email, referral_code FROM users WHERE id = $1::int',
    [userId],
  );
const erased = (userId: number) => ({ status: 'deleted', messengerId: null, email: null, referralCode: `erased:${userId}` });

const aPayment = (fields: Partial<Rows['Payment']>) =>
  storeRow(
    t.app,
    'Payment',
    Object.assign({ method: 'sandbox', orderId: `order-${unique()}`, amountKopeks: 100, status: 'x' }, fields),
  );

/** What can be open, with how it comes about. */
const OPEN: Record<string, (userId: number) => Promise<unknown>> = {
  pending_withdrawal: (userId) => storeRow(t.app, 'WithdrawalRequest', { userId, amountKopeks: 100, status: 'approved' }),
  pending_payment: (userId) => aPayment({ userId }),
  open_case: async (userId) => {
    const { id: paymentId } = await aPayment({ userId, outcome: 'expired' });
    const facts = {
      kind: 'refund',
      method: 'sandbox',
      amountKopeks: 100,
      status: 'requested',
      requestedBy: 'admin:1',
      createdAt: t.clock.now(),
    } as const;
    await storeRow(t.app, 'PaymentReversal', Object.assign({ paymentId }, facts));
  },
  undelivered_purchase: (userId) => {
    const token = `token-${unique()}`.padEnd(22, 'x');
    return storeRow(t.app, 'GuestPurchase', {
      userId,
      token,
      code: token.slice(0, 22),
      contactType: 'email',
      contactValue: 'a@example.com',
      periodDays: 30,
      amountKopeks: 100,
      status: 'pending_activation',
      paidAt: t.clock.now(),
    });
  },
  waiting_approval: (userId) =>
    storeRow(t.app, 'Approval', {
      userId,
      kind: 'balance_change',
      status: 'waiting',
      amountKopeks: 100,
      requestedBy: 'admin:1',
      createdAt: t.clock.now(),
      expiresAt: t.clock.now(),
    }),
  balance: (userId) => topUp(t.app, userId, 700),
  paid_subscription: (userId) => aStoredSubscription(t.app, userId, { is_trial: false }),
};

describe('the erasure of the own account', () => {
  it('waits for its day, is executed then, and the same person can register as a new one', async () => {
    const { messengerId, id: userId } = person.user;
    await topUp(t.app, userId, 700);
    const asked = await person.post(PATH, CONFIRMED);
    expect(asked).toMatchObject({ status: 200, body: { kind: 'erasure', state: 'requested', user_id: userId } });
    expect((await person.post(PATH, CONFIRMED)).body.id).toBe(asked.body.id);
    expect(Date.parse(asked.body.due_at) - t.clock.now().getTime()).toBe(7 * DAY_MS);
    await advanceErasure(t.app, asked.body.id);
    expect(await stateOf(asked.body.id)).toBe('requested');
    t.clock.advance(7 * DAY_MS);
    await sweepRequests(t.app);
    const jobs = await t.app.db.sql(
      "SELECT 1 AS job FROM jobs.job WHERE name = 'persons.erase' AND (data ->> 'requestId')::int = $1::int",
      [asked.body.id],
    );
    expect(jobs).toHaveLength(1);
    await advanceErasure(t.app, asked.body.id);
    expect(await stateOf(asked.body.id)).toBe('done');
    expect(await accountOf(userId)).toEqual(erased(userId));
    expect((await person.get('/cabinet/personal-data')).status).toBe(401);
    expect(await checkLedger(t.app)).toEqual([]);
    const again = await clientOf(server).post('/cabinet/auth/messenger', {
      init_data: initDataOf(t, { messengerId }),
    });
    expect(again.status).toBe(200);
    expect(again.body.user.id).not.toBe(userId);
    expect(again.body.user.messenger_id).toBe(messengerId);
  });

  it.each(Object.keys(OPEN))('is refused while there is: %s', async (obligation) => {
    await OPEN[obligation]!(person.user.id);
    expect((await person.get('/cabinet/personal-data')).body.obligations).toEqual([obligation]);
    const refused = { status: 409, body: { detail: { code: 'obligations_open', obligations: [obligation] } } };
    expect(await person.post(PATH, { confirmation: 'ERASE' })).toMatchObject(refused);
    const admin = await adminClient(t.app, server, ['personal_data:*'], 900);
    expect(await admin.post(`${ADMIN}/users/${person.user.id}/erase`, { confirmation: 'ERASE' })).toMatchObject(refused);
    const isConfirmable = ['balance', 'paid_subscription'].includes(obligation);
    expect((await person.post(PATH, CONFIRMED)).status).toBe(isConfirmable ? 200 : 409);
  });

  it('can be cancelled until then, also when the operator has switched it off', async () => {
    expect((await person.delete(PATH)).status).toBe(404);
    const asked = await person.post(PATH, CONFIRMED);
    expect(await person.delete(PATH)).toMatchObject({ status: 200, body: { id: asked.body.id, state: 'cancelled' } });
    expect((await person.delete(PATH)).body.state).toBe('cancelled');
    t.clock.advance(7 * DAY_MS);
    await advanceErasure(t.app, asked.body.id);
    expect((await accountOf(person.user.id)).status).toBe('active');
  });

  it('is put off while more is on the balance than was given up', async () => {
    await topUp(t.app, person.user.id, 100);
    const asked = await person.post(PATH, CONFIRMED);
    await topUp(t.app, person.user.id, 1);
    t.clock.advance(7 * DAY_MS);
    await advanceErasure(t.app, asked.body.id);
    expect(await stateOf(asked.body.id)).toBe('requested');
    expect((await accountOf(person.user.id)).status).toBe('active');
    const row = await rowOf<{ dueAt: Date }>(t.app, 'SELECT due_at FROM data_requests WHERE id = $1::int', [asked.body.id]);
    expect(row.dueAt.getTime() - t.clock.now().getTime()).toBe(60 * MINUTE_MS);
  });

  it('is put off while the person has a role that was assigned since, and left to an administrator', async () => {
    const asked = await person.post(PATH, CONFIRMED);
    const boss = await adminClient(t.app, server, ['*:*'], 900);
    const role = await boss.post('/cabinet/admin/rbac/roles', {
      name: `role ${unique()}`,
      level: 20,
      permissions: ['tickets:read'],
    });
    const assigned = await boss.post('/cabinet/admin/rbac/assignments', { user_id: person.user.id, role_id: role.body.id });
    expect([assigned.status, assigned.text]).toEqual([200, expect.any(String)]);
    t.clock.advance(7 * DAY_MS);
    await advanceErasure(t.app, asked.body.id);
    expect([await stateOf(asked.body.id), (await accountOf(person.user.id)).status]).toEqual(['requested', 'active']);
    const admin = await adminClient(t.app, server, ['personal_data:*'], 900);
    await admin.post(`${ADMIN}/users/${person.user.id}/erase`, { confirmation: 'ERASE' });
    expect(await accountOf(person.user.id)).toEqual(erased(person.user.id));
  });

  it('needs the word, a recent proof, and an account without a role', async () => {
    for (const body of [{}, { confirmation: 'erase' }, { confirmation: true }])
      expect((await person.post(PATH, body)).status).toBe(422);
    const staff = await adminClient(t.app, server, ['tickets:read'], 20);
    expect(await staff.post(PATH, CONFIRMED)).toMatchObject({
      status: 403,
      body: { detail: 'The account of a member of the staff is erased by an administrator' },
    });
    t.clock.advance(11 * MINUTE_MS);
    expect(await person.post(PATH, CONFIRMED)).toMatchObject({
      status: 403,
      body: { detail: { code: 'fresh_sign_in_required' } },
    });
  });
});

describe('the erasure by an administrator', () => {
  it('is done at once, and finds nobody a second time', async () => {
    const admin = await adminClient(t.app, server, ['personal_data:*', 'users:read', 'audit_log:read'], 900);
    const { id: userId } = person.user;
    await admin.get(`${ADMIN}/requests?user_id=${userId}`);
    await linkAuditLog(t.app);
    const reply = await admin.post(`${ADMIN}/users/${userId}/erase`, { confirmation: 'ERASE' });
    expect(reply).toMatchObject({
      status: 200,
      body: { request: { state: 'running', requested_by: `admin:${admin.user.id}` }, backups: [] },
    });
    await advanceErasure(t.app, reply.body.request.id);
    expect(await stateOf(reply.body.request.id)).toBe('done');
    expect(await accountOf(userId)).toEqual(erased(userId));
    expect((await admin.post(`${ADMIN}/users/${userId}/erase`, { confirmation: 'ERASE' })).status).toBe(404);
    expect((await admin.post(`${ADMIN}/users/${userId}/export`)).status).toBe(404);
    expect((await admin.get(`/cabinet/admin/users/${userId}`)).status).toBe(404);
    const search = await admin.get(`/cabinet/admin/users?search=${person.user.messengerId}`);
    expect(search.body.users).toEqual([]);
    await linkAuditLog(t.app);
    const verified = await verifyAuditLog(t.app, {});
    expect(verified.findings).toEqual([]);
    expect(verified.links).toBeGreaterThan(0);
  });

  it('executes the request of the person at once', async () => {
    const asked = await person.post(PATH, CONFIRMED);
    const admin = await adminClient(t.app, server, ['personal_data:*'], 900);
    const reply = await admin.post(`${ADMIN}/users/${person.user.id}/erase`, { confirmation: 'ERASE' });
    expect(reply.body.request.id).toBe(asked.body.id);
    await advanceErasure(t.app, asked.body.id);
    expect(await accountOf(person.user.id)).toEqual(erased(person.user.id));
  });

  it('is refused for the administrator and for those of the same rank', async () => {
    const admin = await adminClient(t.app, server, ['personal_data:*'], 50);
    const erase = (userId: number) => admin.post(`${ADMIN}/users/${userId}/erase`, { confirmation: 'ERASE' });
    const peer = await adminClient(t.app, server, ['tickets:read'], 50);
    expect((await erase(admin.user.id)).status).toBe(403);
    expect((await erase(peer.user.id)).status).toBe(403);
    const exporter = await adminClient(t.app, server, ['personal_data:export', 'personal_data:read'], 50);
    expect((await exporter.post(`${ADMIN}/users/${person.user.id}/erase`, { confirmation: 'ERASE' })).status).toBe(403);
  });
});
