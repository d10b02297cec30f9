import { describe, expect, it } from 'vitest';
import { addDays, MINUTE_MS, SECOND_MS } from '../../../../src/core/clock.ts';
import { PanelError } from '../../../../src/domain/provisioning/ports.ts';
import { requestProvisioning } from '../../../../src/domain/provisioning/request-provisioning.ts';
import { defaultGroupId } from '../../../support/builders.ts';
import { aSubscription, NETHERLANDS, type ProvisioningTest, readRow, withPort } from '../../../support/provisioning-setup.ts';
import { topUp } from '../../../support/sale-samples.ts';
import { storeRow } from '../../../support/stored-rows.ts';
import { aServer, everything, inStep, push, run, startEmpty, usersOf } from './setup.ts';

async function uuidOf(t: ProvisioningTest, id: number): Promise<string> {
  return (await readRow(t.app, id)).vpnpanelUuid!;
}

describe('accounts whose panel user is absent', () => {
  it('lose what came from the panel: a paid one keeps its end, a never-paid trial ends', async () => {
    const t = await startEmpty();
    const server = await aServer(t.app, NETHERLANDS);
    const linked = await inStep(t, 24);
    const [trial] = await inStep(t, 1, { isTrial: true });
    const paid = linked[0]!;
    for (const { id } of [paid, trial!]) {
      await storeRow(t.app, 'SubscriptionServer', { subscriptionId: id, serverSquadId: server });
      await t.adapter.deleteUser(await uuidOf(t, id));
    }
    const end = (await readRow(t.app, paid.id)).endDate;
    const [users] = await usersOf(t.app, NETHERLANDS);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ deleted: 2, errors: 0 });
    const blank = {
      status: 'disabled',
      disabledReason: 'sync',
      connectedSquads: [],
      autopayEnabled: false,
      vpnpanelShortUuid: null,
      subscriptionUrl: null,
      vpnpanelUuid: null,
    };
    expect(await readRow(t.app, paid.id)).toMatchObject({ ...blank, endDate: end, trafficLimitGb: 100, deviceLimit: 2 });
    expect(await readRow(t.app, trial!.id)).toMatchObject({
      ...blank,
      endDate: t.clock.now(),
      trafficLimitGb: 0,
      deviceLimit: 1,
      isTrial: true,
    });
    expect(await usersOf(t.app, NETHERLANDS)).toEqual([users! - 2]);
    expect(await t.app.db.sql('SELECT 1 AS link FROM subscription_servers')).toEqual([]);
    const before = await everything(t.app);
    expect((await run(t.app, 'from_panel', 'all')).counts).toMatchObject({ created: 0, updated: 0, deleted: 0 });
    expect(await everything(t.app)).toEqual(before);
  });

  it('one whose look-up the panel refuses stays unchanged, and the others are checked', async () => {
    const t = await startEmpty();
    const [odd, gone] = await inStep(t, 24);
    for (const { id } of [odd!, gone!]) await t.adapter.deleteUser(await uuidOf(t, id));
    await t.app.db.sql('UPDATE users SET email = $2, email_verified = true WHERE id = $1::int RETURNING id', [
      odd!.user.id,
      `odd${odd!.user.id}@example.com`,
    ]);
    const picky = withPort(t.app, {
      ...t.adapter,
      findByEmail: (email) =>
        email.startsWith('odd')
          ? Promise.reject(new PanelError('rejected', 'VPN panel: Validation failed', { status: 400 }))
          : t.adapter.findByEmail(email),
    });
    expect(await run(picky, 'from_panel', 'all')).toMatchObject({ status: 'completed', counts: { deleted: 1, errors: 1 } });
    expect(await readRow(t.app, gone!.id)).toMatchObject({ status: 'disabled', vpnpanelUuid: null });
    expect(await readRow(t.app, odd!.id)).toMatchObject({ status: 'active', vpnpanelUuid: expect.any(String) });
  });

  it('a clean-up changes only those whose status is not disabled or limited, and counts all that it checked', async () => {
    const t = await startEmpty();
    const linked = await inStep(t, 21);
    const [gone, off] = linked;
    await t.adapter.deleteUser(await uuidOf(t, gone!.id));
    await t.adapter.deleteUser(await uuidOf(t, off!.id));
    await t.app.db.sql("UPDATE subscriptions SET status = 'disabled' WHERE id = $1::int", [off!.id]);
    const result = await run(t.app, 'cleanup');
    expect(result).toMatchObject({ status: 'completed', refusal: null, counts: { deleted: 1, checked: 21, errors: 0 } });
    expect(await readRow(t.app, gone!.id)).toMatchObject({ status: 'disabled', vpnpanelUuid: null });
    expect((await readRow(t.app, off!.id)).vpnpanelUuid).not.toBeNull();
  });

  it('the synchronisation of statuses only disables them', async () => {
    const t = await startEmpty();
    const linked = await inStep(t, 10);
    await t.adapter.deleteUser(await uuidOf(t, linked[0]!.id));
    expect((await run(t.app, 'statuses')).counts).toMatchObject({ deleted: 1, checked: 9 });
    expect(await readRow(t.app, linked[0]!.id)).toMatchObject({ status: 'disabled', connectedSquads: [NETHERLANDS] });
  });
});

