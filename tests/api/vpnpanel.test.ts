import { describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { GB, GERMANY, NETHERLANDS } from '../support/provisioning-setup.ts';
import {
  areasWithoutPanel,
  DUTCH_INBOUND,
  DUTCH_NODE,
  GERMAN_NODE,
  lastAudit,
  NOT_CONFIGURED,
  panelAreas,
  UNKNOWN_UUID,
} from '../support/vpnpanel-setup.ts';

const NODE = {
  uuid: GERMAN_NODE,
  name: 'Germany 1',
  address: 'de1.sandbox.invalid',
  country_code: 'DE',
  is_connected: true,
  is_disabled: false,
  is_node_online: true,
  is_xray_running: true,
  users_online: 1,
  traffic_used_bytes: 0,
  traffic_limit_bytes: 0,
  last_status_change: null,
  last_status_message: null,
  xray_uptime: '0',
  is_traffic_tracking_active: false,
  traffic_reset_day: 1,
  notify_percent: 0,
  consumption_multiplier: 1,
  cpu_count: 2,
  cpu_model: 'Sandbox CPU',
  total_ram: '2.00 GiB',
  created_at: '2025-01-01T00:00:00.000Z',
  updated_at: '2025-01-01T00:00:00.000Z',
  provider_uuid: null,
};

const GERMAN_SQUAD = {
  uuid: GERMANY,
  name: 'Germany',
  members_count: 1,
  inbounds_count: 1,
  inbounds: [
    {
      uuid: '1b0a4d00-0000-4000-8000-000000000002',
      profile_uuid: expect.any(String),
      tag: 'VLESS_DE',
      type: 'vless',
      network: 'raw',
      security: 'reality',
      port: 443,
      raw_inbound: null,
    },
  ],
};

describe('the panel over the Web API: reading', () => {
  it('GET /vpnpanel/nodes (key): {items, total}, all node fields of the contract', async () => {
    const { token } = await panelAreas();
    const reply = await token.get('/vpnpanel/nodes');
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.body).sort()).toEqual(['items', 'total']);
    expect(reply.body.total).toBe(3);
    expect(reply.body.items.map((node: { name: string }) => node.name)).toEqual(['Netherlands 1', 'Germany 1', 'Finland 1']);
    expect(reply.body.items[1]).toEqual(NODE);
    expect((await token.get(`/vpnpanel/nodes/${GERMAN_NODE}`)).body).toEqual(NODE);
    expect((await token.get(`/vpnpanel/nodes/${GERMAN_NODE.toUpperCase()}`)).body).toEqual(NODE);
  });

  it('answers the status and the statistics of the panel', async () => {
    const { token, panel, clock } = await panelAreas();
    expect((await token.get('/vpnpanel/status')).body).toEqual({
      is_configured: true,
      configuration_error: null,
      connection: {
        status: 'connected',
        message: expect.any(String),
        api_url: panel.url,
        status_code: null,
        system_info: expect.objectContaining({ users: expect.objectContaining({ totalUsers: 1 }) }),
      },
    });
    const period = { current: 10 * GB, previous: 0, difference: '10.00 GiB' };
    const system = (await token.get('/vpnpanel/system')).body;
    expect(system).toEqual({
      system: {
        users_online: 1,
        total_users: 1,
        active_connections: 1,
        nodes_online: 3,
        users_last_day: 1,
        users_last_week: 1,
        users_never_online: 0,
        total_user_traffic: 10 * GB,
      },
      users_by_status: { ACTIVE: 1, DISABLED: 0, LIMITED: 0, EXPIRED: 0 },
      server_info: {
        cpu_cores: 2,
        cpu_physical_cores: 2,
        memory_total: 2 * GB,
        memory_used: GB,
        memory_free: GB,
        memory_available: GB,
        uptime_seconds: 0,
      },
      bandwidth: { realtime_download: 9 * GB, realtime_upload: GB, realtime_total: 10 * GB },
      traffic_periods: {
        last_2_days: period,
        last_7_days: period,
        last_30_days: period,
        current_month: period,
        current_year: period,
      },
      nodes_realtime: [expect.any(Object), expect.objectContaining({ nodeUuid: GERMAN_NODE }), expect.any(Object)],
      nodes_weekly: [
        { name: 'Germany 1', total_bytes: 10 * GB, days_data: expect.any(Array) },
        { name: 'Finland 1', total_bytes: 0, days_data: expect.any(Array) },
        { name: 'Netherlands 1', total_bytes: 0, days_data: expect.any(Array) },
      ],
      last_updated: clock.now().toISOString(),
    });
    expect(system.nodes_weekly[0].days_data.at(-1)).toEqual({ date: clock.now().toISOString().slice(0, 10), bytes: 10 * GB });
  });

  it('gives realtime, statistics and usage of nodes under the names of the panel', async () => {
    const { token, clock } = await panelAreas();
    const realtime = (await token.get('/vpnpanel/nodes/realtime')).body;
    expect(realtime).toHaveLength(3);
    expect(realtime[1]).toMatchObject({ nodeUuid: GERMAN_NODE, nodeName: 'Germany 1', downloadBytes: 9 * GB, uploadBytes: GB });
    const today = clock.now().toISOString().slice(0, 10);
    const row = { userUuid: expect.any(String), username: 'mover', nodeUuid: GERMAN_NODE, total: 10 * GB, date: today };
    expect((await token.get(`/vpnpanel/nodes/${GERMAN_NODE}/statistics`)).body).toEqual({
      node: NODE,
      realtime: realtime[1],
      usage_history: [row],
      last_updated: clock.now().toISOString(),
    });
    const usage = async (query: Record<string, string>) => token.get(`/vpnpanel/nodes/${GERMAN_NODE}/usage`, { query });
    expect((await usage({})).body).toEqual({ items: [row] });
    const [past, recent] = [addDays(clock.now(), -20).toISOString(), addDays(clock.now(), -10).toISOString()];
    expect((await usage({ start: past, end: recent })).body).toEqual({ items: [] });
    expect((await usage({ start: past.slice(0, 19) })).body).toEqual({ items: [row] });
    expect(await usage({ start: recent, end: past })).toMatchObject({ status: 400, body: { detail: 'Invalid date range' } });
    expect((await usage({ start: 'soon' })).status).toBe(422);
  });

  it('lists squads and inbounds, and reads the traffic of a user', async () => {
    const { token, messengerId, panel } = await panelAreas();
    const squads = (await token.get('/vpnpanel/squads')).body;
    expect(squads.total).toBe(3);
    expect(squads.items[1]).toEqual(GERMAN_SQUAD);
    expect((await token.get(`/vpnpanel/squads/${GERMANY}`)).body).toEqual(GERMAN_SQUAD);
    const { profile_uuid: _profile, raw_inbound: _raw, ...inbound } = GERMAN_SQUAD.inbounds[0]!;
    expect((await token.get('/vpnpanel/inbounds')).body.items[1]).toEqual(inbound);
    expect((await token.get(`/vpnpanel/users/${messengerId}/traffic`)).body).toEqual({
      messenger_id: messengerId,
      used_traffic_bytes: 10 * GB,
      used_traffic_gb: 10,
      lifetime_used_traffic_bytes: 10 * GB,
      lifetime_used_traffic_gb: 10,
      traffic_limit_bytes: 100 * GB,
      traffic_limit_gb: 100,
      subscription_url: panel.listUsers()[0]!.subscriptionUrl,
    });
  });
});

