/** Audit rows are part of the interface: the names in `before` and `after` do not follow the names of the code. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { aLandingBody, LANDINGS } from '../support/landing-fixture.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['landings:*', 'tickets:*', 'audit_log:read']);
});
afterAll(() => server.close());

async function lastDetails(action: string) {
  await t.app.ports.audit.flush();
  const reply = await admin.get('/cabinet/admin/rbac/audit-log', { query: { action, status: 'success', limit: 1 } });
  return reply.body.items[0].details;
}

it('payment methods of a landing page are recorded with the keys of the interface', async () => {
  const sandbox = { method_id: 'sandbox', display_name: 'Sandbox', sub_options: { sbp_qr: true } };
  const method = {
    ...sandbox,
    description: null,
    icon_url: null,
    sort_order: 0,
    min_amount_kopeks: null,
    max_amount_kopeks: null,
    currency: null,
    return_url: null,
  };
  const recorded = { paymentMethods: [method] };
  const { id } = (await admin.post(LANDINGS, aLandingBody({ payment_methods: [sandbox] }))).body;
  expect((await lastDetails('landings:create')).after.paymentMethods).toEqual([method]);
  await admin.put(`${LANDINGS}/${id}`, { gift_enabled: false });
  const edit = await lastDetails('landings:edit');
  expect(edit).toMatchObject({ before: { ...recorded, giftEnabled: true }, after: { ...recorded, giftEnabled: false } });
  expect(edit.after.paymentMethods).toEqual([method]);
  await admin.delete(`${LANDINGS}/${id}`);
  expect((await lastDetails('landings:delete')).before.paymentMethods).toEqual([method]);
});

it('ticket settings are recorded with the names of their toggles', async () => {
  await admin.patch('/cabinet/admin/tickets/settings', { cabinet_user_notifications_enabled: false, sla_minutes: 9 });
  const names = [
    ...['adminNotificationsEnabled', 'slaCheckIntervalSeconds', 'slaEnabled', 'slaMinutes', 'slaReminderCooldownMinutes'],
    ...['supportSystemMode', 'userNotificationsEnabled'],
  ];
  const { before, after } = await lastDetails('tickets:settings');
  expect([Object.keys(before).sort(), Object.keys(after).sort()]).toEqual([names, names]);
  expect(after).toMatchObject({ userNotificationsEnabled: false, adminNotificationsEnabled: true, slaMinutes: 9 });
});
