import { describe, expect, test } from 'vitest';
import type { AdminActor, TokenActor } from '../../../src/core/actor.ts';
import { addDays, DAY_MS } from '../../../src/core/clock.ts';
import type { Rows } from '../../../src/core/db/columns.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { renewDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { expireSubscriptions } from '../../../src/domain/subscriptions/expire-subscriptions.ts';
import { takeBackTerm } from '../../../src/domain/subscriptions/grant-subscription.ts';
import { lockUserSubscription } from '../../../src/domain/subscriptions/manual/manual-changes.ts';
import { runSubscriptionAction } from '../../../src/domain/subscriptions/manual/run-action.ts';
import { spendTopup } from '../../../src/domain/subscriptions/spend-topup.ts';
import {
  addTrafficPackage,
  disableSubscription,
  extendByDays,
  grantDays,
} from '../../../src/domain/subscriptions/web-subscriptions.ts';
import { changeUserStatus } from '../../../src/domain/users/account/change-account.ts';
import { syncFromPanel } from '../../../src/domain/users/panel/sync-from-panel.ts';
import { syncToPanel } from '../../../src/domain/users/panel/sync-to-panel.ts';
import { deleteUserRow, disableUser, eraseUser, resetSubscription } from '../../../src/domain/users/removal.ts';
import { anAction } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import type { BuiltUser } from '../../support/builders.ts';
import { merge } from '../../support/merge-samples.ts';
import { runPanelJobs } from '../../support/panel-jobs.ts';
import { aSubscription, GB, type ProvisioningTest, readRow, withPanel } from '../../support/provisioning-setup.ts';
import { aTariff, topUp } from '../../support/sale-samples.ts';
import { push, run, startEmpty } from '../provisioning/panel-sync/setup.ts';

const token: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };

interface Customer {
  t: ProvisioningTest;
  admin: AdminActor;
  id: number;
  user: BuiltUser;
  uuid: string;
}

/** A customer with 60 paid days, `ACTIVE` or `LIMITED` at the panel. */
async function aCustomer(panelStatus: 'ACTIVE' | 'LIMITED' = 'ACTIVE', t?: ProvisioningTest): Promise<Customer> {
  const panelTest = t ?? (await withPanel());
  const { id, user } = await aSubscription(panelTest.app, { days: 60, trafficLimitGb: 10 });
  await push(panelTest.app, id);
  await panelTest.app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'provisioning.%' OR name LIKE 'merge.%'");
  const uuid = (await readRow(panelTest.app, id)).vpnpanelUuid!;
  if (panelStatus === 'LIMITED') panelTest.panel.addTraffic(panelTest.panel.listUsers()[0]!.uuid, 11 * GB);
  expect(await panelTest.adapter.findByUuid(uuid)).toMatchObject({ status: panelStatus });
  return { t: panelTest, admin: await anAdmin(panelTest.app), id, user, uuid };
}

const columns = ({ t, id }: Customer, fields: Partial<Record<keyof Rows['Subscription'] | string, unknown>>) =>
  t.app.db.sql(
    `UPDATE subscriptions SET ${Object.keys(fields)
      .map((name, index) => `${name} = $${index + 2}`)
      .join(', ')} WHERE id = $1::int`,
    [id, ...Object.values(fields)],
  );

/** Nobody keeps access, not even after the panel's monthly reset. */
async function expectNoAccess({ t, uuid }: Customer): Promise<void> {
  await t.adapter.resetTraffic(uuid);
  const found = await t.adapter.findByUuid(uuid);
  expect(found === null || found.status === 'DISABLED').toBe(true);
}

async function expectAccess({ t, uuid, id }: Customer): Promise<void> {
  const { endDate } = await readRow(t.app, id);
  expect(endDate > t.clock.now()).toBe(true);
  await t.adapter.resetTraffic(uuid);
  expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'ACTIVE', expireAt: endDate });
}

type Way = (customer: Customer) => Promise<unknown>;

const ENDS: Record<string, Way> = {
  'blocking the user': ({ t, admin, user }) => changeUserStatus(t.app, admin, user.id, 'blocked', null),
  'disabling the user': ({ t, admin, user }) => disableUser(t.app, admin, user.id, null),
  'marking the user as deleted': ({ t, admin, user }) => changeUserStatus(t.app, admin, user.id, 'deleted', null),
  'deleting the user': ({ t, admin, user }) => deleteUserRow(t.app, admin, user.id, null),
  'erasing the user': ({ t, admin, user }) => eraseUser(t.app, admin, user.id, { deletesFromPanel: true, reason: null }),
  'resetting the subscription': ({ t, admin, user }) =>
    resetSubscription(t.app, admin, user.id, { disablesInPanel: true, reason: null }),
  'cancelling the subscription': ({ t, admin, user }) => runSubscriptionAction(t.app, admin, user.id, anAction('cancel')),
  'shortening it to the past': ({ t, admin, user }) =>
    runSubscriptionAction(t.app, admin, user.id, anAction('shorten', { days: 61 })),
  'disabling the subscription': ({ t, id }) => disableSubscription(t.app, token, id),
  'its expiry': async (customer) => {
    await columns(customer, { end_date: addDays(customer.t.clock.now(), -1) });
    await expireSubscriptions(customer.t.app);
  },
  'the return of the money that it was bought with': ({ t, user }) =>
    inTransaction(t.app, (inner) => takeBackTerm(inner, user.id, 50_000, 'end')),
  'a daily tariff without money for the day': async (customer) => {
    const { t } = customer;
    const tariff = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const now = t.clock.now();
    const over = { end_date: new Date(now.getTime() - 1_000), last_daily_charge_at: new Date(now.getTime() - DAY_MS - 1_000) };
    await columns(customer, { tariff_id: tariff, ...over });
    await runDailyService(t.app);
  },
};