describe('the panel over the Web API: changing', () => {
  it('operates nodes, with 200 and a flag also when nothing was done', async () => {
    const { token, panel } = await panelAreas();
    const act = (uuid: string, action: string) => token.post(`/vpnpanel/nodes/${uuid}/actions`, { action });
    expect(await act(DUTCH_NODE, 'disable')).toMatchObject({ status: 200, body: { success: true, detail: expect.any(String) } });
    const disabled = { is_disabled: true, is_connected: false, is_node_online: false, is_xray_running: false, users_online: 0 };
    expect((await token.get(`/vpnpanel/nodes/${DUTCH_NODE}`)).body).toMatchObject(disabled);
    expect((await act(DUTCH_NODE, 'enable')).body.success).toBe(true);
    expect((await act(DUTCH_NODE, 'restart')).body.success).toBe(true);
    expect(await token.post('/vpnpanel/nodes/restart')).toMatchObject({ status: 200, body: { success: true } });
    for (const action of ['enable', 'disable', 'restart']) {
      expect((await act(UNKNOWN_UUID, action)).body).toEqual({ success: false, detail: 'Node not found' });
    }
    expect((await act(DUTCH_NODE, 'explode')).status).toBe(422);
    panel.faults.set({ status: 500 });
    const failed = { status: 200, body: { success: false, detail: expect.stringContaining('VPN panel') } };
    expect(await act(DUTCH_NODE, 'disable')).toMatchObject(failed);
    expect(await token.post('/vpnpanel/nodes/restart')).toMatchObject(failed);
  });

  async function aSquad() {
    const areas = await panelAreas();
    const made = await areas.token.post('/vpnpanel/squads', { name: 'Sweden', inbound_uuids: [DUTCH_INBOUND] });
    return { ...areas, made, uuid: made.body.data.uuid as string };
  }

  it('creates a squad, and says with 200 and a flag that its name is taken', async () => {
    const { token, made, uuid } = await aSquad();
    expect(made).toMatchObject({ status: 200, body: { success: true, data: { uuid: expect.any(String) } } });
    expect((await token.get(`/vpnpanel/squads/${uuid}`)).body).toMatchObject({
      name: 'Sweden',
      inbounds_count: 1,
      members_count: 0,
    });
    const same = await token.post('/vpnpanel/squads', { name: 'Sweden' });
    expect(same).toMatchObject({ status: 200, body: { success: false, detail: expect.any(String), data: null } });
  });

  it('changes a squad, and says with 200 and a flag that nothing was done', async () => {
    const { token, adapter, uuid } = await aSquad();
    const patch = async (body: unknown, at = uuid) => (await token.patch(`/vpnpanel/squads/${at}`, body)).body;
    expect((await patch({ name: 'Norway' })).success).toBe(true);
    expect((await patch({ inbound_uuids: [] })).success).toBe(true);
    // Spec 10 R3.
    expect(await patch({})).toEqual({ success: false, detail: 'No update data provided', data: null });
    expect((await patch({ name: null, inbound_uuids: null })).success).toBe(false);
    expect(await adapter.getInternalSquad(uuid)).toMatchObject({ name: 'Norway', inboundsCount: 0 });
    const unknown = await patch({ name: 'X1' }, UNKNOWN_UUID);
    expect(unknown).toEqual({ success: false, detail: 'Squad not found', data: null });
  });

  it('acts on a squad', async () => {
    const { token, adapter, uuid } = await aSquad();
    const act = async (body: unknown) => (await token.post(`/vpnpanel/squads/${uuid}/actions`, body)).body.success;
    expect(await act({ action: 'add_all_users' })).toBe(true);
    expect((await adapter.getInternalSquad(uuid))?.membersCount).toBe(1);
    expect(await act({ action: 'remove_all_users' })).toBe(true);
    expect(await act({ action: 'rename', name: 'Denmark' })).toBe(true);
    expect(await act({ action: 'update_inbounds', inbound_uuids: [DUTCH_INBOUND] })).toBe(true);
    expect(await adapter.getInternalSquad(uuid)).toMatchObject({ name: 'Denmark', inboundsCount: 1, membersCount: 0 });
  });

  it('refuses actions on a squad without what they need', async () => {
    const { token, uuid } = await aSquad();
    const act = (body: unknown) => token.post(`/vpnpanel/squads/${uuid}/actions`, body);
    expect(await act({ action: 'rename' })).toMatchObject({ status: 400, body: { detail: 'Name is required for rename' } });
    for (const more of [{}, { inbound_uuids: [] }]) {
      const detail = 'Inbound UUIDs are required for update_inbounds';
      expect(await act({ action: 'update_inbounds', ...more })).toMatchObject({ status: 400, body: { detail } });
    }
  });

  it('deletes a squad, and says with 200 and a flag that there is none', async () => {
    const { token, uuid } = await aSquad();
    const remove = () => token.post(`/vpnpanel/squads/${uuid}/actions`, { action: 'delete' });
    expect((await remove()).body.success).toBe(true);
    expect(await remove()).toMatchObject({ status: 200, body: { success: false, detail: 'Squad not found' } });
  });

  it('spec 06 section 17, hazard 19: every change by a token is on record with the token, what it was and what it became', async () => {
    const { token, app } = await panelAreas();
    const row = async (path: string) => lastAudit(app, path);
    await token.post('/vpnpanel/nodes/restart');
    expect(await row('/vpnpanel/nodes/restart')).toMatchObject({
      userId: null,
      actorName: 'API: panel operator',
      action: 'vpnpanel:manage',
      resourceId: 'all',
      status: 'success',
      details: { api_token_id: token.tokenId, after: { restarted: true } },
    });
    await token.post(`/vpnpanel/nodes/${DUTCH_NODE}/actions`, { action: 'disable' });
    expect(await row(`/vpnpanel/nodes/${DUTCH_NODE}/actions`)).toMatchObject({
      resourceId: DUTCH_NODE,
      details: {
        api_token_id: token.tokenId,
        request_body: { action: 'disable' },
        before: { name: 'Netherlands 1', is_disabled: false },
        after: { name: 'Netherlands 1', is_disabled: true },
      },
    });
    await token.post(`/vpnpanel/squads/${NETHERLANDS}/actions`, { action: 'add_all_users' });
    expect((await row(`/vpnpanel/squads/${NETHERLANDS}/actions`))?.details).toMatchObject({ after: { all_users: 'added' } });
    await token.post(`/vpnpanel/squads/${NETHERLANDS}/actions`, { action: 'delete' });
    expect((await row(`/vpnpanel/squads/${NETHERLANDS}/actions`))?.details).toMatchObject({
      before: { name: 'Netherlands' },
      after: null,
    });
    await token.post(`/vpnpanel/squads/${NETHERLANDS}/actions`, { action: 'rename' });
    expect(await row(`/vpnpanel/squads/${NETHERLANDS}/actions`)).toMatchObject({
      status: 'error',
      details: { status_code: 400 },
    });
    await token.post('/vpnpanel/squads', { name: 'Sweden' });
    expect(await row('/vpnpanel/squads')).toMatchObject({ details: { before: null, after: { name: 'Sweden' } } });
    const rows = await app.db.sql("SELECT id FROM admin_audit_log WHERE request_path = '/vpnpanel/nodes' AND user_id IS NULL");
    await token.get('/vpnpanel/nodes');
    expect(await app.db.sql("SELECT id FROM admin_audit_log WHERE request_path = '/vpnpanel/nodes' AND user_id IS NULL")).toEqual(
      rows,
    );
  });
});

