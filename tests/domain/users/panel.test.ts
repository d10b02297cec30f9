import { describe, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { removePanelUser } from '../../../src/domain/provisioning/panel-user.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import {
  listUserDevices,
  readNodeUsage,
  readPanelInfo,
  readSyncStatus,
  removeUserDevice,
  resetUserDevices,
} from '../../../src/domain/users/panel/panel-info.ts';
import { syncFromPanel } from '../../../src/domain/users/panel/sync-from-panel.ts';
import { syncToPanel } from '../../../src/domain/users/panel/sync-to-panel.ts';
import { disableUser, eraseUser, resetSubscription, resetTrial } from '../../../src/domain/users/removal.ts';
import { jobsOf, setUser } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import {
  aSubscription,
  GB,
  GERMANY,
  NETHERLANDS,
  type ProvisioningTest,
  withPanel,
  withPort,
} from '../../support/provisioning-setup.ts';
import { rowOf } from '../../support/sale-samples.ts';

/** A user whose subscription is on the panel. */
async function provisioned(t: ProvisioningTest, fields: Parameters<typeof aSubscription>[1] = {}) {
  const { id: subscriptionId, user } = await aSubscription(t.app, fields);
  await pushSubscription(t.app, subscriptionId);
  const { uuid } = await rowOf<{ uuid: string }>(t.app, 'SELECT vpnpanel_uuid AS uuid FROM users WHERE id = $1::int', [user.id]);
  return { subscriptionId, user, uuid };
}

/** A panel that answers nothing. */
function downApp(t: ProvisioningTest) {
  const down = () => Promise.reject(new PanelError('unavailable', 'VPN panel did not answer'));
  const silent = new Proxy(t.adapter, { get: (_target, name) => (name === 'configurationError' ? () => null : down) });
  return withPort(t.app, silent);
}

const subscriptionOf = (t: ProvisioningTest, userId: number) =>
  rowOf<Record<string, unknown>>(t.app, 'SELECT * FROM subscriptions WHERE user_id = $1::int', [userId]);

describe('reading', () => {
  test('panel info, devices and usage of a user, empty when the panel does not answer', async () => {
    const t = await withPanel();
    const { user, uuid } = await provisioned(t, { squads: [NETHERLANDS, GERMANY] });
    t.panel.addTraffic(uuid, 5 * GB);
    t.panel.addDevice(uuid, 'device-1');
    expect(await readPanelInfo(t.app, user.id)).toMatchObject({ user: { uuid, usedTrafficBytes: 5 * GB }, lastNodeName: null });
    expect(await listUserDevices(t.app, user.id)).toMatchObject({ devices: [{ hwid: 'device-1' }], deviceLimit: 2 });
    const usage = await readNodeUsage(t.app, user.id);
    expect(usage.days).toHaveLength(30);
    expect(usage.days.at(-1)).toBe(t.clock.now().toISOString().slice(0, 10));
    expect(usage.nodes.map((node) => [node.name, node.totalBytes, node.dailyBytes.length, node.dailyBytes.at(-1)])).toEqual([
      ['Netherlands 1', 5 * GB, 30, 5 * GB],
      ['Germany 1', 0, 30, 0],
    ]);
    const down = downApp(t);
    expect(await readPanelInfo(down, user.id)).toBeNull();
    expect(await readNodeUsage(down, user.id)).toEqual({ days: [], nodes: [] });
    expect(await listUserDevices(down, user.id)).toEqual({ devices: [], deviceLimit: 2 });
  });

  test('a panel user is found by messenger id without being linked, and never by an unconfirmed e-mail', async () => {
    const t = await withPanel();
    const { user } = await provisioned(t);
    await setUser(t.app, user, { vpnpanel_uuid: null });
    expect(await readPanelInfo(t.app, user.id)).not.toBeNull();
    expect(await rowOf(t.app, 'SELECT vpnpanel_uuid FROM users WHERE id = $1::int', [user.id])).toEqual({ vpnpanelUuid: null });
    const draft = {
      username: 'mail_only',
      status: 'ACTIVE' as const,
      expireAt: addDays(t.clock.now(), 9),
      email: 'seen@example.com',
    };
    await t.adapter.createUser(draft);
    const other = await aUser(t.app, { email: 'seen@example.com' });
    await setUser(t.app, other, { messenger_id: null, email_verified: false });
    expect(await readPanelInfo(t.app, other.id)).toBeNull();
    await setUser(t.app, other, { email_verified: true });
    expect(await readPanelInfo(t.app, other.id)).toMatchObject({ user: { username: 'mail_only' } });
  });
});

