import { describe, expect, test } from 'vitest';
import { addDays, SECOND_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { removePanelUser } from '../../../src/domain/provisioning/panel-user.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { type RemovalMode, requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { readPanelInfo } from '../../../src/domain/users/panel/panel-info.ts';
import { syncFromPanel } from '../../../src/domain/users/panel/sync-from-panel.ts';
import { syncToPanel, type ToPanelRequest } from '../../../src/domain/users/panel/sync-to-panel.ts';
import { resetSubscription } from '../../../src/domain/users/removal.ts';
import { setUser } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aSubscription, GB, type ProvisioningTest, readRow, withPanel, withPort } from '../../support/provisioning-setup.ts';

/** A subscription that the panel has unchanged; the clock is a second later. */
async function provisioned(t: ProvisioningTest, fields: Parameters<typeof aSubscription>[1] = {}) {
  const { id, user } = await aSubscription(t.app, fields);
  await push(t, id);
  t.clock.advance(SECOND_MS);
  return { id, user, uuid: (await readRow(t.app, id)).vpnpanelUuid! };
}

/** A job of the queue: asked for, taken out, done. */
async function push(t: ProvisioningTest, id: number) {
  await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1", [String(id)]);
  await pushSubscription(t.app, id);
}

const setEnd = (t: ProvisioningTest, id: number, end: Date) =>
  t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int RETURNING id', [id, end]);

describe('spec 06 section 17, hazard 7: one user from the panel', () => {
  const everything = { updatesSubscription: true, updatesTraffic: true, createsMissing: false };
  const untouched = { success: true, message: 'No changes', changes: {}, errors: [expect.stringContaining('more recently')] };

  test('a paid renewal that still waits for the panel is not undone', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user } = await provisioned(t);
    const paidEnd = addDays(t.clock.now(), 60);
    await setEnd(t, id, paidEnd);
    await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
    t.clock.advance(3600 * SECOND_MS);
    expect(await syncFromPanel(t.app, admin, user.id, everything)).toMatchObject(untouched);
    expect((await readRow(t.app, id)).endDate).toEqual(paidEnd);
  });

  test('a renewal that was pushed while the panel answered is not undone', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user } = await provisioned(t);
    const paidEnd = addDays(t.clock.now(), 60);
    const slow = withPort(t.app, {
      ...t.adapter,
      findByUuid: async (uuid) => {
        const seen = await t.adapter.findByUuid(uuid);
        t.clock.advance(SECOND_MS);
        await setEnd(t, id, paidEnd);
        await push(t, id);
        return seen;
      },
    });
    expect(await syncFromPanel(slow, admin, user.id, everything)).toMatchObject(untouched);
    expect((await readRow(t.app, id)).endDate).toEqual(paidEnd);
  });

  test('a limit below one GB does not become unlimited', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user, uuid } = await provisioned(t);
    await t.adapter.updateUser({ uuid, trafficLimitBytes: GB / 2 });
    const { changes } = await syncFromPanel(t.app, admin, user.id, everything);
    expect(changes).toEqual({ traffic_limit_gb: { old: 100, new: 1 } });
    expect(await readRow(t.app, id)).toMatchObject({ trafficLimitGb: 1 });
  });

  test('what the panel itself reported while it answered counts as well', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user, uuid } = await provisioned(t);
    await t.adapter.updateUser({ uuid, trafficLimitBytes: 7 * GB });
    const slow = withPort(t.app, {
      ...t.adapter,
      findByUuid: async (asked) => {
        const seen = await t.adapter.findByUuid(asked);
        t.clock.advance(SECOND_MS);
        await t.app.db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
          id,
          t.clock.now(),
        ]);
        // More than the minute of guard W: the order of the timestamps decides.
        t.clock.advance(90 * SECOND_MS);
        return seen;
      },
    });
    expect(await syncFromPanel(slow, admin, user.id, everything)).toMatchObject(untouched);
    expect(await readRow(t.app, id)).toMatchObject({ trafficLimitGb: 100 });
  });
});

