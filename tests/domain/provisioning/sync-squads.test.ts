import { beforeEach, describe, expect, it } from 'vitest';
import { syncSquads } from '../../../src/domain/provisioning/jobs.ts';
import { listStaleExternalSquads, pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { syncSquadsNow, syncSquadsOfTariff } from '../../../src/domain/provisioning/squads/sync-squads-of-tariff.ts';
import {
  aSubscription,
  GERMANY,
  NETHERLANDS,
  PARTNERS,
  type ProvisioningTest,
  readRow,
  withPanel,
  withPort,
} from '../../support/provisioning-setup.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';

const LOST = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';

let t: ProvisioningTest;

beforeEach(async () => {
  t = await withPanel();
});

async function aTariff(squads: string[], externalSquadUuid: string | null = null): Promise<number> {
  const row = await storeRow(t.app, 'Tariff', { name: 'Sync', allowedSquads: squads, externalSquadUuid });
  return row.id;
}

async function provisioned(tariffId: number) {
  const { id } = await aSubscription(t.app, { tariffId });
  await requestProvisioning(t.app, id);
  await pushSubscription(t.app, id);
  return { id, uuid: (await readRow(t.app, id)).vpnpanelUuid! };
}

describe('squad sync of a tariff', () => {
  it('gives every live subscription the squads, at the panel and in the row', async () => {
    const tariffId = await aTariff([GERMANY], PARTNERS);
    const made = [await provisioned(tariffId), await provisioned(tariffId)];
    const dead = await aSubscription(t.app, { tariffId, status: 'expired', days: -1 });
    const other = await aSubscription(t.app);
    expect(await syncSquadsOfTariff(t.app, tariffId)).toEqual({
      tariffId,
      tariffName: 'Sync',
      totalSubscriptions: 2,
      updatedCount: 2,
      failedCount: 0,
      skippedCount: 0,
      errors: [],
    });
    for (const { id, uuid } of made) {
      expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: GERMANY }], externalSquadUuid: PARTNERS });
      expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [GERMANY], provisionState: 'synced' });
    }
    for (const { id } of [dead, other]) expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [NETHERLANDS] });
  });

  it('08 P3: leaves out an external squad that the panel no longer has, for every user, and records it', async () => {
    const tariffId = await aTariff([GERMANY], PARTNERS);
    const made = [await provisioned(tariffId), await provisioned(tariffId)];
    await t.app.db.sql('UPDATE tariffs SET external_squad_uuid = $2::uuid WHERE id = $1::int', [tariffId, LOST]);
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ updatedCount: 2, failedCount: 0, errors: [] });
    for (const { uuid } of made) {
      expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: GERMANY }], externalSquadUuid: null });
    }
    const recorded = await listStaleExternalSquads(t.app.db, tariffId);
    expect(recorded).toEqual([{ tariffId, tariffName: 'Sync', squadUuid: LOST }]);
  });

  it('removes the external squad and treats no squads as all available servers (spec 02 H9)', async () => {
    const tariffId = await aTariff([], PARTNERS);
    const { id, uuid } = await provisioned(tariffId);
    await t.app.db.sql('DELETE FROM server_squads');
    await storeRows(t.app, 'ServerSquad', [
      { squadUuid: NETHERLANDS, displayName: 'N', isAvailable: true },
      { squadUuid: GERMANY, displayName: 'G', isAvailable: true },
      { squadUuid: 'hidden', displayName: 'H', isAvailable: false },
    ]);
    await t.app.db.sql('UPDATE tariffs SET external_squad_uuid = NULL WHERE id = $1::int', [tariffId]);
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ updatedCount: 1 });
    const found = (await t.adapter.findByUuid(uuid))!;
    expect(found.externalSquadUuid).toBeNull();
    expect(found.squads.map((squad) => squad.uuid).sort()).toEqual([NETHERLANDS, GERMANY]);
    expect((await readRow(t.app, id)).connectedSquads.sort()).toEqual([NETHERLANDS, GERMANY]);
    await t.app.db.sql('DELETE FROM server_squads');
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ updatedCount: 1 });
    expect((await t.adapter.findByUuid(uuid))!.squads).toHaveLength(2);
    expect((await readRow(t.app, id)).connectedSquads).toHaveLength(2);
  });

  it('keeps the row unchanged where the panel refuses, and stops after ten failures in a row', async () => {
    const tariffId = await aTariff([NETHERLANDS]);
    const made = [];
    for (let count = 0; count < 14; count++) made.push(await provisioned(tariffId));
    await t.app.db.sql('UPDATE tariffs SET allowed_squads = $2::jsonb WHERE id = $1::int', [tariffId, JSON.stringify([GERMANY])]);
    t.panel.faults.set({ status: 500 });
    const result = (await syncSquadsOfTariff(t.app, tariffId))!;
    expect(result).toMatchObject({ totalSubscriptions: 14, updatedCount: 0 });
    expect(result.failedCount).toBeGreaterThanOrEqual(10);
    expect(result.failedCount + result.skippedCount).toBe(14);
    expect(result.errors.at(-1)).toBe('Aborted after 10 consecutive failures');
    expect(result.errors[0]).toMatch(/^user_id=\d+: sync failed$/);
    for (const { id } of made) expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [NETHERLANDS] });
    t.panel.faults.set({});
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ updatedCount: 14, failedCount: 0, errors: [] });
  });

  it('requests a push for subscriptions without a panel user', async () => {
    const tariffId = await aTariff([GERMANY]);
    const { id } = await aSubscription(t.app, { tariffId });
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ totalSubscriptions: 1, skippedCount: 1, updatedCount: 0 });
    expect(await readRow(t.app, id)).toMatchObject({
      connectedSquads: [GERMANY],
      provisionState: 'pending',
      provisionVersion: 1,
    });
  });

  it('requests a push that creates a deleted panel user again', async () => {
    const tariffId = await aTariff([GERMANY]);
    const { id, uuid } = await provisioned(tariffId);
    await t.adapter.deleteUser(uuid);
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ failedCount: 1 });
    await pushSubscription(t.app, id);
    expect(t.panel.listUsers()).toMatchObject([{ squads: ['Germany'] }]);
  });

  it('repairs a subscription that changed its tariff meanwhile', async () => {
    const tariffId = await aTariff([GERMANY]);
    const { id } = await provisioned(tariffId);
    const app = withPort(t.app, {
      ...t.adapter,
      updateUser: async (patch) => {
        await t.app.db.sql('UPDATE subscriptions SET tariff_id = NULL WHERE id = $1::int', [id]);
        return t.adapter.updateUser(patch);
      },
    });
    await syncSquadsOfTariff(app, tariffId);
    expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [NETHERLANDS], provisionState: 'pending' });
    await pushSubscription(t.app, id);
    expect(t.panel.listUsers()).toMatchObject([{ squads: ['Netherlands'] }]);
  });

  it('a squad that the panel no longer has does not block the others', async () => {
    const tariffId = await aTariff([NETHERLANDS]);
    const { id, uuid } = await provisioned(tariffId);
    const allow = (...squads: string[]) =>
      t.app.db.sql('UPDATE tariffs SET allowed_squads = $2::jsonb WHERE id = $1::int', [tariffId, JSON.stringify(squads)]);
    await allow(GERMANY, LOST);
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ updatedCount: 1, failedCount: 0 });
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: GERMANY }] });
    expect((await readRow(t.app, id)).connectedSquads).toEqual([GERMANY, LOST]);
    // Of these the panel has none: what the user has is better than nothing.
    await allow(LOST);
    expect(await syncSquadsOfTariff(t.app, tariffId)).toMatchObject({ updatedCount: 1, failedCount: 0 });
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: GERMANY }] });
    expect((await readRow(t.app, id)).connectedSquads).toEqual([GERMANY, LOST]);
  });

  it('the last try of the queue requests pushes for what the panel did not accept', async () => {
    const tariffId = await aTariff([NETHERLANDS]);
    const made = [];
    for (let count = 0; count < 18; count++) made.push(await provisioned(tariffId));
    await t.app.db.sql('UPDATE tariffs SET allowed_squads = $2::jsonb WHERE id = $1::int', [tariffId, JSON.stringify([GERMANY])]);
    const job = { id: 'job', data: { tariffId }, signal: new AbortController().signal };
    t.panel.faults.set({ status: 500 });
    const sync = (isLastTry: boolean) => syncSquads.handle(t.app, { ...job, isLastTry });
    await expect(sync(false)).rejects.toThrow('Squad sync failed for');
    for (const { id } of made) expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [NETHERLANDS] });
    await sync(true);
    t.panel.faults.set({});
    for (const { id, uuid } of made) {
      expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [GERMANY], provisionState: 'pending' });
      await pushSubscription(t.app, id);
      expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: GERMANY }] });
    }
  });

  it('a push that sent the old squads while the panel was updated is followed by another', async () => {
    const tariffId = await aTariff([GERMANY]);
    const { id, uuid } = await provisioned(tariffId);
    const app = withPort(t.app, {
      ...t.adapter,
      updateUser: async (patch) => {
        const changed = await t.adapter.updateUser(patch);
        await requestProvisioning(t.app, id);
        expect(await pushSubscription(t.app, id)).toBe('synced');
        return changed;
      },
    });
    await syncSquadsOfTariff(app, tariffId);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: NETHERLANDS }] });
    expect(await readRow(t.app, id)).toMatchObject({ connectedSquads: [GERMANY], provisionState: 'pending' });
    await pushSubscription(t.app, id);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ squads: [{ uuid: GERMANY }] });
  });

  it('refuses an unknown tariff', async () => {
    expect(await syncSquadsOfTariff(t.app, 987_654)).toBeNull();
    await expect(syncSquadsNow(t.app, { kind: 'system', name: 'test' }, 987_654)).rejects.toMatchObject({
      status: 404,
      detail: 'Tariff not found',
    });
  });
});
