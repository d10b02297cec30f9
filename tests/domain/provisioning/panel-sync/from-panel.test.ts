import { describe, expect, it, onTestFinished } from 'vitest';
import { addDays, DAY_MS, SECOND_MS } from '../../../../src/core/clock.ts';
import { requestProvisioning } from '../../../../src/domain/provisioning/request-provisioning.ts';
import { aUser, defaultGroupId, unique } from '../../../support/builders.ts';
import {
  aSubscription,
  GB,
  GERMANY,
  NETHERLANDS,
  type ProvisioningTest,
  readRow,
  withPort,
} from '../../../support/provisioning-setup.ts';
import { recordedEvents } from '../../../support/recorded-events.ts';
import { storeRow } from '../../../support/stored-rows.ts';
import { aServer, everything, inStep, push, run, startEmpty } from './setup.ts';

async function aPanelUser(t: ProvisioningTest, fields: Partial<Parameters<ProvisioningTest['adapter']['createUser']>[0]> = {}) {
  return t.adapter.createUser({
    username: `panel_${unique()}`,
    status: 'ACTIVE',
    expireAt: addDays(t.clock.now(), 20),
    trafficLimitBytes: 50 * GB,
    squadUuids: [GERMANY],
    deviceLimit: 3,
    ...fields,
  });
}