describe('chosen fields of one user to the panel', () => {
  const partly: ToPanelRequest = { createsMissing: false, status: true, trafficLimit: true, expireDate: true, squads: false };

  /** The panel with an action just before a change reaches it. */
  const meanwhile = (t: ProvisioningTest, work: () => Promise<unknown>) =>
    withPort(t.app, {
      ...t.adapter,
      updateUser: async (patch) => {
        await work();
        return t.adapter.updateUser(patch);
      },
    });

  test("another customer's panel user, found by an address that was theirs, is neither shown nor changed", async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const email = `shared${unique()}@example.com`;
    const first = await aUser(t.app, { email });
    await setUser(t.app, first, { messenger_id: null });
    const owner = await provisioned(t, { user: first, days: 90 });
    await setUser(t.app, owner.user, { email: null, email_verified: false });
    const other = await aUser(t.app, { email });
    await setUser(t.app, other, { messenger_id: null });
    await aSubscription(t.app, { user: other, status: 'expired', days: -5 });
    const before = await t.adapter.findByUuid(owner.uuid);
    expect(before).toMatchObject({ status: 'ACTIVE', email });
    expect(await readPanelInfo(t.app, other.id)).toBeNull();
    expect(await syncToPanel(t.app, admin, other.id, partly)).toMatchObject({
      success: false,
      message: 'User not found in panel',
    });
    await syncToPanel(t.app, admin, other.id, { ...partly, createsMissing: true });
    expect(await t.adapter.findByUuid(owner.uuid)).toEqual(before);
    expect(await readRow(t.app, owner.id)).toMatchObject({ vpnpanelUuid: owner.uuid });
  });

  test('a renewal that was pushed meanwhile is at the panel in the end', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user, uuid } = await provisioned(t);
    await t.adapter.updateUser({ uuid, expireAt: addDays(t.clock.now(), 3) });
    const paidEnd = addDays(t.clock.now(), 60);
    let isSold = false;
    const sale = meanwhile(t, async () => {
      if (isSold) return;
      isSold = true;
      await setEnd(t, id, paidEnd);
      await push(t, id);
    });
    expect(await syncToPanel(sale, admin, user.id, partly)).toMatchObject({ success: true, action: 'updated' });
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'ACTIVE', expireAt: paidEnd });
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'synced', endDate: paidEnd });
  });

  test('a call that was executed without an answer is followed by a push when the row has changed', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user, uuid } = await provisioned(t);
    await t.adapter.updateUser({ uuid, expireAt: addDays(t.clock.now(), 3) });
    const deaf = withPort(t.app, {
      ...t.adapter,
      updateUser: async (patch) => {
        await setEnd(t, id, addDays(t.clock.now(), 60));
        await push(t, id);
        await t.adapter.updateUser(patch);
        throw new PanelError('unavailable', 'VPN panel did not answer');
      },
    });
    await expect(syncToPanel(deaf, admin, user.id, partly)).rejects.toMatchObject({ status: 500 });
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'pending' });
  });

  test('a subscription that is cancelled meanwhile is not activated at the panel', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { user, uuid } = await provisioned(t);
    await t.adapter.disableUser(uuid);
    const reset = meanwhile(t, async () => {
      expect(await resetSubscription(t.app, admin, user.id, { disablesInPanel: true, reason: null })).toMatchObject({
        panel: { isDone: true },
      });
      await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.remove-user'");
    });
    await syncToPanel(reset, admin, user.id, partly);
    const jobs = await t.app.db.sql<{ data: { panelUuid: string; mode: RemovalMode } }>(
      "SELECT data FROM jobs.job WHERE name = 'provisioning.remove-user' AND data->>'panelUuid' = $1",
      [uuid],
    );
    for (const { data } of jobs) await removePanelUser(t.app, data.panelUuid, data.mode);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
  });

  test('a deleted account stays disabled', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user, uuid } = await provisioned(t);
    await setUser(t.app, user, { status: 'deleted' });
    await push(t, id);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
    await syncToPanel(t.app, admin, user.id, partly);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
  });

  test('a panel user without a linked account is linked by a push first', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user } = await aSubscription(t.app);
    const there = await t.adapter.createUser({
      username: `found_${unique()}`,
      status: 'ACTIVE',
      expireAt: addDays(t.clock.now(), 3),
      trafficLimitBytes: GB,
      messengerId: user.messengerId!,
    });
    expect(await syncToPanel(t.app, admin, user.id, partly)).toMatchObject({ action: 'updated', panelUuid: there.uuid });
    expect(await readRow(t.app, id)).toMatchObject({ vpnpanelUuid: there.uuid, provisionState: 'synced' });
  });
});
