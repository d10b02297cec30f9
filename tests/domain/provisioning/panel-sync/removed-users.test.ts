import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '../../../../src/core/clock.ts';
import { removePanelUser } from '../../../../src/domain/provisioning/panel-user.ts';
import { PanelError } from '../../../../src/domain/provisioning/ports.ts';
import { syncFromPanel } from '../../../../src/domain/users/panel/sync-from-panel.ts';
import { deleteUserRow, eraseUser, resetSubscription, resetTrial } from '../../../../src/domain/users/removal.ts';
import { anAdmin } from '../../../support/admins.ts';
import { aPair, merge } from '../../../support/merge-samples.ts';
import { aSubscription, type ProvisioningTest, readRow, withPort } from '../../../support/provisioning-setup.ts';
import { inStep, push, run, startEmpty } from './setup.ts';

const subscriptionsOf = (t: ProvisioningTest, userId: number) =>
  t.app.db.sql('SELECT status, is_trial FROM subscriptions WHERE user_id = $1::int', [userId]);

const accountsOf = (t: ProvisioningTest, messengerId: number | null) =>
  t.app.db.sql('SELECT id, first_name FROM users WHERE messenger_id = $1::bigint', [messengerId]);

/** Somebody at work after the list was read, and before it is used. */
function afterTheReading(t: ProvisioningTest, work: () => Promise<unknown>) {
  return withPort(t.app, {
    ...t.adapter,
    listUsers: async (page) => {
      const list = await t.adapter.listUsers(page);
      t.clock.advance(SECOND_MS);
      await work();
      return list;
    },
  });
}

/** A panel that removes nothing. */
function unwilling(t: ProvisioningTest) {
  const down = () => Promise.reject(new PanelError('unavailable', 'VPN panel did not answer'));
  return withPort(t.app, { ...t.adapter, deleteUser: down, disableUser: down });
}

const endQueue = (t: ProvisioningTest, state: 'completed' | 'failed') =>
  t.app.db.sql(`UPDATE jobs.job SET state = '${state}' WHERE name = 'provisioning.remove-user' RETURNING id`);

describe('spec 06 section 17, hazard 7: what was deleted here is not created again from an older list', () => {
  it('an account erased after the list was read', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    const app = afterTheReading(t, () => eraseUser(t.app, admin, linked!.user.id, { deletesFromPanel: true, reason: null }));
    expect((await run(app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, errors: 0 });
    expect(await accountsOf(t, linked!.user.messengerId)).toEqual([]);
  });

  it('a row deleted after the list was read', async () => {
    const t = await startEmpty({ environment: { VPNPANEL_USER_DELETE_MODE: 'disable' } });
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    const app = afterTheReading(t, async () => {
      await deleteUserRow(t.app, admin, linked!.user.id, null);
      await endQueue(t, 'completed');
    });
    expect((await run(app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, errors: 0 });
    expect(await accountsOf(t, linked!.user.messengerId)).toEqual([]);
  });

  it('a subscription deleted after the list was read', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    const app = afterTheReading(t, async () => {
      await resetSubscription(t.app, admin, linked!.user.id, { disablesInPanel: true, reason: null });
      await endQueue(t, 'completed');
    });
    expect((await run(app, 'from_panel', 'all')).counts).toMatchObject({ updated: 0, errors: 0 });
    expect(await subscriptionsOf(t, linked!.user.id)).toEqual([]);
  });

  it('the account that a merge has closed after the list was read', async () => {
    const t = await startEmpty();
    const pair = await aPair(t.app);
    for (const id of [pair.primaryId, pair.secondaryId]) {
      await push(t.app, (await aSubscription(t.app, { user: { id, messengerId: 0 } })).id);
    }
    t.clock.advance(SECOND_MS);
    const app = afterTheReading(t, () => merge(t.app, pair));
    expect((await run(app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, errors: 0, listed: 2 });
  });

  it('one deleted while the panel is called for this user alone', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    const slow = withPort(t.app, {
      ...t.adapter,
      findByUuid: async (uuid) => {
        const seen = await t.adapter.findByUuid(uuid);
        await resetSubscription(t.app, admin, linked!.user.id, { disablesInPanel: true, reason: null });
        return seen;
      },
    });
    const request = { updatesSubscription: true, updatesTraffic: true, createsMissing: true };
    expect(await syncFromPanel(slow, admin, linked!.user.id, request)).toMatchObject({
      changes: {},
      errors: [expect.stringContaining('to be removed')],
    });
    expect(await subscriptionsOf(t, linked!.user.id)).toEqual([]);
  });
});

describe('a subscription that was deleted stays deleted while its panel user still exists', () => {
  it('an erased customer, although the panel was down for longer than the queue retries', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    await eraseUser(unwilling(t), admin, linked!.user.id, { deletesFromPanel: true, reason: null });
    await endQueue(t, 'failed');
    t.clock.advance(SECOND_MS);
    for (let night = 0; night < 2; night++) {
      expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, listed: 1 });
      // Nor when the queue's own record is gone.
      await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.remove-user'");
    }
    expect(await accountsOf(t, linked!.user.messengerId)).toEqual([]);
  });

  it('a subscription whose panel user is not disabled yet', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    await resetSubscription(unwilling(t), admin, linked!.user.id, { disablesInPanel: true, reason: null });
    await endQueue(t, 'failed');
    t.clock.advance(SECOND_MS);
    await run(t.app, 'from_panel', 'all');
    expect(await subscriptionsOf(t, linked!.user.id)).toEqual([]);
  });

  it('a deleted row whose panel user was only disabled', async () => {
    const t = await startEmpty({ environment: { VPNPANEL_USER_DELETE_MODE: 'disable' } });
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    const { vpnpanelUuid: uuid } = await readRow(t.app, linked!.id);
    await deleteUserRow(t.app, admin, linked!.user.id, null);
    await removePanelUser(t.app, uuid!);
    await endQueue(t, 'completed');
    t.clock.advance(SECOND_MS);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, listed: 1 });
    expect(await accountsOf(t, linked!.user.messengerId)).toEqual([]);
  });

  it('a trial that was reset: a disabled panel user creates no subscription, and the next one can be bought', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1, { isTrial: true, days: 3 });
    await resetTrial(t.app, admin, linked!.user.id, null);
    await endQueue(t, 'completed');
    // Without the note the state at the panel alone must do.
    await t.app.db.sql("DELETE FROM short_lived_entries WHERE key LIKE 'panel_removal:%'");
    t.clock.advance(SECOND_MS);
    await run(t.app, 'from_panel', 'all');
    expect(await subscriptionsOf(t, linked!.user.id)).toEqual([]);
    const bought = await aSubscription(t.app, { user: linked!.user });
    await push(t.app, bought.id);
    t.clock.advance(SECOND_MS);
    await run(t.app, 'from_panel', 'all');
    expect(await subscriptionsOf(t, linked!.user.id)).toEqual([{ status: 'active', isTrial: false }]);
  });

  it('but a panel user that was enabled again at the panel creates a subscription', async () => {
    const t = await startEmpty();
    const admin = await anAdmin(t.app);
    const [linked] = await inStep(t, 1);
    const { vpnpanelUuid: uuid } = await readRow(t.app, linked!.id);
    await resetSubscription(t.app, admin, linked!.user.id, { disablesInPanel: true, reason: null });
    await endQueue(t, 'completed');
    t.clock.advance(SECOND_MS);
    await t.adapter.enableUser(uuid!);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ updated: 1 });
    expect(await subscriptionsOf(t, linked!.user.id)).toEqual([{ status: 'active', isTrial: false }]);
  });
});