describe('08 P15: access ends at the panel', () => {
  test.each(
    Object.entries(ENDS).flatMap(([name, end]) => (['ACTIVE', 'LIMITED'] as const).map((status) => ({ name, end, status }))),
  )('by $name, $status there', async ({ end, status }) => {
    const customer = await aCustomer(status);
    await end(customer);
    await runPanelJobs(customer.t.app);
    await expectNoAccess(customer);
  });

  test('by the merge of two accounts, for the subscription that is not kept, while the kept one has access', async () => {
    const kept = await aCustomer();
    const lost = await aCustomer('LIMITED', kept.t);
    const pair = { primaryId: kept.user.id, secondaryId: lost.user.id };
    await merge(kept.t.app, pair);
    await runPanelJobs(kept.t.app);
    await expectNoAccess(lost);
    await expectAccess(kept);
  });
});

/** Somebody gives a blocked customer access at the panel itself. */
async function enableAtPanel({ t, uuid, id }: Customer): Promise<void> {
  t.clock.advance(5 * 60_000);
  await t.adapter.updateUser({ uuid, expireAt: (await readRow(t.app, id)).endDate });
  await t.adapter.enableUser(uuid);
  expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'ACTIVE' });
}

describe('08 P15: access that a blocked user got at the panel ends', () => {
  test.each(['all', 'update_only', 'statuses'] as const)('with the next run from the panel: %s', async (mode) => {
    const customer = await aCustomer();
    const { t, admin, user, id } = customer;
    const { status, endDate } = await readRow(t.app, id);
    await changeUserStatus(t.app, admin, user.id, 'blocked', null);
    await runPanelJobs(t.app);
    await enableAtPanel(customer);
    await (mode === 'statuses' ? run(t.app, 'statuses') : run(t.app, 'from_panel', mode));
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
    expect(await readRow(t.app, id)).toMatchObject({ status, endDate });
    // The next run has nothing to do.
    const { provisionVersion } = await readRow(t.app, id);
    t.clock.advance(5 * 60_000);
    await run(t.app, 'from_panel', 'all');
    expect((await readRow(t.app, id)).provisionVersion).toBe(provisionVersion);
  });

  test('with the synchronisation of this user by an administrator', async () => {
    const customer = await aCustomer();
    const { t, admin, user } = customer;
    await changeUserStatus(t.app, admin, user.id, 'blocked', null);
    await runPanelJobs(t.app);
    await enableAtPanel(customer);
    await syncFromPanel(t.app, admin, user.id, { updatesSubscription: true, updatesTraffic: true, createsMissing: true });
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
  });

  test.each(['blocking', 'marking as deleted'] as const)('%s ends it without a subscription here', async (way) => {
    const customer = await aCustomer();
    const { t, admin, user } = customer;
    await resetSubscription(t.app, admin, user.id, { disablesInPanel: false, reason: null });
    await changeUserStatus(t.app, admin, user.id, way === 'blocking' ? 'blocked' : 'deleted', null);
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
  });
});

/** Everything that gives a subscription more, or sends it to the panel, without asking its owner. */
const GIVES: Record<string, Way> = {
  'an extension by an administrator': ({ t, admin, user }) =>
    runSubscriptionAction(t.app, admin, user.id, anAction('extend', { days: 30 })),
  'traffic of an administrator': ({ t, admin, user }) =>
    runSubscriptionAction(t.app, admin, user.id, anAction('add_traffic', { trafficGb: 50 })),
  'its activation by an administrator': ({ t, admin, user }) =>
    runSubscriptionAction(t.app, admin, user.id, anAction('activate')),
  'an extension over the Web API': ({ t, id }) => extendByDays(t.app, token, id, 30),
  'traffic over the Web API': ({ t, id }) => addTrafficPackage(t.app, token, id, 50),
  'granted days': ({ t, user }) =>
    inTransaction(t.app, async (tx) => grantDays(tx, (await lockUserSubscription(tx, user.id))!, 30)),
  'a top-up that pays for the renewal': async (customer) => {
    await columns(customer, { autopay_enabled: true, autopay_days_before: 30 });
    await topUp(customer.t.app, customer.user.id, 1_000_000);
    await spendTopup(customer.t.app, customer.user.id);
  },
  autopay: async (customer) => {
    const { t, user } = customer;
    await columns(customer, { autopay_enabled: true, end_date: addDays(t.clock.now(), 1) });
    await topUp(t.app, user.id, 1_000_000);
    await renewDue(t.app);
  },
  'a synchronisation of this user to the panel': ({ t, admin, user }) =>
    syncToPanel(t.app, admin, user.id, {
      createsMissing: true,
      status: false,
      trafficLimit: true,
      expireDate: true,
      squads: true,
    }),
  'a run to the panel': ({ t }) => run(t.app, 'to_panel'),
  'a removal of the panel user, which it makes again': async ({ t, id, uuid }) => {
    await t.adapter.deleteUser(uuid);
    await push(t.app, id);
  },
};

