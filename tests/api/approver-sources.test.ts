/** Whose rights come from the requester of a change of money: by attempts to hide it (spec 01 section 4.8). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiReply, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { merge } from '../support/merge-samples.ts';
import { topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const LIMIT = 100_000;
const RIGHTS = ['users:balance', 'users:delete', 'approvals:read', 'approvals:decide'];
const ROLES = ['roles:read', 'roles:create', 'roles:edit', 'roles:delete', 'roles:assign'];
const RBAC = '/cabinet/admin/rbac';
const DEPENDENT = [403, 'Your rights come from the administrator who asks for this: somebody else has to decide'];
const TOO_NEW = [403, 'You had no right to this when it was asked for: somebody else has to decide'];

let t: TestApp;
let server: FastifyInstance;
/** Has the right to change balances, and to assign roles; who wants money. */
let thief: ActorClient;
let boss: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { APPROVAL_BALANCE_CHANGE_KOPEKS: String(LIMIT) } });
  server = await testServer(t.app);
});
beforeEach(async () => {
  thief = await adminClient(t.app, server, [...RIGHTS, ...ROLES], 500);
  boss = await adminClient(t.app, server, ['*:*'], 900);
});
afterAll(() => server.close());

async function aRole(by: ActorClient, permissions: readonly string[], level = 100): Promise<number> {
  const made = await by.post(`${RBAC}/roles`, { name: `role ${unique()}`, level, permissions });
  expect([made.status, made.text]).toEqual([200, expect.any(String)]);
  return made.body.id;
}

async function assign(by: ActorClient, to: ActorClient, roleId: number): Promise<number> {
  const made = await by.post(`${RBAC}/assignments`, { user_id: to.user.id, role_id: roleId });
  expect([made.status, made.text]).toEqual([200, expect.any(String)]);
  return made.body.id;
}

/** A change of the balance of a customer that waits, by the thief. */
async function aWaiting(by = thief): Promise<number> {
  t.clock.advance(1_000);
  const { id: userId } = await aUser(t.app);
  await topUp(t.app, userId, 1_000);
  const asked = await by.post(`/cabinet/admin/users/${userId}/balance`, { amount_kopeks: LIMIT + 1 });
  t.clock.advance(1_000);
  return asked.body.approval.id;
}

async function attempt(by: ActorClient, id: number): Promise<unknown[]> {
  const { status, body } = await by.post(`/cabinet/admin/approvals/${id}/approve`);
  return [status, body.detail ?? body.status];
}

/** An approver whose role was assigned by somebody whom the thief has given the right to. */
async function aChain() {
  const [between, approver] = [await userClient(t.app, server), await userClient(t.app, server)];
  const betweenRole = await aRole(thief, [...RIGHTS, 'roles:read', 'roles:assign'], 400);
  const first = await assign(thief, between, betweenRole);
  const assignment = await assign(between, approver, await aRole(boss, RIGHTS));
  return { between, approver, betweenRole, first, assignment };
}

describe('an approver whom the requester has made', () => {
  test('stays one when the role of the one between is revoked', async () => {
    const { approver, first } = await aChain();
    expect((await thief.delete(`${RBAC}/assignments/${first}`)).status).toBe(200);
    expect(await attempt(approver, await aWaiting())).toEqual(DEPENDENT);
  });

  test('stays one when the role of the one between is deleted', async () => {
    const { approver, betweenRole } = await aChain();
    expect((await thief.delete(`${RBAC}/roles/${betweenRole}`)).status).toBe(200);
    expect(await attempt(approver, await aWaiting())).toEqual(DEPENDENT);
  });

  test('stays one when the account of the one between is erased', async () => {
    const { approver, between } = await aChain();
    const erased = await boss.delete(`/cabinet/admin/users/${between.user.id}/full`, { body: {} });
    expect([erased.status, erased.text]).toEqual([200, expect.any(String)]);
    expect(await attempt(approver, await aWaiting())).toEqual(DEPENDENT);
  });

  test('stays one when the requester is erased after the request', async () => {
    const { approver } = await aChain();
    const id = await aWaiting();
    await boss.delete(`/cabinet/admin/users/${thief.user.id}/full`, { body: {} });
    expect((await boss.get(`/cabinet/admin/approvals/${id}`)).body.requester_id).toBeNull();
    expect(await attempt(approver, id)).toEqual(DEPENDENT);
  });

  test('stays one when the requester merges the account that made him into another one', async () => {
    const { approver } = await aChain();
    const { user } = await adminClient(t.app, server, RIGHTS);
    await merge(t.app, { primaryId: user.id, secondaryId: thief.user.id });
    // A merge ends every session.
    const { accessToken } = await openSession(t.app, user.id);
    const other = Object.assign(clientOf(server, { authorization: `Bearer ${accessToken}` }), { user, accessToken });
    expect(await attempt(approver, await aWaiting(other))).toEqual(DEPENDENT);
  });

  test('is independent of him once the role is revoked and somebody else has assigned one', async () => {
    const { approver, assignment } = await aChain();
    await boss.delete(`${RBAC}/assignments/${assignment}`);
    await assign(boss, approver, await aRole(boss, RIGHTS));
    expect(await attempt(approver, await aWaiting())).toEqual([200, 'approved']);
  });

  test('is not helped by a second account of the requester, when the two are merged before the decision', async () => {
    const { user } = await adminClient(t.app, server, RIGHTS);
    const id = await aWaiting();
    await merge(t.app, { primaryId: user.id, secondaryId: thief.user.id });
    const { accessToken } = await openSession(t.app, user.id);
    const other = Object.assign(clientOf(server, { authorization: `Bearer ${accessToken}` }), { user, accessToken });
    expect(await attempt(other, id)).toEqual([403, 'You asked for this: another administrator has to decide']);
  });
});

