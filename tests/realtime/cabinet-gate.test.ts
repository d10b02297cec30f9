import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { forgetAccess, forgetPolicies } from '../../src/domain/access/effective-access.ts';
import { authenticateUser, forgetSessionUser } from '../../src/domain/identity/authenticate.ts';
import { readCabinetAccess } from '../../src/realtime/cabinet-access.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { connectToCabinet } from './connect-to-cabinet.ts';
import { emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { disconnectAll } from './socket-client.ts';

let t: TestApp;
let server: TestRealtime;
let owner: BuiltUser;

beforeAll(async () => {
  owner = await aUser((await testApp()).app);
  t = await testApp({ environment: { ADMIN_IDS: String(owner.messengerId) } });
  server = await startRealtime(t.app, t.database, { overrides: { authenticateUser, readCabinetAccess } });
});
afterEach(disconnectAll);
afterAll(() => server.close());

/** A user whose one role may read tickets. */
async function aTicketReader(): Promise<BuiltUser> {
  const user = await aUser(t.app);
  const role = await storeRow(t.app, 'AdminRole', { level: 1, permissions: ['tickets:read'] });
  await storeRow(t.app, 'UserRole', { userId: user.id, roleId: role.id });
  return user;
}

async function cabinet(user: BuiltUser) {
  const client = await connectToCabinet(t.app, server, user);
  return { ...client, greeting: await client.next() };
}

it('spec 01 H26: knows administrators of the configuration, roles that may read tickets, and everyone else', async () => {
  const [plain, helper] = [await aUser(t.app), await aTicketReader()];
  const [user, staff, admin] = [await cabinet(plain), await cabinet(helper), await cabinet(owner)];
  expect(user.greeting).toEqual({ type: 'connected', user_id: plain.id, is_admin: false });
  expect(staff.greeting).toEqual({ type: 'connected', user_id: helper.id, is_admin: true });
  expect(admin.greeting).toEqual({ type: 'connected', user_id: owner.id, is_admin: true });
  await emit(t.app, { type: 'ticket.new', payload: { ticket_id: 1 }, audience: 'staff' });
  expect([await staff.next(), await admin.next()]).toEqual([
    { type: 'ticket.new', ticket_id: 1 },
    { type: 'ticket.new', ticket_id: 1 },
  ]);
  await user.ping();
  expect(user.received).toHaveLength(1);
});

it('refuses and closes a user who is blocked, and takes a withdrawn role into account', async () => {
  const [plain, helper] = [await aUser(t.app), await aTicketReader()];
  const [user, staff] = [await cabinet(plain), await cabinet(helper)];
  await inTransaction(t.app, async (tx) => {
    await tx.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [plain.id]);
    await forgetSessionUser(tx, plain.id);
    await tx.db.sql('DELETE FROM user_roles WHERE user_id = $1 RETURNING id', [helper.id]);
    await forgetAccess(tx, [helper.id]);
  });
  expect(await user.closed).toEqual({ code: 1008, reason: 'Unauthorized: Invalid token' });
  await staff.ping();
  await emit(t.app, { type: 'ticket.new', payload: { ticket_id: 2 }, audience: 'staff' });
  await emit(t.app, { type: 'balance.change', payload: {}, audience: 'user', userId: helper.id });
  expect(await staff.next()).toEqual({ type: 'balance.change' });
});

it('a deny policy for some addresses applies to sockets from there', async () => {
  const [here, elsewhere] = [await aTicketReader(), await aTicketReader()];
  await inTransaction(t.app, async (tx) => {
    for (const [user, range] of [
      [here, '127.0.0.0/8'],
      [elsewhere, '203.0.113.0/24'],
    ] as const) {
      const [role] = await tx.db.sql<{ roleId: number }>('SELECT role_id FROM user_roles WHERE user_id = $1::int', [user.id]);
      await storeRow(tx, 'AccessPolicy', {
        name: `not from ${range}`,
        roleId: role!.roleId,
        effect: 'deny',
        resource: 'tickets',
        actions: ['read'],
        conditions: { ip_whitelist: [range] },
      });
    }
    await forgetPolicies(tx);
  });
  const [deaf, connected] = [await cabinet(here), await cabinet(elsewhere)];
  await emit(t.app, { type: 'ticket.new', payload: { ticket_id: 3 }, audience: 'staff' });
  expect(await connected.next()).toEqual({ type: 'ticket.new', ticket_id: 3 });
  await deaf.ping();
  expect(deaf.received).toHaveLength(1);
});
