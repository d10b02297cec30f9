/** Spec 07 section 1.4: nothing changes the panel users of subscriptions that an import kept aside, nor those of the kept ones for them (hazard I42). */
import { describe, expect, test } from 'vitest';
import { isParkedPanelUser } from '../../../src/domain/provisioning/parked-panel-users.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { importPanelUser } from '../../../src/domain/users/import-panel-user.ts';
import {
  anImportedAccount,
  anImportRun,
  aPanelUser,
  aParkedSubscription,
  changesSince,
  type ImportedAccount,
} from '../../support/imported-accounts.ts';
import { deliver, PANEL_WEBHOOK_ON, panelBody, userData } from '../../support/panel-events.ts';
import type { ProvisioningTest } from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { inStep, push, run, startEmpty } from '../provisioning/panel-sync/setup.ts';

/** Accounts with their links and subscriptions. */
const accounts = (t: ProvisioningTest) =>
  t.app.db.sql<{ vpnpanelUuid: string | null }>(
    `SELECT u.id, u.status, u.vpnpanel_uuid, to_jsonb(s) - '{updated_at}'::text[] AS subscription FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id ORDER BY u.id`,
  );

/**
 * A person whose kept subscription is in step, and one whose kept subscription has ended and has no panel user. Each has another panel user, of
 * a subscription that was kept aside, which ends later.
 */
async function someParked(generation: 'uuid' | 'number') {
  const t = await startEmpty({ generation, environment: PANEL_WEBHOOK_ON });
  const runId = await anImportRun(t, '0106');
  const kept = await anImportedAccount(t);
  await push(t.app, kept.subscriptionId);
  const ended = await anImportedAccount(t, { status: 'expired' });
  const parked = async ({ userId, messengerId }: ImportedAccount, isNumberOnly: boolean) => {
    const panelUser = await aPanelUser(t, { messengerId, days: 60 });
    await aParkedSubscription(t, { runId, userId, panelUser, isNumberOnly });
    return panelUser;
  };
  const parkedUsers = [await parked(kept, false), await parked(ended, true)];
  await inStep(t, 1);
  return { t, runId, kept, ended, parkedUsers };
}

describe.each(['uuid', 'number'] as const)('a panel that addresses users by %s', (generation) => {
  test.each([
    ['from_panel', 'all'],
    ['from_panel', 'new_only'],
    ['from_panel', 'update_only'],
    ['auto', 'all'],
    ['to_panel', undefined],
    ['statuses', undefined],
    ['cleanup', undefined],
    ['validate', undefined],
  ] as const)('a synchronisation %s %s changes neither the parked nor the kept ones', async (kind, mode) => {
    const { t } = await someParked(generation);
    const before = await accounts(t);
    const users = t.panel.listUsers();
    const calls = t.panel.calls().length;
    expect(await run(t.app, kind, mode)).toMatchObject({ status: 'completed', counts: { created: 0, updated: 0, deleted: 0 } });
    expect(changesSince(t, calls)).toEqual([]);
    expect(t.panel.listUsers()).toEqual(users);
    expect(await accounts(t)).toEqual(before);
  });

  test('no event of a parked panel user is taken for one of its owner', async () => {
    const { t, parkedUsers } = await someParked(generation);
    const before = await accounts(t);
    const names = ['expired', 'disabled', 'limited', 'deleted', 'modified', 'revoked', 'traffic_reset', 'expired_24_hours_ago'];
    for (const panelUser of parkedUsers)
      for (const name of names) {
        const body = panelBody(`user.${name}`, t.clock.now(), userData(panelUser, { status: 'EXPIRED' }));
        expect(await deliver(t.app, body)).toEqual(['unknown_user']);
      }
    expect(await accounts(t)).toEqual(before);
  });

  test('a purchase of the owner does not take the parked panel user over', async () => {
    const { t, ended, parkedUsers } = await someParked(generation);
    await t.app.db.sql(`UPDATE subscriptions SET status = 'active', end_date = $2::timestamptz WHERE id = $1::int RETURNING id`, [
      ended.subscriptionId,
      parkedUsers[1]!.expireAt,
    ]);
    expect(await pushSubscription(t.app, ended.subscriptionId)).toBe('synced');
    const owned = (await accounts(t)).map(({ vpnpanelUuid }) => vpnpanelUuid);
    for (const { uuid } of parkedUsers) expect(owned).not.toContain(uuid);
    expect(await t.adapter.findByUuid(parkedUsers[1]!.uuid)).toMatchObject({
      status: 'ACTIVE',
      expireAt: parkedUsers[1]!.expireAt,
    });
  });

  test('a confirmed e-mail does not take the parked panel user over', async () => {
    const { t, runId } = await someParked(generation);
    const account = await anImportedAccount(t, { status: 'expired' });
    const panelUser = await aPanelUser(t, { email: account.email });
    await aParkedSubscription(t, { runId, userId: account.userId, panelUser });
    const before = await accounts(t);
    expect(await importPanelUser(t.app, account.userId)).toBe('taken_by_another');
    expect(await accounts(t)).toEqual(before);
  });

  test('one that was linked to an account here is an ordinary panel user', async () => {
    const { t, ended, parkedUsers } = await someParked(generation);
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [
      ended.userId,
      parkedUsers[1]!.uuid,
    ]);
    const body = panelBody('user.traffic_reset', t.clock.now(), userData(parkedUsers[1]!));
    expect(await deliver(t.app, body)).not.toContain('unknown_user');
  });
});

test('a parked number in another form is none, and its uuid counts', async () => {
  const t = await startEmpty({ generation: 'uuid' });
  const runId = await anImportRun(t, '0106');
  const uuid = '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77';
  const parked = { runId, sourceTable: 'subscriptions', sourceId: '1', reason: 'subscription_parked', isWhole: true };
  for (const number of ['none', '7.5', '-1', 7.5, null, ''])
    await storeRow(t.app, 'ImportParked', { ...parked, row: { remnawave_id: number, remnawave_uuid: uuid.toUpperCase() } });
  expect(await isParkedPanelUser(t.app.db, { uuid, shortUuid: 'unknown' })).toBe(true);
  expect(await isParkedPanelUser(t.app.db, { uuid: uuid.replace('0', '1'), shortUuid: 'unknown' })).toBe(false);
});
