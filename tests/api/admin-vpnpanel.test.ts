import { describe, expect, it } from 'vitest';
import { syncServers } from '../../src/domain/catalog/server-sync.ts';
import { aSubscription, GERMANY } from '../support/provisioning-setup.ts';
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

const base = '/cabinet/admin/vpnpanel';

describe('the panel in the administration: reading', () => {
  it('answers as the Web API where both have the same operation', async () => {
    const { token, admin } = await panelAreas();
    for (const path of [
      '/status',
      '/system',
      '/nodes',
      '/nodes/realtime',
      `/nodes/${GERMAN_NODE}`,
      `/nodes/${GERMAN_NODE}/statistics`,
      `/nodes/${GERMAN_NODE}/usage`,
    ]) {
      const [theirs, ours] = [await token.get(`/vpnpanel${path}`), await admin.get(`${base}${path}`)];
      expect(ours.status, path).toBe(200);
      expect(ours.body, path).toEqual(theirs.body);
    }
    const inbounds = (await token.get('/vpnpanel/inbounds')).body.items;
    expect((await admin.get(`${base}/inbounds`)).body).toEqual({ items: inbounds, total: 3 });
  });

  it('counts nodes', async () => {
    const { admin, adapter } = await panelAreas();
    await adapter.disableNode(DUTCH_NODE);
    const { nodes, ...counts } = (await admin.get(`${base}/nodes/overview`)).body;
    expect(counts).toEqual({ total: 3, online: 2, offline: 0, disabled: 1, total_users_online: 1 });
    expect(nodes).toEqual((await admin.get(`${base}/nodes`)).body.items);
  });

  it('shows the server that mirrors a squad', async () => {
    const { admin, adapter, app, token } = await panelAreas();
    await app.db.sql('DELETE FROM server_squads');
    await app.db.sql("UPDATE subscriptions SET connected_squads = '[]'");
    await syncServers(app);
    await adapter.createInternalSquad({ name: 'Sweden', inboundUuids: [] });
    await app.db.sql(
      `UPDATE server_squads SET display_name = 'Berlin', country_code = 'DE', is_available = true, is_trial_eligible = true,
         price_kopeks = 9900, max_users = 10, description = 'fast', sort_order = 4 WHERE squad_uuid = $1`,
      [GERMANY],
    );
    await aSubscription(app, { squads: [GERMANY] });
    await aSubscription(app, { squads: [GERMANY], status: 'expired' });
    const [plain] = (await token.get('/vpnpanel/squads')).body.items.filter((squad: { uuid: string }) => squad.uuid === GERMANY);
    const local = {
      local_id: expect.any(Number),
      display_name: 'Berlin',
      country_code: 'DE',
      is_available: true,
      is_trial_eligible: true,
      price_kopeks: 9900,
      max_users: 10,
      current_users: 1,
      is_synced: true,
    };
    const { items, total } = (await admin.get(`${base}/squads`)).body;
    expect(total).toBe(4);
    expect(items[1]).toEqual({ ...plain, ...local });
    expect(items[3]).toMatchObject({ name: 'Sweden', is_synced: false, local_id: null, price_kopeks: null });
    expect((await admin.get(`${base}/squads/${GERMANY}`)).body).toEqual({
      ...plain,
      ...local,
      description: 'fast',
      sort_order: 4,
      active_subscriptions: 1,
    });
  });

  it('needs its permission: reading for reading, managing for changing', async () => {
    const { token, admin } = await panelAreas(['vpnpanel:read']);
    expect((await admin.get(`${base}/nodes`)).status).toBe(200);
    const denied = { status: 403, body: { detail: expect.stringContaining('Permission denied') } };
    expect(await admin.post(`${base}/nodes/restart-all`)).toMatchObject(denied);
    expect(await admin.delete(`${base}/squads/${GERMANY}`)).toMatchObject(denied);
    expect((await token.get(`${base}/nodes`)).status).toBe(401);
  });
});

