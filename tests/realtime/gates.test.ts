import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { authenticateUser } from '../../src/domain/identity/authenticate.ts';
import { setMaintenance } from '../../src/domain/safety/maintenance.ts';
import { readCabinetAccess } from '../../src/realtime/cabinet-access.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { connectToCabinet } from './connect-to-cabinet.ts';
import { startRealtime, type TestRealtime } from './realtime-server.ts';
import { disconnectAll } from './socket-client.ts';

let t: TestApp;
let server: TestRealtime;
let owner: BuiltUser;

beforeAll(async () => {
  owner = await aUser((await testApp()).app);
  t = await testApp({ environment: { ADMIN_IDS: String(owner.messengerId) } });
  server = await startRealtime(t.app, t.database, { overrides: { authenticateUser, readCabinetAccess } });
});
afterEach(async () => {
  await disconnectAll();
  await setMaintenance(t.app, false, null);
});
afterAll(() => server.close());

const cabinet = (user: BuiltUser) => connectToCabinet(t.app, server, user);

it('closes open sockets when maintenance begins and takes no new ones, config admins apart', async () => {
  const [user, admin] = [await cabinet(await aUser(t.app)), await cabinet(owner)];
  await Promise.all([user.next(), admin.next()]);
  await setMaintenance(t.app, true, null);
  expect(await user.closed).toMatchObject({ code: 1013 });
  expect(await (await cabinet(await aUser(t.app))).closed).toMatchObject({ code: 1013 });
  await admin.ping();
});
