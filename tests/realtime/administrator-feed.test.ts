import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { forgetAccess } from '../../src/domain/access/effective-access.ts';
import { authenticateUser, forgetSessionUser } from '../../src/domain/identity/authenticate.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { readCabinetAccess } from '../../src/realtime/cabinet-access.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { emit, startRealtime, type TestRealtime } from './realtime-server.ts';
import { connect, disconnectAll } from './socket-client.ts';

const WHOLE = ['users:read', 'payments:read', 'tickets:read', 'approvals:read'];
const REFUSED = { code: 1008, reason: 'Unauthorized: Invalid token' };

let t: TestApp;
let server: TestRealtime;

beforeAll(async () => {
  t = await testApp();
  server = await startRealtime(t.app, t.database, { overrides: { authenticateUser, readCabinetAccess } });
});
afterEach(disconnectAll);
afterAll(() => server.close());

async function anAdministrator(permissions: string[]): Promise<BuiltUser> {
  const user = await aUser(t.app);
  const role = await storeRow(t.app, 'AdminRole', { level: 5, permissions });
  await storeRow(t.app, 'UserRole', { userId: user.id, roleId: role.id });
  return user;
}

async function feedOf(user: BuiltUser, query = '') {
  const { accessToken } = await openSession(t.app, user.id);
  return connect(`${server.url}/ws${query}`, { protocols: ['feed', `bearer.${accessToken}`] });
}

it('spec 05 12.1: an administrator who may read every kind of event receives the feed with an access token', async () => {
  const client = await feedOf(await anAdministrator(WHOLE));
  expect(await client.next()).toEqual({ type: 'connection', status: 'connected', message: 'WebSocket connection established' });
  expect(client.ws.protocol).toBe('feed');
  await emit(t.app, { payload: { user_id: 41 } });
  expect(await client.next()).toMatchObject({ type: 'user.created', payload: { user_id: 41 } });
  expect(server.realtime.counts()).toEqual({ ws: 1, cabinet: 0 });
});

it('does not send events of the staff or of the administrator’s account', async () => {
  const admin = await anAdministrator(WHOLE);
  const client = await feedOf(admin);
  await client.next();
  await emit(t.app, { type: 'ticket.new', payload: { ticket_id: 1 }, audience: 'staff' });
  await emit(t.app, { type: 'balance.change', payload: {}, audience: 'user', userId: admin.id });
  await emit(t.app, { payload: { user_id: 42 } });
  expect(await client.next()).toMatchObject({ type: 'user.created', payload: { user_id: 42 } });
});

it.each(WHOLE)('refuses a role without %s', async (permission) => {
  const client = await feedOf(await anAdministrator(WHOLE.filter((one) => one !== permission)));
  expect(await client.closed).toEqual(REFUSED);
  expect(client.received).toEqual([]);
});

it('refuses a customer and a token that was made up', async () => {
  const invented = connect(`${server.url}/ws`, { protocols: ['feed', 'bearer.eyJhIjoxfQ.eyJzdWIiOiIxIn0.c2ln'] });
  const clients = [await feedOf(await aUser(t.app)), invented];
  expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual([REFUSED, REFUSED]);
});

it('ends with the role, with the session and with the account', async () => {
  const [demoted, blocked] = [await anAdministrator(WHOLE), await anAdministrator(WHOLE)];
  const [first, second] = [await feedOf(demoted), await feedOf(blocked)];
  await Promise.all([first.next(), second.next()]);
  await inTransaction(t.app, async (tx) => {
    await tx.db.sql('DELETE FROM user_roles WHERE user_id = $1 RETURNING id', [demoted.id]);
    await forgetAccess(tx, [demoted.id]);
    await tx.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [blocked.id]);
    await forgetSessionUser(tx, blocked.id);
  });
  expect(await Promise.all([first.closed, second.closed])).toEqual([REFUSED, REFUSED]);
});

it('continues after the last event that was received', async () => {
  const admin = await anAdministrator(WHOLE);
  const client = await feedOf(admin);
  await client.next();
  await emit(t.app, { payload: { user_id: 51 } });
  await client.next();
  const after = client.ids.at(-1)!;
  client.ws.close();
  await client.closed;
  await emit(t.app, { payload: { user_id: 52 } });
  const again = await feedOf(admin, `?after=${encodeURIComponent(String(after))}`);
  expect(await again.next()).toMatchObject({ resumed: true });
  expect(await again.next()).toMatchObject({ type: 'user.created', payload: { user_id: 52 } });
});