describe('a merge of the two who have decided', () => {
  test.each(['requester', 'approver'] as const)('is possible afterwards, into the %s', async (into) => {
    const id = await aWaiting();
    expect(await attempt(boss, id)).toEqual([200, 'approved']);
    const [primaryId, secondaryId] = into === 'approver' ? [boss.user.id, thief.user.id] : [thief.user.id, boss.user.id];
    await merge(t.app, { primaryId, secondaryId });
    const reader = await adminClient(t.app, server, ['approvals:read']);
    const { body } = await reader.get(`/cabinet/admin/approvals/${id}`);
    expect([body.requester_id, body.status]).toEqual([thief.user.id, 'approved']);
  });

  test('makes those who depend on either account dependent on both', async () => {
    const { approver } = await aChain();
    const { user } = await adminClient(t.app, server, RIGHTS);
    const id = await aWaiting();
    await merge(t.app, { primaryId: user.id, secondaryId: thief.user.id });
    expect(await attempt(approver, id)).toEqual(DEPENDENT);
  });
});

describe('a role that the requester widens', () => {
  test('makes its holders dependent on him, whoever has assigned it', async () => {
    const accomplice = await userClient(t.app, server);
    const role = await aRole(boss, ['approvals:decide']);
    await assign(boss, accomplice, role);
    t.clock.advance(1_000);
    const widened = await thief.put(`${RBAC}/roles/${role}`, { permissions: ['approvals:decide', 'users:balance'] });
    expect([widened.status, widened.text]).toEqual([200, expect.any(String)]);
    expect(await attempt(accomplice, await aWaiting())).toEqual(DEPENDENT);
  });

  test('after the request gives no right to decide about it, also not by another administrator', async () => {
    const accomplice = await userClient(t.app, server);
    const role = await aRole(boss, ['approvals:decide']);
    await assign(boss, accomplice, role);
    const id = await aWaiting();
    await boss.put(`${RBAC}/roles/${role}`, { permissions: ['approvals:decide', 'users:balance'] });
    expect(await attempt(accomplice, id)).toEqual(TOO_NEW);
    expect(await attempt(accomplice, await aWaiting())).toEqual([200, 'approved']);
  });

  test('that was inactive at the request gives no right either', async () => {
    const accomplice = await userClient(t.app, server);
    const [deciding, role] = [await aRole(boss, ['approvals:decide']), await aRole(boss, RIGHTS)];
    await assign(boss, accomplice, deciding);
    await assign(boss, accomplice, role);
    await boss.put(`${RBAC}/roles/${role}`, { is_active: false });
    const id = await aWaiting();
    await boss.put(`${RBAC}/roles/${role}`, { is_active: true });
    expect(await attempt(accomplice, id)).toEqual(TOO_NEW);
  });
});

