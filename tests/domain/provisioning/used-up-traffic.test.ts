import { describe, expect, it } from 'vitest';
import { addDays, SECOND_MS } from '../../../src/core/clock.ts';
import type { PanelUserPatch } from '../../../src/domain/provisioning/ports.ts';
import { syncToPanel } from '../../../src/domain/users/panel/sync-to-panel.ts';
import { setUser } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import { aSubscription, GB, type ProvisioningTest, readRow, withPort } from '../../support/provisioning-setup.ts';
import { inStep, push, run, startEmpty } from './panel-sync/setup.ts';

/** A paid subscription with months left whose traffic of this month is used up, here and at the panel. */
async function usedUp() {
  const t = await startEmpty();
  const [linked] = await inStep(t, 1, { trafficLimitGb: 10, days: 300 });
  const uuid = (await readRow(t.app, linked!.id)).vpnpanelUuid!;
  t.panel.addTraffic(uuid, 11 * GB);
  await setStatus(t, linked!.id, 'limited');
  return { t, id: linked!.id, user: linked!.user, uuid };
}

const setStatus = (t: ProvisioningTest, id: number, status: string) =>
  t.app.db.sql('UPDATE subscriptions SET status = $2 WHERE id = $1::int', [id, status]);

const setEnd = (t: ProvisioningTest, id: number, end: Date) =>
  t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int', [id, end]);

describe('a push of a subscription whose traffic is used up', () => {
  it("sends everything except a status, so that the panel's own reset enables the user", async () => {
    const { t, id, uuid } = await usedUp();
    const end = addDays(t.clock.now(), 200);
    await setEnd(t, id, end);
    const sent: PanelUserPatch[] = [];
    const app = withPort(t.app, {
      ...t.adapter,
      updateUser: (patch) => {
        sent.push(patch);
        return t.adapter.updateUser(patch);
      },
    });
    await push(app, id);
    expect(sent).toMatchObject([{ uuid, expireAt: end }]);
    expect(sent[0]).not.toHaveProperty('status');
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'LIMITED', expireAt: end });
    expect(await t.adapter.resetTraffic(uuid)).toMatchObject({ status: 'ACTIVE' });
  });

  it('enables a disabled user', async () => {
    const { t, id, uuid } = await usedUp();
    await t.adapter.disableUser(uuid);
    await push(t.app, id);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'LIMITED' });
    expect(await t.adapter.resetTraffic(uuid)).toMatchObject({ status: 'ACTIVE' });
  });

  it('disables the user when the term is over or the account deleted', async () => {
    const { t, id, uuid } = await usedUp();
    await setEnd(t, id, addDays(t.clock.now(), -1));
    await push(t.app, id);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });

    const gone = await usedUp();
    await setUser(gone.t.app, gone.user, { status: 'deleted' });
    await push(gone.t.app, gone.id);
    expect(await gone.t.adapter.findByUuid(gone.uuid)).toMatchObject({ status: 'DISABLED' });
  });

  it('creates no panel user, who would have all traffic again', async () => {
    const t = await startEmpty();
    const { id } = await aSubscription(t.app, { status: 'limited' });
    await push(t.app, id);
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'synced', vpnpanelUuid: null });
    expect(t.panel.listUsers()).toEqual([]);
  });
});

describe('synchronisations of a subscription whose traffic is used up', () => {
  it('in both directions do not change it until the monthly reset', async () => {
    const { t, id, uuid } = await usedUp();
    await setStatus(t, id, 'active');
    await run(t.app, 'from_panel', 'all');
    expect(await readRow(t.app, id)).toMatchObject({ status: 'limited' });
    // Something else differs, so that it is sent; the second time nothing does.
    await t.adapter.updateUser({ uuid, deviceLimit: 9 });
    for (const updated of [1, 0]) {
      t.clock.advance(SECOND_MS);
      expect(await run(t.app, 'to_panel')).toMatchObject({ counts: { updated, created: 0, errors: 0 } });
      expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'LIMITED', deviceLimit: 2 });
    }
    await t.adapter.resetTraffic(uuid);
    t.clock.advance(SECOND_MS);
    await run(t.app, 'from_panel', 'all');
    expect(await readRow(t.app, id)).toMatchObject({ status: 'active' });
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'ACTIVE' });
  });

  it("an administrator's, of the status alone, too", async () => {
    const { t, uuid, user } = await usedUp();
    const request = { createsMissing: false, status: true, trafficLimit: false, expireDate: false, squads: false };
    await syncToPanel(t.app, await anAdmin(t.app), user.id, request);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'LIMITED' });
  });
});