describe('devices', () => {
  test('are taken away one by one, and together', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user, uuid } = await provisioned(t);
    for (const hwid of ['device-1', 'device-2', 'device-3']) t.panel.addDevice(uuid, hwid);
    expect(await removeUserDevice(t.app, admin, user.id, 'device-2')).toMatchObject({ success: true });
    expect((await listUserDevices(t.app, user.id)).devices.map((device) => device.hwid)).toEqual(['device-1', 'device-3']);
    expect(await resetUserDevices(t.app, admin, user.id)).toEqual({
      success: true,
      message: 'Deleted 2/2 devices',
      deletedCount: 2,
    });
    expect(await resetUserDevices(t.app, admin, user.id)).toEqual({
      success: true,
      message: 'No devices to reset',
      deletedCount: 0,
    });
  });

  test('a panel without an answer is not an error, a user without panel user is refused', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user } = await provisioned(t);
    const down = downApp(t);
    expect(await removeUserDevice(down, admin, user.id, 'x')).toMatchObject({ success: false });
    expect(await resetUserDevices(down, admin, user.id)).toMatchObject({ success: false, deletedCount: 0 });
    const plain = await aUser(t.app);
    const refusal = { status: 400, detail: 'User has no panel account' };
    await expect(removeUserDevice(t.app, admin, plain.id, 'x')).rejects.toMatchObject(refusal);
    await expect(resetUserDevices(t.app, admin, plain.id)).rejects.toMatchObject(refusal);
  });
});

describe('switching off', () => {
  test('disable blocks and switches a trial off on the panel, and spares the term of paid time, whose access returns with unblocking', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const trial = await provisioned(t, { isTrial: true });
    expect(await disableUser(t.app, admin, trial.user.id, 'spam')).toEqual({
      isSubscriptionDisabled: true,
      panel: { isDone: true, error: null },
    });
    expect((await t.adapter.findByUuid(trial.uuid))?.status).toBe('DISABLED');
    const paid = await provisioned(t);
    expect(await disableUser(t.app, admin, paid.user.id, null)).toMatchObject({ isSubscriptionDisabled: false });
    // 08 P15: blocked means blocked at the panel.
    expect((await t.adapter.findByUuid(paid.uuid))?.status).toBe('DISABLED');
    for (const { user } of [trial, paid]) {
      expect(await rowOf(t.app, 'SELECT status FROM users WHERE id = $1::int', [user.id])).toEqual({ status: 'blocked' });
    }
  });

  test('spec 01 H28: a panel that is down is reported, and the queue goes on', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const down = downApp(t);
    const disabled = await provisioned(t, { isTrial: true });
    expect(await disableUser(down, admin, disabled.user.id, null)).toMatchObject({
      isSubscriptionDisabled: true,
      panel: { isDone: false, error: 'VPN panel did not answer' },
    });
    expect(await jobsOf(t.app, 'subscriptionId', disabled.subscriptionId)).toContain('provisioning.push');

    const reset = await provisioned(t);
    const outcome = await resetSubscription(down, admin, reset.user.id, { disablesInPanel: true, reason: null });
    expect(outcome).toMatchObject({ isDeleted: true, panel: { isDone: false, error: 'VPN panel did not answer' } });
    expect(await jobsOf(t.app, 'panelUuid', reset.uuid)).toEqual(['provisioning.remove-user']);

    const erased = await provisioned(t);
    expect(await eraseUser(down, admin, erased.user.id, { deletesFromPanel: true, reason: null })).toMatchObject({
      isErased: true,
      panel: { isDone: false, error: 'VPN panel did not answer' },
    });
    expect(await jobsOf(t.app, 'panelUuid', erased.uuid)).toEqual(['provisioning.remove-user']);
    await removePanelUser(t.app, erased.uuid, 'delete');
    expect(await t.adapter.findByUuid(erased.uuid)).toBeNull();
  });

  test('reset-trial deletes all but paid time, and the panel user is disabled, not deleted', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const trial = await provisioned(t, { isTrial: true });
    expect(await resetTrial(t.app, admin, trial.user.id, null)).toEqual({
      isDeleted: true,
      panel: { isDone: true, error: null },
    });
    expect(await subscriptionOf(t, trial.user.id)).toBeUndefined();
    expect((await t.adapter.findByUuid(trial.uuid))?.status).toBe('DISABLED');
    const paid = await provisioned(t);
    expect(await resetTrial(t.app, admin, paid.user.id, null)).toMatchObject({ isDeleted: false });
    expect((await t.adapter.findByUuid(paid.uuid))?.status).toBe('ACTIVE');
  });

  test('reset-subscription deletes paid time too, and may leave the panel alone', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user, uuid } = await provisioned(t);
    const outcome = await resetSubscription(t.app, admin, user.id, { disablesInPanel: false, reason: null });
    expect(outcome).toEqual({ isDeleted: true, panel: { isDone: false, error: null } });
    expect((await t.adapter.findByUuid(uuid))?.status).toBe('ACTIVE');
    expect(await resetSubscription(t.app, admin, user.id, { disablesInPanel: true, reason: null })).toMatchObject({
      isDeleted: false,
    });
  });

  test('a late removal does not switch off what was bought since', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user, uuid } = await provisioned(t, { isTrial: true });
    await resetTrial(downApp(t), admin, user.id, null);
    const { id } = await aSubscription(t.app, { user });
    await pushSubscription(t.app, id);
    await removePanelUser(t.app, uuid, 'disable');
    expect((await t.adapter.findByUuid(uuid))?.status).toBe('ACTIVE');
  });

  test('spec 01 H18: full deletion deletes the panel user, or does not on request', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const [gone, retained] = [await provisioned(t), await provisioned(t)];
    expect(await eraseUser(t.app, admin, gone.user.id, { deletesFromPanel: true, reason: null })).toEqual({
      isErased: true,
      panel: { isDone: true, error: null },
      isPanelPending: false,
    });
    expect(await t.adapter.findByUuid(gone.uuid)).toBeNull();
    await eraseUser(t.app, admin, retained.user.id, { deletesFromPanel: false, reason: null });
    expect((await t.adapter.findByUuid(retained.uuid))?.status).toBe('ACTIVE');
    expect(await jobsOf(t.app, 'panelUuid', retained.uuid)).toEqual([]);
  });
});

