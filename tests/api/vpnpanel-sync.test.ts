import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { GERMANY, NETHERLANDS, type ProvisioningTest, startAppWithPanel } from '../support/provisioning-setup.ts';
import { storeRow, storeRows } from '../support/stored-rows.ts';

const WEB = '/vpnpanel';
const ADMIN = '/cabinet/admin/vpnpanel';

let t: ProvisioningTest;
let server: FastifyInstance;
let api: ApiClient & { tokenId: number };
let admin: ActorClient;

beforeAll(async () => {
  // A panel without the users that other files leave at the worker's.
  t = await startAppWithPanel();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  admin = await adminClient(t.app, server, ['vpnpanel:*']);
});
afterAll(() => Promise.all([server.close(), t.panel.close()]));
beforeEach(async () => {
  for (const table of ['squad_migration_runs', 'panel_sync_runs', 'subscriptions', 'server_squads']) {
    await t.app.db.sql(`DELETE FROM ${table}`);
  }
  await storeRows(t.app, 'ServerSquad', [
    { squadUuid: NETHERLANDS, displayName: 'NL', maxUsers: 50 },
    { squadUuid: GERMANY, displayName: 'DE', maxUsers: null },
  ]);
});

const areas = [
  ['web', () => api, WEB, 'detail'],
  ['admin', () => admin, ADMIN, 'message'],
] as const;

describe.each(areas)('%s', (_name, client, base, text) => {
  it('shows what a migration would change', async () => {
    const reply = await client().get(`${base}/squads/${NETHERLANDS}/migration-preview`);
    expect(reply).toMatchObject({
      status: 200,
      body: { squad_uuid: NETHERLANDS, squad_name: 'NL', current_users: 0, max_users: 50, users_to_migrate: 0 },
    });
    expect(await client().get(`${base}/squads/nowhere/migration-preview`)).toMatchObject({
      status: 404,
      body: { detail: 'Squad not found' },
    });
  });

  it('migrates', async () => {
    const reply = await client().post(`${base}/squads/migrate`, { source_uuid: NETHERLANDS, target_uuid: GERMANY });
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      success: true,
      [text]: expect.any(String),
      error: null,
      data: {
        source_uuid: NETHERLANDS,
        target_uuid: GERMANY,
        total: 0,
        updated: 0,
        panel_updated: 0,
        panel_failed: 0,
        source_removed: 0,
        target_added: 0,
      },
    });
  });

  it('refuses a migration that makes no sense', async () => {
    const ask = (body: unknown) => client().post(`${base}/squads/migrate`, body);
    expect((await ask({ source_uuid: GERMANY, target_uuid: GERMANY })).status).toBe(400);
    expect((await ask({ source_uuid: 'x', target_uuid: GERMANY })).status).toBe(404);
    expect((await ask({ source_uuid: GERMANY, target_uuid: 'x' })).status).toBe(404);
    expect((await ask({ source_uuid: GERMANY })).body.detail[0]).toMatchObject({ loc: ['body', 'target_uuid'], type: 'missing' });
    await storeRow(t.app, 'SquadMigrationRun', {
      sourceUuid: NETHERLANDS,
      targetUuid: GERMANY,
      leaseUntil: new Date(Date.now() + 60_000),
    });
    expect((await ask({ source_uuid: NETHERLANDS, target_uuid: GERMANY })).status).toBe(409);
  });

  it.each([
    ['from-panel', { created: 0, updated: 0, errors: 0, deleted: 0 }],
    ['to-panel', { created: 0, updated: 0, errors: 0 }],
    ['subscriptions/validate', { fixed: 0, errors: 0, checked: 0, issues_found: 0 }],
    ['subscriptions/cleanup', { deactivated: 0, errors: 0, checked: 0 }],
    ['subscriptions/statuses', { updated: 0, errors: 0, checked: 0 }],
  ])('synchronises: %s', async (path, data) => {
    const body = path === 'from-panel' ? { mode: 'update_only' } : undefined;
    const reply = await client().post(`${base}/sync/${path}`, body);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({ success: true, [text]: 'Synchronisation completed', data });
  });

  it('refuses a second synchronisation of one kind while the first is under way, but not another', async () => {
    await storeRows(t.app, 'PanelSyncRun', [
      { kind: 'to_panel', leaseUntil: new Date(Date.now() + 60_000) },
      { kind: 'auto', leaseUntil: new Date(Date.now() + 60_000) },
    ]);
    expect((await client().post(`${base}/sync/to-panel`)).status).toBe(409);
    // An automatic run is one from the panel.
    expect((await client().post(`${base}/sync/from-panel`, {})).status).toBe(409);
    expect((await client().post(`${base}/sync/subscriptions/validate`)).status).toBe(200);
  });

  it('takes only the modes that there are', async () => {
    const reply = await client().post(`${base}/sync/from-panel`, { mode: 'some' });
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'mode'], type: 'enum' }] } });
  });

  it('recommends', async () => {
    expect((await client().get(`${base}/sync/recommendations`)).body).toEqual({
      success: true,
      [text]: expect.any(String),
      data: { should_sync: false, sync_type: 'none', reasons: [expect.any(String)], priority: 'low', estimated_time: 'none' },
    });
  });
});

