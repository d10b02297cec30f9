import { describe, expect, it } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { aUser } from '../../support/builders.ts';
import {
  aSubscription,
  GB,
  GERMANY,
  jobsOf,
  NETHERLANDS,
  PARTNERS,
  readRow,
  withPanel,
  withPort,
} from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';

const request = (app: Parameters<typeof requestProvisioning>[0], id: number, resets = {}) =>
  inTransaction(app, (t) => requestProvisioning(t, id, resets));

describe('a request', () => {
  it('commits or rolls back with the sale, and waits as one job', async () => {
    const { app } = await withPanel();
    const { id } = await aSubscription(app);
    const failing = inTransaction(app, async (t) => {
      await requestProvisioning(t, id, { resetTraffic: true });
      throw new Error('the sale failed');
    });
    await expect(failing).rejects.toThrow('the sale failed');
    expect(await readRow(app, id)).toMatchObject({ provisionVersion: 0, provisionResetTraffic: false });
    expect(await jobsOf(app, 'provisioning.push')).not.toContainEqual({ data: { subscriptionId: id } });

    await request(app, id, { resetTraffic: true });
    await request(app, id, { resetDevices: true });
    expect(await readRow(app, id)).toMatchObject({
      provisionState: 'pending',
      provisionVersion: 2,
      provisionResetTraffic: true,
      provisionResetDevices: true,
    });
    const jobs = await jobsOf(app, 'provisioning.push');
    expect(jobs.filter((job) => (job.data as { subscriptionId: number }).subscriptionId === id)).toHaveLength(1);
  });
});

