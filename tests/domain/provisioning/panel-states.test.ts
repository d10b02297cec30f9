import { describe, expect, it } from 'vitest';
import { addDays, MINUTE_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { removePanelUser } from '../../../src/domain/provisioning/panel-user.ts';
import { PanelError, type PanelUserStatus } from '../../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { setUser } from '../../support/admin-setup.ts';
import type { BuiltUser } from '../../support/builders.ts';
import { sampleOf } from '../../support/matrix-sample.ts';
import { aSubscription, GB, type ProvisioningTest, readRow, withPanel, withPort } from '../../support/provisioning-setup.ts';

type PanelState = PanelUserStatus | 'absent';
const PANEL_STATES: PanelState[] = ['ACTIVE', 'LIMITED', 'EXPIRED', 'DISABLED', 'absent'];

async function pushNow(t: ProvisioningTest, id: number): Promise<void> {
  await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
  expect(await pushSubscription(t.app, id)).toBe('synced');
}

/** A subscription of 300 days with 10 GB whose panel user has got into a state without this service. */
async function aPanelUserIn(t: ProvisioningTest, state: PanelState) {
  const { id, user } = await aSubscription(t.app, { days: 300, trafficLimitGb: 10 });
  await pushNow(t, id);
  const uuid = (await readRow(t.app, id)).vpnpanelUuid!;
  if (state === 'LIMITED') t.panel.addTraffic(t.panel.listUsers()[0]!.uuid, 11 * GB);
  if (state === 'DISABLED') await t.adapter.disableUser(uuid);
  if (state === 'absent') await t.adapter.deleteUser(uuid);
  if (state === 'EXPIRED') {
    await t.adapter.updateUser({ uuid, expireAt: new Date(t.clock.now().getTime() + MINUTE_MS) });
    t.clock.advance(2 * MINUTE_MS);
  }
  const found = await t.adapter.findByUuid(uuid);
  expect(found?.status ?? 'absent').toBe(state);
  return { id, user, uuid };
}

type Change = (t: ProvisioningTest, row: { id: number; user: BuiltUser }) => Promise<unknown>;
const columns =
  (fields: Record<string, unknown>): Change =>
  (t, { id }) =>
    t.app.db.sql(
      `UPDATE subscriptions SET ${Object.keys(fields)
        .map((name, index) => `${name} = $${index + 2}`)
        .join(', ')} WHERE id = $1::int`,
      [id, ...Object.values(fields)],
    );
const ended: Change = (t, row) => columns({ status: 'expired', end_date: addDays(t.clock.now(), -1) })(t, row);

const WITHOUT_ACCESS: Record<string, Change> = {
  expired: ended,
  'disabled with time left': columns({ status: 'disabled' }),
  'disabled with a raised limit': columns({ status: 'disabled', traffic_limit_gb: 500 }),
  'disabled without a limit': columns({ status: 'disabled', traffic_limit_gb: 0 }),
  'disabled with a traffic reset': columns({ status: 'disabled', provision_reset_traffic: true }),
  'waiting for a payment': columns({ status: 'pending' }),
  'active past its end': (t, row) => columns({ end_date: addDays(t.clock.now(), -1) })(t, row),
  'of a blocked user': (t, { user }) => setUser(t.app, user, { status: 'blocked' }),
  'of a deleted user': (t, { user }) => setUser(t.app, user, { status: 'deleted' }),
  'limited, of a blocked user': async (t, row) => {
    await columns({ status: 'limited' })(t, row);
    await setUser(t.app, row.user, { status: 'blocked' });
  },
};

const WITH_ACCESS: Record<string, Change> = {
  active: columns({ status: 'active' }),
  trial: columns({ status: 'trial' }),
  limited: columns({ status: 'limited' }),
  'active with a raised limit': columns({ traffic_limit_gb: 500 }),
  'active with a traffic reset': columns({ provision_reset_traffic: true }),
};

const matrix = (changes: Record<string, Change>) =>
  Object.entries(changes).flatMap(([wanted, change]) => PANEL_STATES.map((state) => ({ wanted, change, state })));

describe.each(['uuid', 'number'] as const)('08 P1, %s generation: a push', (generation) => {
  const sample = (changes: Record<string, Change>) =>
    sampleOf(matrix(changes), ({ wanted, state }) => `${generation} ${wanted} ${state}`);

  it.each(sample(WITHOUT_ACCESS))('$wanted, over $state at the panel, ends access for good', async ({ change, state }) => {
    const t = await withPanel({ generation });
    const { id, user, uuid } = await aPanelUserIn(t, state);
    await change(t, { id, user });
    await pushNow(t, id);
    const found = await t.adapter.findByUuid(uuid);
    expect(found?.status ?? 'absent').toBe(state === 'absent' ? 'absent' : 'DISABLED');
    if (found === null) return expect(t.panel.listUsers()).toEqual([]);
    expect(found.expireAt.getTime()).toBeLessThanOrEqual(t.clock.now().getTime() + MINUTE_MS);
    // The panel's monthly reset does not bring him back, nor does an administrator of the panel who enables him.
    t.clock.advance(2 * MINUTE_MS);
    await t.adapter.resetTraffic(uuid);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
    expect(await t.adapter.enableUser(uuid)).toMatchObject({ status: 'EXPIRED' });
  });

  it.each(sample(WITH_ACCESS))('$wanted, over $state at the panel, gives access', async ({ wanted, change, state }) => {
    const t = await withPanel({ generation });
    const { id, user, uuid } = await aPanelUserIn(t, state);
    await change(t, { id, user });
    await pushNow(t, id);
    const row = await readRow(t.app, id);
    if (state === 'absent' && wanted === 'limited') return expect(t.panel.listUsers()).toEqual([]);
    expect(row.vpnpanelUuid === uuid).toBe(state !== 'absent');
    const isUsedUp = state === 'LIMITED' && !/raised|reset/.test(wanted);
    expect(await t.adapter.findByUuid(row.vpnpanelUuid!)).toMatchObject({
      status: isUsedUp ? 'LIMITED' : 'ACTIVE',
      expireAt: row.endDate,
    });
    if (isUsedUp) expect(await t.adapter.resetTraffic(uuid)).toMatchObject({ status: 'ACTIVE' });
  });
});

describe('08 P1', () => {
  it('access ends although the panel refuses the other fields', async () => {
    const t = await withPanel();
    const { id, user, uuid } = await aPanelUserIn(t, 'ACTIVE');
    await setUser(t.app, user, { status: 'blocked' });
    await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
    const refusing = withPort(t.app, {
      ...t.adapter,
      updateUser: () => Promise.reject(new PanelError('rejected', 'VPN panel: no', { status: 400 })),
    });
    expect(await pushSubscription(refusing, id)).toBe('failed');
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
  });

  it('a panel that answers another status than the desired one is tried again', async () => {
    const t = await withPanel();
    const { id, uuid } = await aPanelUserIn(t, 'ACTIVE');
    await columns({ status: 'disabled' })(t, { id, user: null as never });
    await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
    const ignoring = withPort(t.app, { ...t.adapter, disableUser: (panelUuid) => t.adapter.findByUuid(panelUuid) });
    await expect(pushSubscription(ignoring, id)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'pending', provisionAttempts: 1 });
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
  });

  it.each(['ACTIVE', 'LIMITED', 'EXPIRED', 'DISABLED'] as const)(
    'a panel user without a subscription, %s at the panel, is disabled with its term',
    async (state) => {
      const t = await withPanel();
      const { id, uuid } = await aPanelUserIn(t, state);
      await t.app.db.sql('DELETE FROM subscriptions WHERE id = $1::int', [id]);
      await removePanelUser(t.app, uuid, 'disable');
      const found = (await t.adapter.findByUuid(uuid))!;
      expect(found.status).toBe('DISABLED');
      expect(found.expireAt.getTime()).toBeLessThanOrEqual(t.clock.now().getTime() + MINUTE_MS);
      await t.adapter.resetTraffic(uuid);
      expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
    },
  );
});
