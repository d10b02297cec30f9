import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { connectOutsideSystems } from '../../src/composition/outside-systems.ts';
import type { App, Ports } from '../../src/core/app.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { handleBotUpdate, type SignInUpdate } from '../../src/domain/identity/deeplink-sign-in.ts';
import { SECRET_MASK } from '../../src/domain/settings/mask-value.ts';
import { refreshSettings } from '../../src/domain/settings/settings-store.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { type ApiClient, clientOf, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { testApp } from '../support/test-app.ts';

/** What an administrator who may edit settings, and no more, must not reach through them (spec 06 section 17, hazard 1). */
const ADMIN = '/cabinet/admin/settings';
const PANEL_KEY = 'the-panels-own-key';
let app: App;
let real: Ports;
let server: FastifyInstance;
let editor: ActorClient;
let superadmin: ActorClient;
let token: ApiClient;
let ownerId: number;

beforeAll(async () => {
  ownerId = (await aUser((await testApp()).app)).messengerId as number;
  const t = await testApp({ environment: { ADMIN_IDS: String(ownerId), VPNPANEL_API_KEY: PANEL_KEY } });
  const { env, settings, log, clock, ports } = t.app;
  const metrics = createMetrics();
  // The sandbox's messenger has its own secret; these adapters read the settings as in production.
  real = connectOutsideSystems({ env, db: t.app.db, settings, log, clock, metrics, sandbox: null, instance: ports.instance });
  const messenger = { ...ports.messenger, receiveUpdate: real.messenger.receiveUpdate };
  app = { ...t.app, ports: { ...ports, messenger } };
  const made = await createHttpServer({
    observeRefusal,
    app,
    metrics,
    callbackRoute: () => null,
    extend: (fastify) => registerCallbackRoutes(fastify, app),
  });
  server = made.fastify;
  await server.ready();
  editor = await adminClient(app, server, ['settings:*'], 100);
  superadmin = await adminClient(app, server, ['*:*'], 999);
  token = await tokenClient(app, server);
});
afterAll(() => server.close());
afterEach(async () => {
  await app.db.sql('DELETE FROM system_settings');
  await refreshSettings(app);
});

it('a token with scopes is no token with everything: it cannot set the token of the operator and become one', async () => {
  const limited = await tokenClient(app, server, 'settings only', { scopes: ['settings:read', 'settings:write'] });
  const refused = await limited.put('/settings/WEB_API_DEFAULT_TOKEN', { value: 'chosen-by-the-limited-token' });
  const harmless = await limited.put('/settings/SUPPORT_USERNAME', { value: '@support' });
  expect([refused.status, harmless.status]).toEqual([403, 200]);
});

it('an editor cannot choose the secret of the messenger and confirm a sign-in as the owner', async () => {
  const secret = 'known-to-the-editor-0123456789';
  expect((await editor.put(`${ADMIN}/WEBHOOK_SECRET_TOKEN`, { value: secret })).status).toBe(403);
  const anyone = clientOf(server);
  const { body } = await anyone.post('/cabinet/auth/deeplink/request');
  const sent = await anyone.with({ 'x-telegram-bot-api-secret-token': secret }).post('/messenger-webhook', {
    update_id: 1,
    callback_query: {
      id: '1',
      from: { id: ownerId, is_bot: false, first_name: 'Owner' },
      chat_instance: '1',
      data: `webauth_confirm:${body.token}`,
    },
  });
  expect(sent.status).not.toBe(200);
  const jobs = await app.db.sql<{ data: SignInUpdate }>("SELECT data FROM jobs.job WHERE name = 'identity.bot-update'");
  for (const { data } of jobs) if (JSON.stringify(data).includes(body.token)) await handleBotUpdate(app, data);
  expect((await anyone.post('/cabinet/auth/deeplink/poll', { token: body.token })).body?.access_token).toBeUndefined();
});

it("an editor cannot have the panel's key sent to another server", async () => {
  const received: string[] = [];
  const foreign = createServer((request, reply) => {
    received.push(JSON.stringify(request.headers));
    reply.end('{}');
  });
  await new Promise<void>((done) => foreign.listen(0, '127.0.0.1', done));
  const { port } = foreign.address() as { port: number };
  const put = await editor.put(`${ADMIN}/VPNPANEL_API_URL`, { value: `http://127.0.0.1:${port}` });
  await real.panel.getSystemStats().catch(() => undefined);
  foreign.closeAllConnections();
  foreign.close();
  expect(put.status).toBe(403);
  expect(received.join()).not.toContain(PANEL_KEY);
});

it.each([
  ['WEBHOOK_SECRET_TOKEN', 'a-value-he-knows', [403, 403, 200]],
  ['TRIBUTE_API_KEY', 'a-value-he-knows', [403, 200, 200]],
  ['WATA_PUBLIC_KEY_URL', 'https://keys.example.com', [403, 200, 200]],
  ['VPNPANEL_API_URL', 'https://panel.example.com', [403, 200, 200]],
  ['YOOKASSA_SHOP_ID', '123456', [403, 200, 200]],
  ['YOOKASSA_SECRET_KEY', 'a-value-he-knows', [403, 200, 200]],
  ['OAUTH_GOOGLE_CLIENT_ID', 'his-client', [403, 200, 200]],
  ['MESSENGER_OIDC_CLIENT_ID', 'his-client', [403, 200, 200]],
  ['BACKUP_SEND_CHAT_ID', '1', [403, 200, 200]],
  ['MINIAPP_CUSTOM_URL', 'https://elsewhere.example.com', [403, 200, 200]],
  ['SUPPORT_USERNAME', '@help', [200, 200, 200]],
])('%s = %j is set and reset by whom it may be (editor, token, superadmin): %j', async (key, value, expected) => {
  const detail = `Setting ${key} can only be changed by a superadmin`;
  const endpoints = [
    [editor, `${ADMIN}/${key}`],
    [token, `/settings/${key}`],
    [superadmin, `${ADMIN}/${key}`],
  ] as const;
  for (const [index, [client, path]] of endpoints.entries()) {
    for (const reply of [await client.put(path, { value }), await client.delete(path)]) {
      expect(reply.status).toBe(expected[index]);
      if (reply.status === 403) expect(reply.body).toEqual({ detail });
    }
  }
  const rpc = await editor.post('/trpc/admin.settings.update', { key, value });
  expect(rpc.status).toBe(expected[0]);
});

it('a refusal by rank leaves the value out of the audit log', async () => {
  await editor.put(`${ADMIN}/YOOKASSA_SECRET_KEY`, { value: 'hunter2-refused' });
  await app.ports.audit.flush();
  const rows = await app.db.sql('SELECT status, details, resource_id FROM admin_audit_log WHERE user_id = $1::int', [
    editor.user.id,
  ]);
  expect(JSON.stringify(rows)).toContain('YOOKASSA_SECRET_KEY');
  expect(JSON.stringify(rows)).not.toContain('hunter2');
  expect((await editor.get(`${ADMIN}/VPNPANEL_API_KEY`)).body.current).toBe(SECRET_MASK);
});