describe('sync', () => {
  const everything = { updatesSubscription: true, updatesTraffic: true, createsMissing: false };
  const wholly = { createsMissing: true, status: true, trafficLimit: true, expireDate: true, squads: true };

  test('status lists the differences, and reports a panel that does not answer', async () => {
    const t = await withPanel();
    const { user, uuid } = await provisioned(t);
    expect(await readSyncStatus(t.app, user.id)).toMatchObject({
      differences: [],
      panel: { uuid },
      subscription: { status: 'active' },
    });
    await t.adapter.updateUser({ uuid, status: 'DISABLED', expireAt: addDays(t.clock.now(), 60), trafficLimitBytes: 7 * GB });
    await t.adapter.updateUser({ uuid, deviceLimit: 9, squadUuids: [GERMANY] });
    t.panel.addTraffic(uuid, 2 * GB);
    const { differences } = await readSyncStatus(t.app, user.id);
    expect(differences.map((text) => text.split(/:| differ/)[0])).toEqual([
      ...['Status', 'End date', 'Traffic limit', 'Traffic used', 'Device limit', 'Squads'],
    ]);
    expect((await readSyncStatus(downApp(t), user.id)).differences).toEqual([
      'Error fetching panel data: VPN panel did not answer',
    ]);
  });

  test('from the panel: its numbers are written, squads are read from its objects', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user, uuid } = await provisioned(t);
    const expireAt = addDays(t.clock.now(), 60);
    await t.adapter.updateUser({ uuid, expireAt, trafficLimitBytes: 7 * GB, deviceLimit: 9, squadUuids: [GERMANY] });
    t.panel.addTraffic(uuid, 2 * GB);
    const result = await syncFromPanel(t.app, admin, user.id, everything);
    expect(result).toMatchObject({ success: true, errors: [], panel: { uuid } });
    expect(Object.keys(result.changes).sort()).toEqual([
      ...['connected_squads', 'device_limit', 'end_date', 'traffic_limit_gb', 'traffic_used_gb'],
    ]);
    expect(result.changes.traffic_limit_gb).toEqual({ old: 100, new: 7 });
    expect(await subscriptionOf(t, user.id)).toMatchObject({
      status: 'active',
      endDate: expireAt,
      trafficLimitGb: 7,
      deviceLimit: 9,
      trafficUsedGb: 2,
      connectedSquads: [GERMANY],
    });
    expect((await syncFromPanel(t.app, admin, user.id, everything)).changes).toEqual({});
  });

  test('from the panel: a later local end is overwritten with a warning, unless that part is excluded', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user, uuid } = await provisioned(t);
    const before = await subscriptionOf(t, user.id);
    await t.adapter.updateUser({ uuid, expireAt: addDays(t.clock.now(), 3) });
    t.panel.addTraffic(uuid, 2 * GB);
    const onlyTraffic = { ...everything, updatesSubscription: false };
    expect(Object.keys((await syncFromPanel(t.app, admin, user.id, onlyTraffic)).changes)).toEqual(['traffic_used_gb']);
    expect((await subscriptionOf(t, user.id)).endDate).toEqual(before.endDate);
    const result = await syncFromPanel(t.app, admin, user.id, everything);
    expect(result.errors).toEqual([expect.stringContaining('has been overwritten')]);
    expect((await subscriptionOf(t, user.id)).endDate).toEqual(addDays(t.clock.now(), 3));
  });

  test('from the panel: a missing user, another one’s panel user, a fresh webhook', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const stranger = await aUser(t.app);
    expect(await syncFromPanel(t.app, admin, stranger.id, everything)).toEqual({
      success: false,
      message: 'User not found in panel',
      panel: null,
      changes: {},
      errors: ['User not found in panel'],
    });
    const { user, uuid } = await provisioned(t);
    const thief = await aUser(t.app, { email: 'shared@example.com' });
    await setUser(t.app, thief, { messenger_id: null });
    await t.adapter.updateUser({ uuid, email: 'shared@example.com' });
    expect(await syncFromPanel(t.app, admin, thief.id, { ...everything, createsMissing: true })).toMatchObject({
      success: false,
    });
    expect(await rowOf(t.app, 'SELECT vpnpanel_uuid AS uuid FROM users WHERE id = $1::int', [user.id])).toEqual({ uuid });
    await t.app.db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE user_id = $1::int RETURNING id', [
      user.id,
      t.clock.now(),
    ]);
    await t.adapter.updateUser({ uuid, deviceLimit: 9 });
    expect((await syncFromPanel(t.app, admin, user.id, everything)).changes).toEqual({});
    t.clock.advance(61_000);
    expect((await syncFromPanel(t.app, admin, user.id, everything)).changes).toEqual({ device_limit: { old: 2, new: 9 } });
  });

  test('from the panel: a missing subscription is created on request', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user } = await provisioned(t);
    await t.app.db.sql('DELETE FROM subscriptions WHERE user_id = $1::int RETURNING id', [user.id]);
    expect(await syncFromPanel(t.app, admin, user.id, everything)).toMatchObject({ errors: ['User has no subscription'] });
    const made = await syncFromPanel(t.app, admin, user.id, { ...everything, createsMissing: true });
    expect(Object.keys(made.changes)).toEqual(['subscription']);
    expect(await subscriptionOf(t, user.id)).toMatchObject({
      status: 'active',
      isTrial: false,
      trafficLimitGb: 100,
      deviceLimit: 2,
      connectedSquads: [NETHERLANDS],
      endDate: addDays(t.clock.now(), 30),
    });
  });

  test('to the panel: created, updated, nothing to do', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user } = await aSubscription(t.app);
    const without = { ...wholly, createsMissing: false };
    expect(await syncToPanel(t.app, admin, user.id, without)).toMatchObject({
      success: false,
      message: 'User not found in panel',
    });
    const made = await syncToPanel(t.app, admin, user.id, wholly);
    expect(made).toMatchObject({ success: true, action: 'created', panelUuid: expect.any(String) });
    expect(await syncToPanel(t.app, admin, user.id, wholly)).toMatchObject({ action: 'no_changes', panelUuid: made.panelUuid });
    await t.adapter.updateUser({ uuid: made.panelUuid!, trafficLimitBytes: GB, squadUuids: [GERMANY] });
    const partly = await syncToPanel(t.app, admin, user.id, { ...wholly, squads: false });
    expect(partly).toMatchObject({ action: 'updated', changes: { traffic_limit_gb: { old: 1, new: 100 } } });
    expect((await t.adapter.findByUuid(made.panelUuid!))?.squads.map((squad) => squad.uuid)).toEqual([GERMANY]);
    expect(await syncToPanel(t.app, admin, user.id, wholly)).toMatchObject({ action: 'updated' });
    expect((await t.adapter.findByUuid(made.panelUuid!))?.squads.map((squad) => squad.uuid)).toEqual([NETHERLANDS]);
  });

  test('refusals with the texts of the specification', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user } = await provisioned(t);
    const plain = await aUser(t.app);
    await expect(syncToPanel(t.app, admin, plain.id, wholly)).rejects.toMatchObject({
      status: 400,
      detail: 'User has no subscription to sync',
    });
    const failure = { status: 500, detail: 'Sync error: VPN panel did not answer' };
    await expect(syncToPanel(downApp(t), admin, user.id, wholly)).rejects.toMatchObject(failure);
    await expect(syncFromPanel(downApp(t), admin, user.id, everything)).rejects.toMatchObject(failure);
    const unset = withPort(t.app, { ...t.adapter, configurationError: () => 'VPNPANEL_API_URL is not set' });
    const missing = { status: 503, detail: 'VPNPANEL_API_URL is not set' };
    await expect(syncToPanel(unset, admin, user.id, wholly)).rejects.toMatchObject(missing);
    await expect(syncFromPanel(unset, admin, user.id, everything)).rejects.toMatchObject(missing);
  });
});