describe('from the panel', () => {
  it('creates accounts of users that only the panel has, with names, subscription and event', async () => {
    const t = await startEmpty();
    await aServer(t.app, GERMANY);
    const messengerId = 7_100_000_000 + unique();
    const made = await aPanelUser(t, { messengerId, description: 'Bot user: Ivan Petrov @ivan_p' });
    const result = await run(t.app, 'from_panel', 'all');
    expect(result).toMatchObject({ status: 'completed', counts: { created: 1, updated: 0, deleted: 0, errors: 0, listed: 1 } });
    const [user] = await t.app.db.sql<{ id: number }>(
      `SELECT u.id, u.first_name, u.last_name, u.username, u.language, u.vpnpanel_uuid, s.status, s.is_trial, s.end_date,
         s.traffic_limit_gb, s.device_limit, s.connected_squads, s.vpnpanel_short_uuid, s.subscription_url, s.provision_state,
         (SELECT count(*)::int FROM subscription_servers l WHERE l.subscription_id = s.id) AS links,
         (SELECT count(*)::int FROM user_promo_groups g WHERE g.user_id = u.id) AS groups
       FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.messenger_id = $1::bigint`,
      [messengerId],
    );
    expect(user).toMatchObject({
      firstName: 'Ivan',
      lastName: 'Petrov',
      username: 'ivan_p',
      language: 'ru',
      vpnpanelUuid: made.uuid,
      status: 'active',
      isTrial: false,
      endDate: made.expireAt,
      trafficLimitGb: 50,
      deviceLimit: 3,
      connectedSquads: [GERMANY],
      vpnpanelShortUuid: made.shortUuid,
      subscriptionUrl: made.subscriptionUrl,
      provisionState: 'synced',
      links: 1,
      groups: 1,
    });
    const created = await recordedEvents(t.app, 'user.created');
    expect(created.filter((event) => event.user_id === user!.id)).toHaveLength(1);
    // The list is forgotten with the run's end.
    expect(await t.app.db.sql('SELECT 1 AS left_over FROM panel_sync_users')).toEqual([]);
  });

  it('processes only the users of its mode', async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1);
    const uuid = (await readRow(t.app, linked!.id)).vpnpanelUuid!;
    await t.adapter.updateUser({ uuid, trafficLimitBytes: 7 * GB });
    const messengerId = 7_200_000_000 + unique();
    await aPanelUser(t, { messengerId });
    const limit = async () =>
      (
        await t.app.db.sql<{ gb: number }>('SELECT traffic_limit_gb AS gb FROM subscriptions WHERE id = $1::int', [linked!.id])
      )[0]!.gb;
    expect((await run(t.app, 'from_panel', 'update_only')).counts).toMatchObject({ created: 0, updated: 1 });
    expect(await limit()).toBe(7);
    await t.adapter.updateUser({ uuid, trafficLimitBytes: 9 * GB });
    expect((await run(t.app, 'from_panel', 'new_only')).counts).toMatchObject({ created: 1, updated: 0 });
    expect(await limit()).toBe(7);
  });

  it('a limit below one GB stays a limit, here and at the panel', async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1);
    const uuid = (await readRow(t.app, linked!.id)).vpnpanelUuid!;
    await t.adapter.updateUser({ uuid, trafficLimitBytes: GB / 2 });
    const messengerId = 7_250_000_000 + unique();
    await aPanelUser(t, { messengerId, trafficLimitBytes: 1 });
    await run(t.app, 'from_panel', 'all');
    const limits = await t.app.db.sql('SELECT traffic_limit_gb AS gb FROM subscriptions');
    expect(limits).toEqual([{ gb: 1 }, { gb: 1 }]);
    await push(t.app, linked!.id);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ trafficLimitBytes: GB });
  });

  it('a second run changes nothing', async () => {
    const t = await startEmpty();
    await inStep(t, 3);
    for (let n = 0; n < 3; n++) await aPanelUser(t, { messengerId: 7_300_000_000 + unique() });
    t.panel.addTraffic((await aPanelUser(t, { messengerId: 7_300_000_000 + unique() })).uuid, 60 * GB);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 4, updated: 0 });
    const before = await everything(t.app);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, updated: 0, deleted: 0, errors: 0 });
    expect(await everything(t.app)).toEqual(before);
  });

  it('of several panel users of one person applies the one that ends last, then the active one', async () => {
    const t = await startEmpty();
    const messengerId = 7_400_000_000 + unique();
    await aPanelUser(t, { messengerId, expireAt: addDays(t.clock.now(), 5) });
    await aPanelUser(t, { messengerId, expireAt: addDays(t.clock.now(), 9), status: 'DISABLED' });
    const wanted = await aPanelUser(t, { messengerId, expireAt: addDays(t.clock.now(), 9) });
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 1, listed: 3 });
    const [row] = await t.app.db.sql('SELECT vpnpanel_uuid FROM users WHERE messenger_id = $1::bigint', [messengerId]);
    expect(row).toEqual({ vpnpanelUuid: wanted.uuid });
  });

  describe('two panel users of one account, one of them known by e-mail alone', () => {
    const valuesOfAccount = async (t: ProvisioningTest, userId: number) => {
      const [row] = await t.app.db.sql(
        `SELECT u.vpnpanel_uuid AS uuid, s.vpnpanel_short_uuid AS "shortUuid", s.subscription_url AS "subscriptionUrl",
           s.end_date AS "expireAt" FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
        [userId],
      );
      return row;
    };
    const facts = ({ uuid, shortUuid, subscriptionUrl, expireAt }: Awaited<ReturnType<typeof aPanelUser>>) => ({
      uuid,
      shortUuid,
      subscriptionUrl,
      expireAt,
    });

    it('of one batch the one with the messenger id is applied, with all its values', async () => {
      const t = await startEmpty();
      const wanted = new Map<number, unknown>();
      // The list is in the order of random uuids: of so many, both orders occur.
      for (let n = 0; n < 12; n++) {
        const email = `twice${unique()}@example.com`;
        const user = await aUser(t.app, { email });
        await aPanelUser(t, { email, expireAt: addDays(t.clock.now(), 9) });
        const messengerId = user.messengerId!;
        wanted.set(user.id, facts(await aPanelUser(t, { messengerId, expireAt: addDays(t.clock.now(), 99) })));
      }
      expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ updated: 12, created: 0, errors: 0 });
      for (const [userId, there] of wanted) expect(await valuesOfAccount(t, userId)).toEqual(there);
      expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ updated: 0, created: 0 });
      for (const [userId, there] of wanted) expect(await valuesOfAccount(t, userId)).toEqual(there);
    });

    it('the one that is linked already stays linked while the panel has it', async () => {
      const t = await startEmpty();
      const email = `first${unique()}@example.com`;
      const user = await aUser(t.app, { email });
      const linked = await aPanelUser(t, { email, expireAt: addDays(t.clock.now(), 90) });
      await run(t.app, 'from_panel', 'all');
      const other = await aPanelUser(t, { messengerId: user.messengerId!, expireAt: addDays(t.clock.now(), 3) });
      t.clock.advance(SECOND_MS);
      for (const mode of ['all', 'update_only'] as const) {
        expect((await run(t.app, 'from_panel', mode)).counts).toMatchObject({ updated: 0, created: 0 });
        expect(await valuesOfAccount(t, user.id)).toEqual(facts(linked));
      }
      await t.adapter.deleteUser(linked.uuid);
      expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ updated: 1, created: 0 });
      expect(await valuesOfAccount(t, user.id)).toEqual(facts(other));
    });
  });

  it('08 P8: users without messenger id are found by uuid or confirmed e-mail, else imported as e-mail accounts', async () => {
    const t = await startEmpty();
    const number = unique();
    const row = await storeRow(t.app, 'User', {
      authType: 'email',
      email: `sync${number}@example.com`,
      emailVerified: true,
      promoGroupId: await defaultGroupId(t.app),
    });
    const made = await aPanelUser(t, { email: `Sync${number}@example.com` });
    const stranger = await aPanelUser(t, { email: `Stranger${number}@example.com`, description: 'Bot user: Anna' });
    const unconfirmed = await aUser(t.app, { email: `taken${number}@example.com` });
    await t.app.db.sql('UPDATE users SET email_verified = false WHERE id = $1::int', [unconfirmed.id]);
    const taken = await aPanelUser(t, { email: `taken${number}@example.com` });
    const nobody = await aPanelUser(t);
    const first = await run(t.app, 'from_panel', 'all');
    expect(first.counts).toMatchObject({ created: 1, updated: 1, errors: 2, listed: 4 });
    expect(first.skipped).toEqual({
      counts: { email_not_confirmed_here: 1, no_messenger_id_and_no_email: 1 },
      users: expect.arrayContaining([
        { panelUuid: taken.uuid, username: taken.username, reason: 'email_not_confirmed_here' },
        { panelUuid: nobody.uuid, username: nobody.username, reason: 'no_messenger_id_and_no_email' },
      ]),
    });
    const [imported] = await t.app.db.sql(
      `SELECT u.auth_type, u.email, u.email_verified, u.messenger_id, u.first_name, u.vpnpanel_uuid, s.status, s.end_date
       FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.email = $1`,
      [`stranger${number}@example.com`],
    );
    expect(imported).toEqual({
      authType: 'email',
      email: `stranger${number}@example.com`,
      emailVerified: false,
      messengerId: null,
      firstName: 'Anna',
      vpnpanelUuid: stranger.uuid,
      status: 'active',
      endDate: stranger.expireAt,
    });
    t.clock.advance(SECOND_MS);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, updated: 0, errors: 2 });
    expect((await run(t.app, 'from_panel', 'update_only')).counts).toMatchObject({ created: 0, updated: 0, errors: 0 });
    const [linked] = await t.app.db.sql('SELECT vpnpanel_uuid FROM users WHERE id = $1::int', [row!.id]);
    expect(linked).toEqual({ vpnpanelUuid: made.uuid });
  });

  it("a panel user with another account's messenger id is linked to that account, and the former account gets a push", async () => {
    const t = await startEmpty();
    const [former] = await inStep(t, 1);
    const uuid = (await readRow(t.app, former!.id)).vpnpanelUuid!;
    const other = await aUser(t.app);
    await t.adapter.updateUser({ uuid, messengerId: other.messengerId });
    await run(t.app, 'from_panel', 'update_only');
    const [row] = await t.app.db.sql('SELECT vpnpanel_uuid FROM users WHERE id = $1::int', [other.id]);
    expect(row).toEqual({ vpnpanelUuid: uuid });
    expect(await readRow(t.app, former!.id)).toMatchObject({ vpnpanelUuid: null, provisionState: 'pending' });
  });

  it('an account that cannot be saved does not affect the others', async () => {
    const t = await startEmpty();
    const ids = [unique(), unique(), unique()].map((number) => 7_500_000_000 + number);
    for (const messengerId of ids) await aPanelUser(t, { messengerId });
    // A row that the database refuses, whatever the reason.
    await t.app.db.sql(`ALTER TABLE users ADD CONSTRAINT users_test_refused CHECK (messenger_id <> ${ids[1]}) NOT VALID`);
    onTestFinished(async () => void (await t.app.db.sql('ALTER TABLE users DROP CONSTRAINT users_test_refused')));
    const result = await run(t.app, 'from_panel', 'all');
    expect(result).toMatchObject({ status: 'completed', counts: { created: 2, errors: 1 } });
  });

  it('spec 10 V7: a batch that fails is halved, not tried account by account', async () => {
    const t = await startEmpty();
    const ids = Array.from({ length: 16 }, () => 7_600_000_000 + unique());
    for (const messengerId of ids) await aPanelUser(t, { messengerId });
    await t.app.db.sql(`ALTER TABLE users ADD CONSTRAINT users_test_refused CHECK (messenger_id <> ${ids[5]}) NOT VALID`);
    onTestFinished(async () => void (await t.app.db.sql('ALTER TABLE users DROP CONSTRAINT users_test_refused')));
    const halved: number[] = [];
    const log: typeof t.app.log = Object.assign(Object.create(t.app.log), {
      warn: ({ size }: { size: number }) => halved.push(size),
    });
    const result = await run({ ...t.app, log }, 'from_panel', 'all');
    expect(result).toMatchObject({ status: 'completed', counts: { created: 15, errors: 1 } });
    expect(halved).toEqual([16, 8, 4, 2]);
  });

  it('a panel that never answers is counted in errors, and nothing changes', async () => {
    const t = await startEmpty();
    await inStep(t, 2);
    const before = await everything(t.app);
    t.panel.faults.set({ status: 500 });
    const result = await run(t.app, 'from_panel', 'all');
    expect(result).toMatchObject({ status: 'failed', counts: { created: 0, updated: 0, errors: 1, deleted: 0 } });
    expect(await everything(t.app)).toEqual(before);
  });
});

describe('spec 06 section 17, hazard 7: stale overwrite', () => {
  it("a renewal that is not pushed yet is not overwritten by the panel's older end", async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1);
    const renewed = addDays(t.clock.now(), 300);
    await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int', [linked!.id, renewed]);
    await requestProvisioning(t.app, linked!.id);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ updated: 0, deleted: 0 });
    expect((await readRow(t.app, linked!.id)).endDate).toEqual(renewed);
  });

  it('a renewal pushed after the page was read is not overwritten by the page', async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1);
    const renewed = addDays(t.clock.now(), 300);
    const app = withPort(t.app, {
      ...t.adapter,
      listUsers: async (page) => {
        const list = await t.adapter.listUsers(page);
        t.clock.advance(SECOND_MS);
        await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int', [linked!.id, renewed]);
        await push(t.app, linked!.id);
        return list;
      },
    });
    expect((await run(app, 'from_panel', 'all')).counts.updated).toBe(0);
    expect((await readRow(t.app, linked!.id)).endDate).toEqual(renewed);
  });

  it('a change of the panel is written into a row without a due push, in both directions', async () => {
    const t = await startEmpty();
    const [longer, shorter] = await inStep(t, 2);
    const ends = new Map<number, Date>();
    for (const [{ id }, days] of [
      [longer!, 60],
      [shorter!, 3],
    ] as const) {
      const end = addDays(t.clock.now(), days);
      ends.set(id, end);
      await t.adapter.updateUser({ uuid: (await readRow(t.app, id)).vpnpanelUuid!, expireAt: end });
    }
    expect((await run(t.app, 'from_panel', 'all')).counts.updated).toBe(2);
    for (const [id, end] of ends) expect((await readRow(t.app, id)).endDate).toEqual(end);
  });

  it('guard W: a row with a webhook less than a minute ago stays unchanged', async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1);
    const uuid = (await readRow(t.app, linked!.id)).vpnpanelUuid!;
    await t.adapter.updateUser({ uuid, trafficLimitBytes: GB });
    await t.app.db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE id = $1::int', [
      linked!.id,
      t.clock.now(),
    ]);
    t.clock.advance(30 * SECOND_MS);
    expect((await run(t.app, 'from_panel', 'all')).counts.updated).toBe(0);
    t.clock.advance(31 * SECOND_MS);
    expect((await run(t.app, 'from_panel', 'all')).counts.updated).toBe(1);
  });

  it('an expired row stays expired although the push disabled its panel user', async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1, { days: 1 });
    t.clock.advance(2 * DAY_MS);
    await t.app.db.sql("UPDATE subscriptions SET status = 'expired' WHERE id = $1::int", [linked!.id]);
    await push(t.app, linked!.id);
    t.clock.advance(SECOND_MS);
    expect((await run(t.app, 'from_panel', 'all')).counts.updated).toBe(0);
    expect((await readRow(t.app, linked!.id)).status).toBe('expired');
  });

  it('the status follows the panel', async () => {
    const t = await startEmpty();
    const [off, limited] = await inStep(t, 2, { trafficLimitGb: 1 });
    await t.adapter.disableUser((await readRow(t.app, off!.id)).vpnpanelUuid!);
    t.panel.addTraffic((await readRow(t.app, limited!.id)).vpnpanelUuid!, 2 * GB);
    await run(t.app, 'statuses');
    expect((await readRow(t.app, off!.id)).status).toBe('disabled');
    expect((await readRow(t.app, limited!.id)).status).toBe('limited');
    const again = await aSubscription(t.app, { squads: [NETHERLANDS] });
    expect((await readRow(t.app, again.id)).status).toBe('active');
  });
});