describe('administration only', () => {
  it('brings the servers in step with the squads', async () => {
    const reply = await admin.post(`${ADMIN}/sync/servers`);
    expect(reply.body).toEqual({
      success: true,
      message: 'Synchronisation completed',
      data: { created: 1, updated: 2, removed: 0, total: 3 },
    });
  });

  it('runs the automatic synchronisation, shows it, and refuses a second one at once', async () => {
    expect((await admin.get(`${ADMIN}/sync/auto/status`)).body).toMatchObject({
      enabled: false,
      times: ['03:00'],
      next_run: null,
      is_running: false,
      last_run_started_at: null,
      last_run_success: null,
      last_user_stats: null,
    });
    const ran = await admin.post(`${ADMIN}/sync/auto/run`);
    expect(ran.body).toEqual({
      started: true,
      success: true,
      error: null,
      user_stats: expect.objectContaining({ errors: 0, deleted: 0 }),
      server_stats: { created: 1, updated: 2, removed: 0, total: 3 },
      reason: 'manual',
    });
    expect((await admin.get(`${ADMIN}/sync/auto/status`)).body).toMatchObject({
      is_running: false,
      last_run_success: true,
      last_run_reason: 'manual',
      last_run_error: null,
      last_server_stats: { total: 3 },
    });
    await storeRow(t.app, 'PanelSyncRun', { kind: 'auto', leaseUntil: new Date(Date.now() + 60_000) });
    expect((await admin.post(`${ADMIN}/sync/auto/run`)).body).toEqual({
      started: false,
      success: null,
      error: null,
      user_stats: null,
      server_stats: null,
      reason: null,
    });
    expect((await admin.get(`${ADMIN}/sync/auto/status`)).body).toMatchObject({ is_running: true, last_run_success: null });
  });

  it('switches the automatic synchronisation, so that every instance knows (spec 06 section 17, hazard 12)', async () => {
    const reply = await admin.post(`${ADMIN}/sync/auto/toggle`, { enabled: true });
    expect(reply.body).toEqual({ success: true, message: 'Automatic synchronisation is on', data: { enabled: true } });
    const status = (await admin.get(`${ADMIN}/sync/auto/status`)).body;
    expect(status.enabled).toBe(true);
    expect(status.next_run).toMatch(/T03:00:00\.000Z$/);
    expect((await admin.post(`${ADMIN}/sync/auto/toggle`, { enabled: false })).body.data).toEqual({ enabled: false });
  });
});

describe('who may', () => {
  it('needs a token, a sign-in, a permission', async () => {
    expect((await clientOf(server).post(`${WEB}/sync/to-panel`)).status).toBe(401);
    expect((await clientOf(server).post(`${ADMIN}/sync/to-panel`)).status).toBe(401);
    const reader = await adminClient(t.app, server, ['vpnpanel:read']);
    expect((await reader.get(`${ADMIN}/sync/auto/status`)).status).toBe(200);
    expect((await reader.post(`${ADMIN}/sync/to-panel`)).status).toBe(403);
    expect((await reader.post(`${ADMIN}/squads/migrate`, { source_uuid: 'a', target_uuid: 'b' })).status).toBe(403);
    const user = await userClient(t.app, server);
    expect((await user.post(`${ADMIN}/sync/subscriptions/cleanup`)).status).toBe(403);
  });

  it('spec 06 section 17, hazard 19: what a token started is on record with its id', async () => {
    await api.post(`${WEB}/sync/subscriptions/cleanup`);
    const [row] = await t.app.db.sql(
      "SELECT action, details->>'api_token_id' AS token FROM admin_audit_log WHERE request_path = '/vpnpanel/sync/subscriptions/cleanup' ORDER BY id DESC LIMIT 1",
    );
    expect(row).toEqual({ action: 'vpnpanel:sync', token: String(api.tokenId) });
    expect(await t.app.db.sql('SELECT started_by FROM panel_sync_runs')).toEqual([{ startedBy: `token:${api.tokenId}` }]);
  });

  it('answers 503 with the reason while the panel is not configured, but returns the preview in the cabinet', async () => {
    const unset = { ...t.app.ports.panel, configurationError: () => 'VPNPANEL_API_URL is not set' };
    const other = await testServer({ ...t.app, ports: { ...t.app.ports, panel: unset } });
    const [web, cabinet] = [await tokenClient(t.app, other), await adminClient(t.app, other, ['vpnpanel:*'])];
    for (const path of ['from-panel', 'to-panel', 'subscriptions/validate', 'subscriptions/cleanup', 'subscriptions/statuses']) {
      expect(await web.post(`${WEB}/sync/${path}`, {})).toMatchObject({
        status: 503,
        body: { detail: 'VPNPANEL_API_URL is not set' },
      });
      expect((await cabinet.post(`${ADMIN}/sync/${path}`, {})).status).toBe(503);
    }
    expect((await web.get(`${WEB}/squads/${NETHERLANDS}/migration-preview`)).status).toBe(503);
    expect((await cabinet.get(`${ADMIN}/squads/${NETHERLANDS}/migration-preview`)).status).toBe(200);
    expect((await cabinet.get(`${ADMIN}/sync/auto/status`)).status).toBe(503);
    await other.close();
  });

  it('answers 502 when the panel returns no squads, and keeps the servers', async () => {
    const empty = { ...t.app.ports.panel, listInternalSquads: async () => [] };
    const other = await testServer({ ...t.app, ports: { ...t.app.ports, panel: empty } });
    const cabinet = await adminClient(t.app, other, ['vpnpanel:*']);
    expect(await cabinet.post(`${ADMIN}/sync/servers`)).toMatchObject({ status: 502, body: { detail: 'Failed to get squads' } });
    expect(await t.app.db.sql('SELECT count(*)::int AS n FROM server_squads')).toEqual([{ n: 2 }]);
    await other.close();
  });
});