describe.each(['cleanup', 'statuses', 'from_panel'] as const)(
  'spec 06 section 17, hazard 4: orphans on a partial list (%s)',
  (kind) => {
    const mode = kind === 'from_panel' ? 'all' : undefined;

    it('an empty list disables nobody', async () => {
      const t = await startEmpty();
      await inStep(t, 3);
      const before = await everything(t.app);
      const app = withPort(t.app, { ...t.adapter, listUsers: async () => ({ users: [], total: 0 }) });
      expect(await run(app, kind, mode)).toMatchObject({
        status: 'completed',
        refusal: 'incomplete_list',
        counts: { deleted: 0, errors: 1 },
      });
      expect(await everything(t.app)).toEqual(before);
    });

    it('a list with fewer users than the total of the panel disables nobody', async () => {
      const t = await startEmpty();
      await inStep(t, 30);
      const before = await everything(t.app);
      const app = withPort(t.app, {
        ...t.adapter,
        listUsers: async (page) => {
          const list = await t.adapter.listUsers(page);
          return { ...list, users: list.users.slice(1) };
        },
      });
      expect(await run(app, kind, mode)).toMatchObject({ refusal: 'incomplete_list', counts: { deleted: 0 } });
      expect(await everything(t.app)).toEqual(before);
    });

    it('more than a tenth missing disables nobody', async () => {
      const t = await startEmpty();
      const linked = await inStep(t, 20);
      for (const { id } of linked.slice(0, 3)) await t.adapter.deleteUser(await uuidOf(t, id));
      const before = await everything(t.app);
      expect(await run(t.app, kind, mode)).toMatchObject({ refusal: 'too_many_absent', counts: { deleted: 0, errors: 1 } });
      expect(await everything(t.app)).toEqual(before);
    });

    it('a user who is missing in the complete list, but exists at the panel, is not disabled', async () => {
      const t = await startEmpty();
      const linked = await inStep(t, 12);
      const hidden = await uuidOf(t, linked[0]!.id);
      const before = await everything(t.app);
      const app = withPort(t.app, {
        ...t.adapter,
        listUsers: async (page) => {
          const list = await t.adapter.listUsers(page);
          return { users: list.users.filter((user) => user.uuid !== hidden), total: list.total - 1 };
        },
      });
      expect(await run(app, kind, mode)).toMatchObject({ status: 'completed', refusal: null, counts: { deleted: 0, errors: 0 } });
      expect(await everything(t.app)).toEqual(before);
    });

    it('a page that fails changes nothing', async () => {
      const t = await startEmpty();
      await inStep(t, 12);
      const before = await everything(t.app);
      const app = withPort(t.app, {
        ...t.adapter,
        listUsers: () => Promise.reject(new PanelError('rejected', 'VPN panel refused')),
      });
      expect(await run(app, kind, mode)).toMatchObject({ status: 'failed', counts: { deleted: 0, errors: 1 } });
      expect(await everything(t.app)).toEqual(before);
    });

    it('a new subscription, one whose push is due, and one with a recent webhook stay unchanged', async () => {
      const t = await startEmpty();
      const linked = await inStep(t, 40);
      const [waiting, reported] = linked;
      for (const { id } of [waiting!, reported!]) await t.adapter.deleteUser(await uuidOf(t, id));
      await requestProvisioning(t.app, waiting!.id);
      await t.app.db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE id = $1::int', [
        reported!.id,
        t.clock.now(),
      ]);
      const app = withPort(t.app, {
        ...t.adapter,
        listUsers: async (page) => {
          const list = await t.adapter.listUsers(page);
          t.clock.advance(SECOND_MS);
          // Bought and pushed while the list was read.
          await push(t.app, (await aSubscription(t.app)).id);
          return list;
        },
      });
      expect((await run(app, kind, mode)).counts.deleted).toBe(0);
      t.clock.advance(2 * MINUTE_MS);
      await t.app.db.sql(
        "UPDATE subscriptions SET provision_state = 'synced', provision_requested_at = NULL WHERE id = $1::int",
        [waiting!.id],
      );
      expect((await run(t.app, kind, mode)).counts.deleted).toBe(2);
    });

    it('balances never change, and accounts with an e-mail only are not absent', async () => {
      const t = await startEmpty();
      const linked = await inStep(t, 10);
      const email = `only${linked[0]!.id}@x.io`;
      const promoGroupId = await defaultGroupId(t.app);
      const mail = await storeRow(t.app, 'User', { authType: 'email', email, emailVerified: true, promoGroupId });
      await storeRow(t.app, 'Subscription', {
        userId: mail.id,
        status: 'active',
        endDate: addDays(t.clock.now(), 9),
        createdAt: t.clock.now(),
      });
      await topUp(t.app, linked[0]!.user.id, 5000);
      t.clock.advance(SECOND_MS);
      await t.adapter.deleteUser(await uuidOf(t, linked[0]!.id));
      const money = () =>
        t.app.db.sql(
          'SELECT (SELECT count(*)::int FROM transactions) AS rows, (SELECT sum(balance_kopeks)::int FROM users) AS balance',
        );
      const before = await money();
      expect((await run(t.app, kind, mode)).counts.deleted).toBe(1);
      expect(await money()).toEqual(before);
      const [row] = await t.app.db.sql('SELECT status FROM subscriptions WHERE user_id = $1::int', [mail.id]);
      expect(row).toEqual({ status: 'active' });
    });
  },
);