describe('the panel in the administration: changing', () => {
  it('operates nodes and says what they are now', async () => {
    const { admin, app, panel } = await panelAreas();
    const act = (uuid: string, action: string) => admin.post(`${base}/nodes/${uuid}/action`, { action });
    expect((await act(DUTCH_NODE, 'disable')).body).toEqual({ success: true, message: 'Node disabled', is_disabled: true });
    expect(await lastAudit(app, `${base}/nodes/${DUTCH_NODE}/action`)).toMatchObject({
      userId: admin.user.id,
      action: 'vpnpanel:manage',
      resourceId: DUTCH_NODE,
      status: 'success',
      details: { before: { is_disabled: false }, after: { is_disabled: true } },
    });
    expect((await act(DUTCH_NODE, 'enable')).body).toEqual({ success: true, message: 'Node enabled', is_disabled: false });
    const restarted = { success: true, message: 'Node restart initiated', is_disabled: null };
    expect((await act(DUTCH_NODE, 'restart')).body).toEqual(restarted);
    expect((await admin.post(`${base}/nodes/restart-all`)).body).toMatchObject({ success: true });
    expect(await lastAudit(app, `${base}/nodes/restart-all`)).toMatchObject({ resourceId: 'all', status: 'success' });

    for (const action of ['enable', 'disable']) {
      expect(await act(UNKNOWN_UUID, action)).toMatchObject({ status: 404, body: { detail: 'Node not found' } });
    }
    expect(await act(UNKNOWN_UUID, 'restart')).toMatchObject({ status: 400, body: { detail: 'Failed to restart node' } });
    panel.faults.set({ status: 500 });
    for (const action of ['enable', 'disable', 'restart']) {
      const detail = `Failed to ${action} node: VPN panel: Server error (A001)`;
      expect(await act(DUTCH_NODE, action)).toMatchObject({ status: 400, body: { detail } });
    }
    const failed = { status: 400, body: { detail: expect.stringMatching(/^Failed to restart all nodes: VPN panel/) } };
    expect(await admin.post(`${base}/nodes/restart-all`)).toMatchObject(failed);
    expect(await lastAudit(app, `${base}/nodes/restart-all`)).toMatchObject({ status: 'error', details: { status_code: 400 } });
  });

  async function aSquad() {
    const areas = await panelAreas();
    const made = await areas.admin.post(`${base}/squads`, { name: 'Sweden', inbound_uuids: [DUTCH_INBOUND] });
    const { uuid } = made.body.data as { uuid: string };
    const failed = (verb: string, reason = '') => ({ status: 400, body: { detail: `Failed to ${verb} squad${reason}` } });
    const act = (body: unknown) => areas.admin.post(`${base}/squads/${uuid}/action`, body);
    return { ...areas, made, uuid, failed, act };
  }

  it('creates a squad, or refuses with the reason of the panel', async () => {
    const { admin, made, failed } = await aSquad();
    expect(made).toMatchObject({ status: 200, body: { success: true, data: { uuid: expect.any(String) } } });
    // Spec 10 V6.
    const taken = ': VPN panel: Internal squad name already exists (A120)';
    expect(await admin.post(`${base}/squads`, { name: 'Sweden' })).toMatchObject(failed('create', taken));
    expect((await admin.post(`${base}/squads`, { name: '' })).status).toBe(422);
  });

  it('changes a squad, with what it was and what it became on record', async () => {
    const { admin, app, uuid, failed } = await aSquad();
    const patch = (body: unknown, at = uuid) => admin.patch(`${base}/squads/${at}`, body);
    expect((await patch({ name: 'Norway', inbound_uuids: [] })).body).toMatchObject({ success: true });
    expect(await lastAudit(app, `${base}/squads/${uuid}`)).toMatchObject({
      resourceId: uuid,
      details: {
        before: { name: 'Sweden', inbound_uuids: [DUTCH_INBOUND] },
        after: { name: 'Norway', inbound_uuids: [] },
      },
    });
    expect(await patch({})).toMatchObject({ status: 400, body: { detail: 'No update data provided' } });
    expect(await patch({ name: 'Norway' }, UNKNOWN_UUID)).toMatchObject(failed('update'));
    expect((await patch({ name: 'x'.repeat(200) })).body.detail).toMatch(/^Failed to update squad: VPN panel/);
  });

  it('acts on a squad', async () => {
    const { adapter, uuid, act } = await aSquad();
    expect((await act({ action: 'add_all_users' })).body).toMatchObject({ success: true, message: expect.any(String) });
    expect((await adapter.getInternalSquad(uuid))?.membersCount).toBe(1);
    expect(await act({ action: 'rename' })).toMatchObject({ status: 400, body: { detail: 'Name is required for rename' } });
    expect((await act({ action: 'rename', name: '!' })).body).toMatchObject({ success: false, message: expect.any(String) });
  });

  it('deletes a squad, with what it was on record', async () => {
    const { admin, app, uuid, failed, act } = await aSquad();
    expect((await admin.delete(`${base}/squads/${uuid}`)).body).toMatchObject({ success: true });
    expect((await lastAudit(app, `${base}/squads/${uuid}`))?.details).toMatchObject({ before: { name: 'Sweden' }, after: null });
    expect(await admin.delete(`${base}/squads/${uuid}`)).toMatchObject(failed('delete'));
    expect(await act({ action: 'delete' })).toMatchObject({ status: 200, body: { success: false, message: 'Squad not found' } });
  });
});