describe('a push', () => {
  it('creates the panel user and stores its links', async () => {
    const { app, adapter, panel } = await withPanel({ environment: { PAID_SUBSCRIPTION_USER_TAG: 'PAID' } });
    const user = await aUser(app, { email: 'ivan@example.com' });
    const { id } = await aSubscription(app, { user, squads: [NETHERLANDS, GERMANY] });
    await request(app, id);
    expect(await pushSubscription(app, id)).toBe('synced');
    const row = await readRow(app, id);
    const made = (await adapter.findByUuid(row.vpnpanelUuid!))!;
    expect(made).toMatchObject({
      username: `user_${user.messengerId}`,
      status: 'ACTIVE',
      expireAt: row.endDate,
      trafficLimitBytes: 100 * GB,
      trafficResetStrategy: 'MONTH',
      messengerId: user.messengerId,
      email: 'ivan@example.com',
      deviceLimit: 2,
      tag: 'PAID',
    });
    expect(made.squads.map((squad) => squad.uuid).sort()).toEqual([NETHERLANDS, GERMANY]);
    expect(row).toMatchObject({
      provisionState: 'synced',
      provisionSyncedVersion: 1,
      provisionLeaseUntil: null,
      subscriptionUrl: made.subscriptionUrl,
      vpnpanelShortUuid: made.shortUuid,
      subscriptionCryptoLink: await adapter.encryptLink(made.subscriptionUrl),
    });
    expect(panel.listUsers()).toHaveLength(1);
  });

  it('changes the same user on renewal without its devices and traffic', async () => {
    const { app, adapter, panel } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    await pushSubscription(app, id);
    const { vpnpanelUuid: uuid } = await readRow(app, id);
    panel.addDevice(uuid!, 'device-0001');
    panel.addTraffic(uuid!, GB);
    const end = addDays(app.clock.now(), 60);
    await app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int', [id, end]);
    await request(app, id);
    const { length: callsBefore } = panel.calls();
    const { subscriptionCryptoLink } = await readRow(app, id);
    await pushSubscription(app, id);
    // The stored crypto link is that of the same address.
    expect(
      panel
        .calls()
        .slice(callsBefore)
        .map(({ method }) => method),
    ).toEqual(['GET', 'PATCH']);
    expect(await readRow(app, id)).toMatchObject({ subscriptionCryptoLink });
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ expireAt: end, usedTrafficBytes: GB });
    expect(panel.listUsers()).toMatchObject([{ uuid, hwids: ['device-0001'] }]);
  });

  it('resets traffic and devices when asked to, once', async () => {
    const { app, adapter, panel } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    await pushSubscription(app, id);
    const { vpnpanelUuid: uuid } = await readRow(app, id);
    const use = () => {
      panel.addDevice(uuid!, 'device-0001');
      panel.addTraffic(uuid!, GB);
    };
    use();
    await request(app, id, { resetTraffic: true, resetDevices: true });
    await pushSubscription(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ usedTrafficBytes: 0 });
    expect(await adapter.listDevices(uuid!)).toEqual([]);
    expect(await readRow(app, id)).toMatchObject({ provisionResetTraffic: false, provisionResetDevices: false });
    use();
    await request(app, id);
    await pushSubscription(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ usedTrafficBytes: GB });
  });

  it('lifts the limit of a user who bought traffic, but not of one without remaining traffic', async () => {
    const { app, adapter, panel } = await withPanel();
    const { id } = await aSubscription(app, { trafficLimitGb: 1 });
    await request(app, id);
    await pushSubscription(app, id);
    const { vpnpanelUuid: uuid } = await readRow(app, id);
    panel.addTraffic(uuid!, GB);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ status: 'LIMITED' });
    await request(app, id);
    await pushSubscription(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ status: 'LIMITED' });
    await app.db.sql('UPDATE subscriptions SET traffic_limit_gb = 11 WHERE id = $1::int', [id]);
    await request(app, id);
    await pushSubscription(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ status: 'ACTIVE', trafficLimitBytes: 11 * GB });
  });

  it('disables the panel user of a disabled subscription and creates none for an expired one', async () => {
    const { app, adapter, panel } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    await pushSubscription(app, id);
    await app.db.sql("UPDATE subscriptions SET status = 'disabled' WHERE id = $1::int", [id]);
    await request(app, id);
    await pushSubscription(app, id);
    expect(await adapter.findByUuid((await readRow(app, id)).vpnpanelUuid!)).toMatchObject({ status: 'DISABLED' });

    const dead = await aSubscription(app, { status: 'expired', days: -1 });
    await request(app, dead.id);
    expect(await pushSubscription(app, dead.id)).toBe('synced');
    expect(await readRow(app, dead.id)).toMatchObject({ provisionState: 'synced', vpnpanelUuid: null });
    expect(panel.listUsers()).toHaveLength(1);
  });

  it('sends squads and the external squad of the tariff when they differ, and never empties them', async () => {
    const { app, adapter } = await withPanel();
    const tariff = await storeRow(app, 'Tariff', { name: 'T', externalSquadUuid: PARTNERS, trafficResetMode: 'WEEK' });
    const { id } = await aSubscription(app, { tariffId: tariff.id });
    await request(app, id);
    await pushSubscription(app, id);
    const { vpnpanelUuid: uuid } = await readRow(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ externalSquadUuid: PARTNERS, trafficResetStrategy: 'WEEK' });
    await app.db.sql('UPDATE subscriptions SET connected_squads = $2::jsonb, tariff_id = NULL WHERE id = $1::int', [
      id,
      JSON.stringify([GERMANY]),
    ]);
    await request(app, id);
    await pushSubscription(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ squads: [{ uuid: GERMANY }], externalSquadUuid: PARTNERS });
    await app.db.sql("UPDATE subscriptions SET connected_squads = '[]' WHERE id = $1::int", [id]);
    await request(app, id);
    await pushSubscription(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ squads: [{ uuid: GERMANY }] });
  });

  it('omits squads that the panel no longer has, so that the renewal is sent', async () => {
    const { app, adapter } = await withPanel();
    const { id } = await aSubscription(app, { squads: [NETHERLANDS, '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d'] });
    await request(app, id);
    expect(await pushSubscription(app, id)).toBe('synced');
    const { vpnpanelUuid: uuid } = await readRow(app, id);
    expect(await adapter.findByUuid(uuid!)).toMatchObject({ squads: [{ uuid: NETHERLANDS }], status: 'ACTIVE' });
  });

  it('pushes again when the row changed during the push', async () => {
    const { app, adapter } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    let interruptions = 0;
    const interrupted = withPort(app, {
      ...adapter,
      createUser: async (draft) => {
        interruptions += 1;
        const made = await adapter.createUser(draft);
        await app.db.sql('UPDATE subscriptions SET device_limit = 7 WHERE id = $1::int', [id]);
        await request(app, id);
        return made;
      },
    });
    expect(await pushSubscription(interrupted, id)).toBe('synced');
    expect(interruptions).toBe(1);
    const row = await readRow(app, id);
    expect(row).toMatchObject({ provisionState: 'synced', provisionVersion: 2, provisionSyncedVersion: 2 });
    expect(await adapter.findByUuid(row.vpnpanelUuid!)).toMatchObject({ deviceLimit: 7 });
  });

  it('does nothing for a subscription that another push has the lease of', async () => {
    const { app, adapter, panel } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    let second: string | undefined;
    const first = withPort(app, {
      ...adapter,
      createUser: async (draft) => {
        second = await pushSubscription(app, id);
        return adapter.createUser(draft);
      },
    });
    expect(await pushSubscription(first, id)).toBe('synced');
    expect(second).toBe('busy');
    expect(panel.listUsers()).toHaveLength(1);
  });

  it('takes over the lease of a push that crashed', async () => {
    const { app } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    const setLease = (minutes: number) =>
      app.db.sql("UPDATE subscriptions SET provision_lease_until = now() + $2::int * interval '1 minute' WHERE id = $1::int", [
        id,
        minutes,
      ]);
    await setLease(4);
    expect(await pushSubscription(app, id)).toBe('busy');
    await setLease(-1);
    expect(await pushSubscription(app, id)).toBe('synced');
  });

  it.each([
    ['answered', 'busy'],
    ['not answered', 'VPN panel did not answer'],
  ])(
    'that takes longer than its lease and sends an older state after a newer one, %s, requests another',
    async (answer, outcome) => {
      const { app, adapter } = await withPanel();
      const { id } = await aSubscription(app);
      await request(app, id);
      await pushSubscription(app, id);
      const { vpnpanelUuid: uuid } = await readRow(app, id);
      await request(app, id);
      const slow = withPort(app, {
        ...adapter,
        updateUser: async (patch) => {
          await app.db.sql("UPDATE subscriptions SET provision_lease_until = now() - interval '1 second' WHERE id = $1::int", [
            id,
          ]);
          await app.db.sql("UPDATE subscriptions SET status = 'disabled' WHERE id = $1::int", [id]);
          await request(app, id);
          expect(await pushSubscription(app, id)).toBe('synced');
          expect(await adapter.findByUuid(uuid!)).toMatchObject({ status: 'DISABLED' });
          await app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
          const changed = await adapter.updateUser(patch);
          if (answer === 'answered') return changed;
          throw new PanelError('unavailable', 'VPN panel did not answer');
        },
      });
      expect(await pushSubscription(slow, id).catch((error: Error) => error.message)).toBe(outcome);
      expect(await adapter.findByUuid(uuid!)).toMatchObject({ status: 'ACTIVE' });
      expect(await readRow(app, id)).toMatchObject({ provisionState: 'pending' });
      expect(await jobsOf(app, 'provisioning.push')).toEqual([{ data: { subscriptionId: id } }]);
      expect(await pushSubscription(app, id)).toBe('synced');
      expect(await adapter.findByUuid(uuid!)).toMatchObject({ status: 'DISABLED' });
    },
  );

  it('removes the panel user when the subscription was deleted meanwhile', async () => {
    const { app, adapter, panel } = await withPanel();
    const { id } = await aSubscription(app);
    await request(app, id);
    const interrupted = withPort(app, {
      ...adapter,
      createUser: async (draft) => {
        const made = await adapter.createUser(draft);
        await app.db.sql('DELETE FROM subscriptions WHERE id = $1::int', [id]);
        return made;
      },
    });
    expect(await pushSubscription(interrupted, id)).toBe('gone');
    expect(panel.listUsers()).toEqual([]);
    expect(await pushSubscription(app, id)).toBe('gone');
  });
});
