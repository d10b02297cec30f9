import { expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { verifyEmail } from '../../../src/domain/identity/email/email-address.ts';
import { mailPasswordReset, requestPasswordReset, resetPassword } from '../../../src/domain/identity/email/password.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { importPanelUser } from '../../../src/domain/users/import-panel-user.ts';
import { importFromPanel } from '../../../src/domain/users/jobs.ts';
import { jobsOf } from '../../support/admin-setup.ts';
import { aSubscription, GB, GERMANY, NETHERLANDS, type ProvisioningTest, withPanel } from '../../support/provisioning-setup.ts';
import { runNow } from '../../support/run-now.ts';
import { rowOf } from '../../support/sale-samples.ts';
import { anAddress, anUnverifiedAccount, mailedSecret, PASSWORD } from '../identity/accounts.ts';

const IMPORT = 'users.import-from-panel';

/** A subscription that the panel has under an e-mail address alone. */
async function onPanel(t: ProvisioningTest, email: string, days = 40) {
  return t.adapter.createUser({
    username: email.split('@')[0]!,
    status: 'ACTIVE',
    expireAt: addDays(t.clock.now(), days),
    email,
    trafficLimitBytes: 50 * GB + 1,
    squadUuids: [NETHERLANDS, GERMANY],
  });
}

/** An account that has proved its address by the mailed link. */
async function proved(t: ProvisioningTest, email: string) {
  const account = await anUnverifiedAccount(t.app, email);
  await verifyEmail(t.app, await mailedSecret(t.app, email));
  return account;
}

const stored = (t: ProvisioningTest, userId: number) =>
  rowOf<Record<string, unknown>>(
    t.app,
    `SELECT u.vpnpanel_uuid::text AS panel, s.id, s.status, s.end_date, s.traffic_limit_gb, s.traffic_used_gb::float8 AS used, s.device_limit,
       s.is_trial, s.connected_squads, s.subscription_url, s.vpnpanel_short_uuid, s.provision_state
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [userId],
  );

test('proving an e-mail brings the subscription that the panel keeps under it, and the sign-in does not wait for it', async () => {
  const t = await withPanel();
  const email = anAddress();
  const there = await onPanel(t, email);
  t.panel.addTraffic(there.uuid, 3 * GB);
  const before = await anUnverifiedAccount(t.app, email);
  expect(await jobsOf(t.app, 'userId', before.id)).not.toContain(IMPORT);
  t.panel.faults.set({ status: 503 });
  expect((await verifyEmail(t.app, await mailedSecret(t.app, email))).user.emailVerified).toBe(true);
  expect(await jobsOf(t.app, 'userId', before.id)).toContain(IMPORT);

  await expect(runNow(t.app, importFromPanel, { userId: before.id })).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await stored(t, before.id)).toMatchObject({ panel: null, id: null });
  t.panel.faults.set({});
  await runNow(t.app, importFromPanel, { userId: before.id });
  expect(await stored(t, before.id)).toMatchObject({
    panel: there.uuid,
    status: 'active',
    endDate: there.expireAt,
    trafficLimitGb: 50,
    used: 3,
    deviceLimit: 0,
    isTrial: false,
    connectedSquads: [NETHERLANDS, GERMANY],
    subscriptionUrl: there.subscriptionUrl,
    vpnpanelShortUuid: there.shortUuid,
  });
});

test('run again it changes nothing, whatever was bought or changed meanwhile', async () => {
  const t = await withPanel();
  const email = anAddress();
  await onPanel(t, email);
  const { id } = await proved(t, email);
  expect(await importPanelUser(t.app, id)).toBe('imported');
  await t.app.db.sql("UPDATE subscriptions SET end_date = end_date + interval '1 year' WHERE user_id = $1::int RETURNING id", [
    id,
  ]);
  const bought = await stored(t, id);
  expect(await importPanelUser(t.app, id)).toBe('not_applicable');
  expect(await stored(t, id)).toEqual(bought);
  await pushSubscription(t.app, bought.id as number);
  expect(await t.adapter.findByEmail(email)).toMatchObject({ uuid: bought.panel, expireAt: bought.endDate });
});

test('a past panel user makes an expired subscription, a disabled one a disabled subscription', async () => {
  const t = await withPanel();
  const [past, off] = [anAddress(), anAddress()];
  await onPanel(t, past, 3);
  const there = await onPanel(t, off);
  await t.adapter.disableUser(there.uuid);
  t.clock.set(addDays(t.clock.now(), 4));
  const accounts = [await proved(t, past), await proved(t, off)];
  for (const { id } of accounts) await importPanelUser(t.app, id);
  expect(await stored(t, accounts[0]!.id)).toMatchObject({ status: 'expired' });
  expect(await stored(t, accounts[1]!.id)).toMatchObject({ status: 'disabled' });
});

test('a panel user whose traffic is used up is limited, not switched off, beside a running trial too', async () => {
  const t = await withPanel();
  const emails = [anAddress(), anAddress()];
  for (const email of emails) t.panel.addTraffic((await onPanel(t, email)).uuid, 60 * GB);
  const [fresh, trial] = [await proved(t, emails[0]!), await proved(t, emails[1]!)];
  await aSubscription(t.app, { user: { id: trial.id, messengerId: 0 }, isTrial: true, days: 3 });
  for (const { id } of [fresh, trial]) {
    expect(await importPanelUser(t.app, id)).toBe('imported');
    expect(await stored(t, id)).toMatchObject({ status: 'limited', endDate: addDays(t.clock.now(), 40), isTrial: false });
  }
});

test.each([
  { name: 'a live paid one is not changed', existing: { days: 5 }, outcome: 'linked', daysLeft: 5 },
  { name: 'a trial that ends later is not changed', existing: { days: 50, isTrial: true }, outcome: 'linked', daysLeft: 50 },
  { name: 'a trial is overwritten', existing: { days: 5, isTrial: true }, outcome: 'imported', daysLeft: 40 },
  { name: 'an expired one is overwritten', existing: { days: -5, status: 'expired' }, outcome: 'imported', daysLeft: 40 },
])('beside a subscription of the account: $name', async ({ existing, outcome, daysLeft }) => {
  const t = await withPanel();
  const email = anAddress();
  const there = await onPanel(t, email);
  const { id } = await proved(t, email);
  await aSubscription(t.app, { user: { id, messengerId: 0 }, ...existing });
  const now = t.clock.now();
  expect(await importPanelUser(t.app, id)).toBe(outcome);
  expect(await stored(t, id)).toMatchObject({
    panel: there.uuid,
    endDate: addDays(now, daysLeft),
    isTrial: outcome === 'linked' ? (existing.isTrial ?? false) : false,
    subscriptionUrl: there.subscriptionUrl,
    provisionState: 'pending',
  });
});

test("no account gets another user's panel user, or one by an unconfirmed address", async () => {
  const t = await withPanel();
  const email = anAddress();
  const there = await onPanel(t, email);
  const { id } = await anUnverifiedAccount(t.app, email);
  expect(await importPanelUser(t.app, id)).toBe('not_applicable');
  await verifyEmail(t.app, await mailedSecret(t.app, email));
  const owner = await anUnverifiedAccount(t.app);
  await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [owner.id, there.uuid]);
  expect(await importPanelUser(t.app, id)).toBe('taken_by_another');
  expect(await stored(t, id)).toMatchObject({ panel: null, id: null });
  expect(await stored(t, owner.id)).toMatchObject({ panel: there.uuid });
});

test('what has changed while the panel was asked counts: a blocked account gets nothing', async () => {
  const t = await withPanel();
  const email = anAddress();
  await onPanel(t, email);
  const { id } = await proved(t, email);
  const slow = new Proxy(t.adapter, {
    get: (target, name, receiver) =>
      name === 'findByEmail'
        ? async (address: string) => {
            await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [id]);
            return target.findByEmail(address);
          }
        : Reflect.get(target, name, receiver),
  });
  expect(await importPanelUser({ ...t.app, ports: { ...t.app.ports, panel: slow } }, id)).toBe('not_applicable');
  expect(await stored(t, id)).toMatchObject({ panel: null, id: null });
});

test('an unknown address, and a panel that is not set up, are the end of it', async () => {
  const t = await withPanel();
  const { id } = await proved(t, anAddress());
  expect(await importPanelUser(t.app, id)).toBe('not_found');
  const none = new Proxy(t.adapter, { get: () => () => 'VPNPANEL_API_URL is not set' });
  expect(await importPanelUser({ ...t.app, ports: { ...t.app.ports, panel: none } }, id)).toBe('not_applicable');
});

test('a reset that verifies the address queries the panel too, unlike a reset of a verified address', async () => {
  const t = await withPanel();
  const account = await anUnverifiedAccount(t.app);
  const reset = async () => {
    await requestPasswordReset(t.app, account.email);
    await mailPasswordReset(t.app, account.email);
    await resetPassword(t.app, { token: await mailedSecret(t.app, account.email), password: PASSWORD });
  };
  await reset();
  expect(await jobsOf(t.app, 'userId', account.id)).toContain(IMPORT);
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = $1 AND data->>'userId' = $2 RETURNING id", [IMPORT, String(account.id)]);
  t.clock.advance(3_600_000);
  await reset();
  expect(await jobsOf(t.app, 'userId', account.id)).not.toContain(IMPORT);
});