describe('the panel in the administration: refusals', () => {
  it('08 P10, spec 10 R3: unknown is 404, also what is no uuid, a panel that is down is 502 with the reason', async () => {
    const { admin, panel } = await panelAreas();
    expect(await admin.get(`${base}/nodes/${UNKNOWN_UUID}`)).toMatchObject({ status: 404, body: { detail: 'Node not found' } });
    expect(await admin.get(`${base}/squads/${UNKNOWN_UUID}`)).toMatchObject({ status: 404, body: { detail: 'Squad not found' } });
    expect(await admin.get(`${base}/nodes/x`)).toMatchObject({ status: 404, body: { detail: 'Node not found' } });
    expect(await admin.get(`${base}/squads/x`)).toMatchObject({ status: 404, body: { detail: 'Squad not found' } });
    expect((await admin.post(`${base}/nodes/x/action`, { action: 'enable' })).status).toBe(404);
    for (const uuid of ['x', UNKNOWN_UUID]) expect((await admin.delete(`${base}/squads/${uuid}`)).status).toBe(400);
    panel.faults.set({ status: 503 });
    const detail = 'VPN panel answered with status 503';
    const node = `nodes/${GERMAN_NODE}`;
    const ofOne = [node, `${node}/statistics`, `${node}/usage`, `squads/${GERMANY}`];
    for (const path of ['nodes', 'nodes/overview', 'nodes/realtime', 'squads', 'inbounds', ...ofOne]) {
      expect(await admin.get(`${base}/${path}`), path).toMatchObject({ status: 502, body: { detail } });
    }
    const system = { status: 502, body: { detail: 'Failed to get system statistics' } };
    expect(await admin.get(`${base}/system`)).toMatchObject(system);
  });

  it('without a panel everything but the state is 503 with the reason', async () => {
    const { admin } = await areasWithoutPanel();
    const calls = [
      admin.get(`${base}/system`),
      admin.get(`${base}/nodes`),
      admin.get(`${base}/nodes/overview`),
      admin.get(`${base}/nodes/realtime`),
      admin.get(`${base}/nodes/${GERMAN_NODE}`),
      admin.get(`${base}/nodes/${GERMAN_NODE}/statistics`),
      admin.get(`${base}/nodes/${GERMAN_NODE}/usage`),
      admin.post(`${base}/nodes/${GERMAN_NODE}/action`, { action: 'restart' }),
      admin.post(`${base}/nodes/restart-all`),
      admin.get(`${base}/squads`),
      admin.get(`${base}/squads/${GERMANY}`),
      admin.post(`${base}/squads`, { name: 'Sweden' }),
      admin.patch(`${base}/squads/${GERMANY}`, {}),
      admin.delete(`${base}/squads/${GERMANY}`),
      admin.post(`${base}/squads/${GERMANY}/action`, { action: 'delete' }),
      admin.get(`${base}/inbounds`),
    ];
    for (const reply of await Promise.all(calls)) expect(reply).toMatchObject({ status: 503, body: { detail: NOT_CONFIGURED } });
    const { body } = await admin.get(`${base}/status`);
    expect(body).toMatchObject({ is_configured: false, connection: { status: 'not_configured' } });
  });

  it('amounts of traffic beyond exact numbers are no failure', async () => {
    const { admin, adapter, panel } = await panelAreas();
    const user = panel.listUsers()[0]!;
    for (let count = 0; count < 3; count++) panel.addTraffic(user.uuid, Number.MAX_SAFE_INTEGER);
    const { status, body } = await admin.get(`${base}/system`);
    expect(status).toBe(200);
    expect(body.system.total_user_traffic).toBe(Number.MAX_SAFE_INTEGER);
    expect(body.bandwidth.realtime_total).toBe(Number.MAX_SAFE_INTEGER);
    expect((await admin.get(`${base}/nodes/${GERMAN_NODE}/statistics`)).status).toBe(200);
    expect((await adapter.getTrafficPeriods()).currentYear.currentBytes).toBe(Number.MAX_SAFE_INTEGER);
  });
});
