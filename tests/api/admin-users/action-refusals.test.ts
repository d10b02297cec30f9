/** What the actions on a subscription refuse (spec 01 section 11.2). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ActorClient, adminClient } from '../../support/actors.ts';
import { testServer } from '../../support/api.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['users:*']);
});
afterAll(() => server.close());

test.each([
  [{ action: 'rename' }, 400, 'Unknown action: rename'],
  [{ action: 'create' }, 400, 'User already has a subscription'],
  [{ action: 'extend' }, 400, 'Days must be a positive integer'],
  [{ action: 'set_end_date' }, 400, 'end_date parameter is required'],
  [{ action: 'change_tariff' }, 400, 'tariff_id parameter is required'],
  [{ action: 'toggle_autopay' }, 400, 'autopay_enabled parameter is required'],
  [{ action: 'add_traffic' }, 400, 'traffic_gb parameter is required for add_traffic action'],
  [{ action: 'remove_traffic' }, 400, 'traffic_purchase_id parameter is required for remove_traffic action'],
  [{ action: 'remove_traffic', traffic_purchase_id: 2_147_000_000 }, 404, 'Traffic purchase not found'],
  [{ action: 'set_device_limit' }, 400, 'device_limit parameter is required for set_device_limit action'],
])('%j is refused', async (body, status, detail) => {
  const { id } = await aUser(t.app);
  await aStoredSubscription(t.app, id);
  const reply = await admin.post(`/cabinet/admin/users/${id}/subscription`, body);
  expect([reply.status, reply.body.detail]).toEqual([status, detail]);
});

test('an action without a subscription is refused', async () => {
  const { id } = await aUser(t.app);
  const reply = await admin.post(`/cabinet/admin/users/${id}/subscription`, { action: 'cancel' });
  expect([reply.status, reply.body.detail]).toEqual([404, 'User has no subscription']);
});