describe('a denial that ends', () => {
  interface Denied {
    accomplice: ActorClient;
    role: number;
    assignment: number;
    policy: number;
  }

  const denial = (roleId: number | null) => {
    const name = `denial ${unique()}`;
    return { name, role_id: roleId, effect: 'deny', resource: 'users', actions: ['bal*'] };
  };

  /** Somebody with the right to decide by one role, and a denial by another one. */
  async function aDenied(): Promise<Denied> {
    const accomplice = await userClient(t.app, server);
    await assign(boss, accomplice, await aRole(boss, RIGHTS));
    const role = await aRole(boss, ['approvals:read']);
    const assignment = await assign(boss, accomplice, role);
    const made = await boss.post(`${RBAC}/policies`, denial(role));
    expect([made.status, made.text]).toEqual([200, expect.any(String)]);
    return { accomplice, role, assignment, policy: made.body.id };
  }

  const ENDS: [name: string, end: (by: ActorClient, denied: Denied) => Promise<ApiReply>][] = [
    ['its policy is deleted', (by, { policy }) => by.delete(`${RBAC}/policies/${policy}`)],
    ['its policy is switched off', (by, { policy }) => by.put(`${RBAC}/policies/${policy}`, { is_active: false })],
    ['its policy denies less', (by, { policy }) => by.put(`${RBAC}/policies/${policy}`, { actions: ['delete'] })],
    ['its role is taken away', (by, { assignment }) => by.delete(`${RBAC}/assignments/${assignment}`)],
    ['its role is switched off', (by, { role }) => by.put(`${RBAC}/roles/${role}`, { is_active: false })],
    ['its role is deleted', (by, { role }) => by.delete(`${RBAC}/roles/${role}`)],
  ];

  test.each(ENDS)('because %s gives no right to decide about what was asked before', async (_name, end) => {
    const denied = await aDenied();
    const id = await aWaiting();
    expect((await attempt(denied.accomplice, id))[0]).toBe(403);
    expect((await end(boss, denied)).status).toBe(200);
    expect(await attempt(denied.accomplice, id)).toEqual(TOO_NEW);
    expect(await attempt(denied.accomplice, await aWaiting())).toEqual([200, 'approved']);
  });

  test.each(ENDS)('because %s, by the requester, makes dependent on him', async (_name, end) => {
    const denied = await aDenied();
    expect((await end(thief, denied)).status).toBe(200);
    expect(await attempt(denied.accomplice, await aWaiting())).toEqual(DEPENDENT);
  });

  test('for everybody is one for each', async () => {
    const owner = await adminClient(t.app, server, ['*:*'], 1_000);
    const id = await aWaiting();
    const made = await owner.post(`${RBAC}/policies`, denial(null));
    expect((await attempt(boss, id))[0]).toBe(403);
    expect((await owner.delete(`${RBAC}/policies/${made.body.id}`)).status).toBe(200);
    expect(await attempt(boss, id)).toEqual(TOO_NEW);
    expect(await attempt(boss, await aWaiting())).toEqual([200, 'approved']);
  });

  test('by the time that the requester has set for its role makes dependent on him', async () => {
    const { accomplice, role, assignment } = await aDenied();
    const until = new Date(t.clock.now().getTime() + 1_000).toISOString();
    const body = { user_id: accomplice.user.id, role_id: role, expires_at: until };
    expect((await thief.post(`${RBAC}/assignments`, body)).status).toBe(200);
    expect(await attempt(accomplice, await aWaiting())).toEqual(DEPENDENT);
    // Whoever takes the role away after that time has lifted nothing.
    expect((await boss.delete(`${RBAC}/assignments/${assignment}`)).status).toBe(200);
    expect(await attempt(accomplice, await aWaiting())).toEqual(DEPENDENT);
  });

  test('that denied something else is of no matter, and neither is another name', async () => {
    const denied = await aDenied();
    const [other, renamed] = [await aDenied(), await aDenied()];
    await boss.put(`${RBAC}/policies/${other.policy}`, { resource: 'tickets' });
    const id = await aWaiting();
    expect((await thief.delete(`${RBAC}/policies/${other.policy}`)).status).toBe(200);
    expect((await boss.put(`${RBAC}/policies/${renamed.policy}`, { name: `denial ${unique()}` })).status).toBe(200);
    expect(await attempt(other.accomplice, await aWaiting())).toEqual([200, 'approved']);
    expect((await attempt(denied.accomplice, id))[0]).toBe(403);
  });
});

test('API tokens count together: one that makes another has not twice the amount', async () => {
  const [first, second] = [await tokenClient(t.app, server), await tokenClient(t.app, server)];
  const { id: userId } = await aUser(t.app);
  const send = (by: typeof first, amount: number) => by.post(`/users/${userId}/balance`, { amount_kopeks: amount });
  expect((await send(first, 60_000)).body.balance_kopeks).toBe(60_000);
  expect([(await send(second, 50_000)).status, (await send(second, 40_000)).status]).toEqual([403, 200]);
});