describe('08 P15: a blocked user has no access', () => {
  test.each(
    Object.entries(GIVES).flatMap(([name, give]) => (['ACTIVE', 'LIMITED'] as const).map((status) => ({ name, give, status }))),
  )('after $name, $status before; unblocking gives it', async ({ give, status }) => {
    const customer = await aCustomer(status);
    const { t, admin, user, id } = customer;
    await changeUserStatus(t.app, admin, user.id, 'blocked', null);
    await runPanelJobs(t.app);
    t.clock.advance(60_000);
    await give(customer);
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
    await changeUserStatus(t.app, admin, user.id, 'active', null);
    await runPanelJobs(t.app);
    await expectAccess({ ...customer, uuid: (await readRow(t.app, id)).vpnpanelUuid! });
  });
});

describe('08 P15: access returns for the rest of the term', () => {
  test.each(['ACTIVE', 'LIMITED'] as const)('with unblocking, %s at the panel before', async (status) => {
    const customer = await aCustomer(status);
    const { t, admin, user, id } = customer;
    const before = await readRow(t.app, id);
    await changeUserStatus(t.app, admin, user.id, 'blocked', null);
    await runPanelJobs(t.app);
    // Neither direction of a synchronisation ends the term of a blocked customer.
    t.clock.advance(5 * 60_000);
    await run(t.app, 'from_panel', 'all');
    const wanted = { updatesSubscription: true, updatesTraffic: true, createsMissing: false };
    await syncFromPanel(t.app, admin, user.id, wanted);
    expect(await readRow(t.app, id)).toMatchObject({ status: before.status, endDate: before.endDate });
    t.clock.advance(10 * DAY_MS);
    await changeUserStatus(t.app, admin, user.id, 'active', null);
    await runPanelJobs(t.app);
    await expectAccess(customer);
    expect(await readRow(t.app, id)).toMatchObject({ endDate: before.endDate });
  });

  test.each(['all', 'statuses', 'cleanup'] as const)(
    'with unblocking of a user without panel user, whom a run has seen: %s',
    async (kind) => {
      const t = await startEmpty();
      const other = await aCustomer('ACTIVE', t);
      const customer = await aCustomer('ACTIVE', t);
      const { admin, user, id, uuid } = customer;
      const { status, connectedSquads } = await readRow(t.app, id);
      await changeUserStatus(t.app, admin, user.id, 'blocked', null);
      await runPanelJobs(t.app);
      await t.adapter.deleteUser(uuid);
      t.clock.advance(5 * 60_000);
      await (kind === 'all' ? run(t.app, 'from_panel', 'all') : run(t.app, kind));
      expect(await readRow(t.app, id)).toMatchObject({ status, connectedSquads });
      await changeUserStatus(t.app, admin, user.id, 'active', null);
      await runPanelJobs(t.app);
      await expectAccess({ ...customer, uuid: (await readRow(t.app, id)).vpnpanelUuid! });
      await expectAccess(other);
    },
  );

  test('with unblocking after "disable" of a paid term', async () => {
    const customer = await aCustomer();
    const { t, admin, user } = customer;
    await disableUser(t.app, admin, user.id, null);
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
    await changeUserStatus(t.app, admin, user.id, 'active', null);
    await runPanelJobs(t.app);
    await expectAccess(customer);
  });

  test.each(['activate', 'extend'] as const)('with %s of a disabled subscription', async (action) => {
    const customer = await aCustomer('LIMITED');
    const { t, admin, user, id } = customer;
    await disableSubscription(t.app, token, id);
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
    await runSubscriptionAction(t.app, admin, user.id, anAction(action, { days: 5 }));
    await runPanelJobs(t.app);
    await expectAccess(customer);
  });

  test('with traffic added to a subscription whose traffic is used up', async () => {
    const customer = await aCustomer('LIMITED');
    const { t, admin, user, uuid } = customer;
    await columns(customer, { status: 'limited' });
    await runSubscriptionAction(t.app, admin, user.id, anAction('add_traffic', { trafficGb: 20 }));
    await runPanelJobs(t.app);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'ACTIVE', trafficLimitBytes: 30 * GB });
    await expectAccess(customer);
  });

  test('with a top-up of a daily tariff that was stopped', async () => {
    const customer = await aCustomer();
    const { t, user } = customer;
    await ENDS['a daily tariff without money for the day']!(customer);
    await runPanelJobs(t.app);
    await expectNoAccess(customer);
    await topUp(t.app, user.id, 50_000);
    await runDailyService(t.app);
    await runPanelJobs(t.app);
    await expectAccess(customer);
  });
});