describe('the panel over the Web API: refusals', () => {
  it('spec 10 R3: what is no uuid is unknown in a path and 422 in a body, and never reaches the panel', async () => {
    const { token, panel } = await panelAreas();
    const before = panel.calls().length;
    const reads = ['nodes/not-a-uuid', 'nodes/..%2F..%2Fusers/statistics', 'nodes/1/usage', 'squads/1'];
    for (const path of reads) expect((await token.get(`/vpnpanel/${path}`)).status, path).toBe(404);
    for (const action of ['enable', 'restart']) {
      const reply = await token.post('/vpnpanel/nodes/1/actions', { action });
      expect(reply).toMatchObject({ status: 200, body: { success: false, detail: 'Node not found' } });
    }
    const changes = [
      token.patch('/vpnpanel/squads/1', { name: 'Sweden' }),
      token.post('/vpnpanel/squads/1/actions', { action: 'delete' }),
    ];
    for (const reply of await Promise.all(changes)) {
      expect(reply).toMatchObject({ status: 200, body: { success: false, detail: 'Squad not found' } });
    }
    const body = await token.post('/vpnpanel/squads', { name: 'Sweden', inbound_uuids: [DUTCH_INBOUND, 'x'] });
    expect(body.body.detail[0]).toMatchObject({ loc: ['body', 'inbound_uuids', '1'], type: 'uuid_parsing' });
    expect((await token.get('/vpnpanel/users/abc/traffic')).status).toBe(422);
    expect(panel.calls()).toHaveLength(before);
  });

  it('what the panel does not have is 404', async () => {
    const { token } = await panelAreas();
    for (const [path, detail] of [
      [`/vpnpanel/nodes/${UNKNOWN_UUID}`, 'Node not found'],
      [`/vpnpanel/nodes/${UNKNOWN_UUID}/statistics`, 'Node not found'],
      [`/vpnpanel/nodes/${UNKNOWN_UUID}/usage`, 'Node not found'],
      [`/vpnpanel/squads/${UNKNOWN_UUID}`, 'Squad not found'],
      ['/vpnpanel/users/4/traffic', 'User not found'],
    ] as const) {
      expect(await token.get(path), path).toMatchObject({ status: 404, body: { detail } });
    }
  });

  it('08 P10: while the panel is down or refuses the key everything is 502 with the reason, and nothing names its address', async () => {
    const { token, panel, messengerId } = await panelAreas();
    panel.faults.set({ timeoutAfterEffect: true });
    for (const path of [
      '/vpnpanel/nodes',
      '/vpnpanel/squads',
      '/vpnpanel/inbounds',
      '/vpnpanel/nodes/realtime',
      `/vpnpanel/nodes/${GERMAN_NODE}/usage`,
      '/vpnpanel/system',
      `/vpnpanel/nodes/${GERMAN_NODE}`,
      `/vpnpanel/nodes/${GERMAN_NODE}/statistics`,
      `/vpnpanel/squads/${GERMANY}`,
      `/vpnpanel/users/${messengerId}/traffic`,
    ]) {
      const reply = await token.get(path);
      expect(reply.status, path).toBe(502);
      expect(reply.text).not.toContain('127.0.0.1');
    }
    expect((await token.get('/vpnpanel/status')).body).toMatchObject({
      is_configured: true,
      connection: { status: 'error', status_code: null, system_info: null },
    });
    panel.faults.set({ status: 401 });
    for (const path of ['/vpnpanel/nodes', '/vpnpanel/squads', '/vpnpanel/inbounds', '/vpnpanel/nodes/realtime']) {
      expect(await token.get(path), path).toMatchObject({ status: 502, body: { detail: 'VPN panel refused the credentials' } });
    }
  });

  it('without a panel everything but the state is 503 with the reason', async () => {
    const { token } = await areasWithoutPanel();
    const calls = [
      token.get('/vpnpanel/system'),
      token.get('/vpnpanel/nodes'),
      token.get('/vpnpanel/nodes/realtime'),
      token.get(`/vpnpanel/nodes/${GERMAN_NODE}`),
      token.get(`/vpnpanel/nodes/${GERMAN_NODE}/statistics`),
      token.get(`/vpnpanel/nodes/${GERMAN_NODE}/usage`),
      token.post(`/vpnpanel/nodes/${GERMAN_NODE}/actions`, { action: 'disable' }),
      token.post('/vpnpanel/nodes/restart'),
      token.get('/vpnpanel/squads'),
      token.post('/vpnpanel/squads', { name: 'Sweden' }),
      token.get(`/vpnpanel/squads/${GERMANY}`),
      token.patch(`/vpnpanel/squads/${GERMANY}`, {}),
      token.post(`/vpnpanel/squads/${GERMANY}/actions`, { action: 'rename' }),
      token.get('/vpnpanel/inbounds'),
      token.get('/vpnpanel/users/1/traffic'),
    ];
    for (const reply of await Promise.all(calls)) expect(reply).toMatchObject({ status: 503, body: { detail: NOT_CONFIGURED } });
    expect((await token.get('/vpnpanel/status')).body).toEqual({
      is_configured: false,
      configuration_error: NOT_CONFIGURED,
      connection: { status: 'not_configured', message: NOT_CONFIGURED, api_url: null, status_code: null, system_info: null },
    });
  });
});
