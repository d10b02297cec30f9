import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { removePanelUser } from '../../../src/domain/provisioning/panel-user.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { MAX_PUSH_ATTEMPTS, pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { reconcileProvisioning } from '../../../src/domain/provisioning/reconcile.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aSubscription, jobsOf, type ProvisioningTest, readRow, withPanel, withPort } from '../../support/provisioning-setup.ts';

const request = (app: App, id: number) => inTransaction(app, (t) => requestProvisioning(t, id));

/** What the queue does: tries again until the push neither throws nor says so. */
async function pushLikeTheQueue(app: App, id: number): Promise<{ result: string; tries: number }> {
  for (let tries = 1; ; tries++) {
    try {
      return { result: await pushSubscription(app, id), tries };
    } catch (error) {
      if (tries >= 20) throw error;
    }
  }
}

async function provisioned(t: ProvisioningTest) {
  const subscription = await aSubscription(t.app);
  await request(t.app, subscription.id);
  await pushSubscription(t.app, subscription.id);
  return { ...subscription, uuid: (await readRow(t.app, subscription.id)).vpnpanelUuid! };
}

describe('a panel that is down', () => {
  it('undoes neither the sale nor the link, and the push is retried later', async () => {
    const t = await withPanel();
    const { id, uuid } = await provisioned(t);
    await request(t.app, id);
    t.panel.faults.set({ status: 503 });
    await expect(pushSubscription(t.app, id)).rejects.toMatchObject({ name: 'PanelError', kind: 'unavailable' });
    expect(await readRow(t.app, id)).toMatchObject({
      status: 'active',
      vpnpanelUuid: uuid,
      provisionState: 'pending',
      provisionAttempts: 1,
      provisionError: expect.stringContaining('VPN panel'),
      provisionLeaseUntil: null,
    });
    const { result, tries } = await pushLikeTheQueue(t.app, id);
    expect({ result, tries: tries + 1 }).toEqual({ result: 'failed', tries: MAX_PUSH_ATTEMPTS });
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'failed', vpnpanelUuid: uuid });

    t.panel.faults.set({});
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'synced', provisionAttempts: 0, provisionError: null });
  });

  it('gives up at once when nothing is configured or the panel refuses', async () => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app, { squads: [] });
    await request(t.app, id);
    t.panel.faults.set({ status: 400 });
    expect(await pushSubscription(t.app, id)).toBe('failed');
    expect(await readRow(t.app, id)).toMatchObject({
      provisionState: 'failed',
      provisionAttempts: MAX_PUSH_ATTEMPTS,
      provisionError: expect.stringContaining('VPN panel'),
    });
  });

  it('a new request after a failure has all its tries again', async () => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app);
    await request(t.app, id);
    t.panel.faults.set({ status: 400 });
    await pushSubscription(t.app, id);
    await request(t.app, id);
    expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'pending', provisionAttempts: 0, provisionError: null });
  });
});

describe('a panel that misbehaves ends with exactly one user', () => {
  const troubles = {
    'the creation is carried out but not answered': { timeoutAfterEffect: true, method: 'POST', path: '/api/users' },
    'the creation is answered with nonsense': { malformed: true, method: 'POST', path: '/api/users' },
  };
  it.each(Object.entries(troubles))('%s', async (_name, faults) => {
    const t = await withPanel();
    const { id, user } = await aSubscription(t.app);
    await request(t.app, id);
    t.panel.faults.set(faults);
    await expect(pushSubscription(t.app, id)).rejects.toMatchObject({ kind: 'unavailable' });
    t.panel.faults.set({});
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(t.panel.listUsers()).toMatchObject([
      { username: `user_${user.messengerId}`, uuid: (await readRow(t.app, id)).vpnpanelUuid },
    ]);
  });

  it('also for a user whom the panel has by the username alone', async () => {
    const t = await withPanel();
    const user = await aUser(t.app);
    await t.app.db.sql('UPDATE users SET messenger_id = NULL, email = $2, email_verified = false WHERE id = $1::int', [
      user.id,
      `nobody${unique()}@example.com`,
    ]);
    const { id } = await aSubscription(t.app, { user });
    await request(t.app, id);
    t.panel.faults.set({ timeoutAfterEffect: true, method: 'POST', path: '/api/users' });
    await expect(pushSubscription(t.app, id)).rejects.toMatchObject({ kind: 'unavailable' });
    t.panel.faults.set({});
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(t.panel.listUsers()).toMatchObject([{ uuid: (await readRow(t.app, id)).vpnpanelUuid }]);
  });

  it.each([
    ['every third call answers 500', { status: 500, failEvery: 3 }],
    ['every third call is executed but not answered', { timeoutAfterEffect: true, failEvery: 3 }],
    ['every fourth answer is nonsense', { malformed: true, failEvery: 4 }],
  ])('%s', async (_name, faults) => {
    // As in production the client repeats reads; otherwise every n-th fault could always hit the same call.
    const t = await withPanel({ retries: 2 });
    t.panel.faults.set(faults);
    for (let count = 0; count < 4; count++) {
      const { id } = await aSubscription(t.app);
      await request(t.app, id);
      expect(await pushLikeTheQueue(t.app, id)).toMatchObject({ result: 'synced' });
      await request(t.app, id);
      expect(await pushLikeTheQueue(t.app, id)).toMatchObject({ result: 'synced' });
      expect(t.panel.listUsers()).toHaveLength(count + 1);
      expect(t.panel.listUsers()[0]).toMatchObject({ status: 'ACTIVE', uuid: (await readRow(t.app, id)).vpnpanelUuid });
    }
  });
});

describe('an address that the panel would refuse', () => {
  async function boughtByEmailAlone(t: ProvisioningTest, email: string): Promise<number> {
    const user = await aUser(t.app, { email });
    await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int', [user.id]);
    return (await aSubscription(t.app, { user })).id;
  }

  it.each(['иван@почта.рф', 'a..b@example.com', 'ivan@example'])('%s does not block the access of its owner', async (address) => {
    const t = await withPanel();
    const id = await boughtByEmailAlone(t, `${unique()}${address}`);
    await request(t.app, id);
    expect(await pushSubscription(t.app, id)).toBe('synced');
    const { vpnpanelUuid: uuid } = await readRow(t.app, id);
    expect(await t.adapter.findByUuid(uuid!)).toMatchObject({ status: 'ACTIVE', email: null });
    await request(t.app, id);
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(t.panel.listUsers()).toHaveLength(1);
    expect(t.panel.calls().filter((call) => call.path.includes('by-email'))).toEqual([]);
  });

  it.each([
    [400, 'synced'],
    [409, 'failed'],
  ])('at the look-up, with status %i, makes the push %s', async (status, outcome) => {
    const t = await withPanel();
    const id = await boughtByEmailAlone(t, `picky${unique()}@example.com`);
    await request(t.app, id);
    const picky = withPort(t.app, {
      ...t.adapter,
      findByEmail: () => Promise.reject(new PanelError('rejected', 'VPN panel: no', { status })),
    });
    expect(await pushSubscription(picky, id)).toBe(outcome);
    expect(t.panel.listUsers()).toHaveLength(outcome === 'synced' ? 1 : 0);
  });
});

describe('whose panel user it is', () => {
  it('creates a new one after the old one was deleted at the panel', async () => {
    const t = await withPanel();
    const { id, uuid } = await provisioned(t);
    const before = await readRow(t.app, id);
    await t.adapter.deleteUser(uuid);
    await request(t.app, id);
    expect(await pushSubscription(t.app, id)).toBe('synced');
    const after = await readRow(t.app, id);
    expect(after.vpnpanelUuid).not.toBe(uuid);
    expect(after.subscriptionUrl).not.toBe(before.subscriptionUrl);
    expect(t.panel.listUsers()).toMatchObject([{ uuid: after.vpnpanelUuid }]);
  });

  it('unlinks a panel user with another messenger id and keeps the squads', async () => {
    const t = await withPanel();
    const { id, uuid } = await provisioned(t);
    const stranger = 4_000_000_000 + unique();
    await t.adapter.updateUser({ uuid, messengerId: stranger });
    await request(t.app, id);
    // The plain username still belongs to the other person's user, so the new one has the local id.
    expect(await pushSubscription(t.app, id)).toBe('synced');
    const row = await readRow(t.app, id);
    expect(row.vpnpanelUuid).not.toBe(uuid);
    expect(row.connectedSquads).toHaveLength(1);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ messengerId: stranger });
  });

  it('adopts a panel user found by messenger id and deletes its devices', async () => {
    const t = await withPanel();
    const user = await aUser(t.app);
    const old = await t.adapter.createUser({
      username: 'from_before',
      status: 'ACTIVE',
      expireAt: new Date(t.clock.now().getTime() + HOUR_MS),
      messengerId: user.messengerId,
    });
    t.panel.addDevice(old.uuid, 'device-of-before');
    const { id } = await aSubscription(t.app, { user });
    await request(t.app, id);
    await pushSubscription(t.app, id);
    expect(t.panel.listUsers()).toMatchObject([{ uuid: old.uuid, username: 'from_before', hwids: [] }]);
    expect((await readRow(t.app, id)).vpnpanelUuid).toBe(old.uuid);
  });

  it.each([
    [true, 1],
    [false, 2],
  ])('by e-mail only when the e-mail is confirmed (%s)', async (isVerified, users) => {
    const t = await withPanel();
    const email = `shared${unique()}@example.com`;
    await t.adapter.createUser({
      username: 'from_before',
      status: 'ACTIVE',
      expireAt: new Date(t.clock.now().getTime() + HOUR_MS),
      email,
    });
    const user = await aUser(t.app, { email });
    await t.app.db.sql('UPDATE users SET messenger_id = NULL, email_verified = $2::boolean WHERE id = $1::int', [
      user.id,
      isVerified,
    ]);
    const { id } = await aSubscription(t.app, { user });
    await request(t.app, id);
    await pushSubscription(t.app, id);
    expect(t.panel.listUsers()).toHaveLength(users);
  });

  it('unlinks a panel user from an account without its messenger id', async () => {
    const t = await withPanel();
    const { id, uuid, user } = await provisioned(t);
    const former = await aSubscription(t.app);
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = NULL WHERE id = $1::int', [user.id]);
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int', [former.user.id, uuid]);
    await request(t.app, id);
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect((await readRow(t.app, id)).vpnpanelUuid).toBe(uuid);
    expect(await readRow(t.app, former.id)).toMatchObject({ vpnpanelUuid: null, provisionState: 'pending' });
    expect(await pushSubscription(t.app, former.id)).toBe('synced');
    expect(t.panel.listUsers()).toHaveLength(2);
  });

  it('never enables the panel user of a deleted account', async () => {
    const t = await withPanel();
    const { id, uuid, user } = await provisioned(t);
    await t.app.db.sql("UPDATE users SET status = 'deleted' WHERE id = $1::int", [user.id]);
    await request(t.app, id);
    await pushSubscription(t.app, id);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'DISABLED' });
  });
});

describe('removing the panel user of a deleted account', () => {
  it.each([
    ['delete', null],
    ['disable', { status: 'DISABLED' }],
  ])('%s', async (mode, expected) => {
    const t = await withPanel({ environment: { VPNPANEL_USER_DELETE_MODE: mode } });
    const { uuid, user } = await provisioned(t);
    await t.app.db.sql('DELETE FROM users WHERE id = $1::int', [user.id]);
    await inTransaction(t.app, (inner) => requestPanelUserRemoval(inner, uuid));
    expect(await jobsOf(t.app, 'provisioning.remove-user')).toContainEqual({ data: { panelUuid: uuid } });
    await removePanelUser(t.app, uuid);
    await removePanelUser(t.app, uuid);
    const found = await t.adapter.findByUuid(uuid);
    if (expected) expect(found).toMatchObject(expected);
    else expect(found).toBeNull();
  });

  it('does not remove one that has a subscription', async () => {
    const t = await withPanel();
    const { uuid } = await provisioned(t);
    await removePanelUser(t.app, uuid);
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ status: 'ACTIVE' });
  });

  /** A removal that is carried out but not answered, after the user has bought again and was pushed. */
  async function removedDuringPurchase(t: ProvisioningTest) {
    const { id, uuid, user } = await provisioned(t);
    await t.app.db.sql('DELETE FROM subscriptions WHERE id = $1::int', [id]);
    const bought = { id: 0 };
    const app = withPort(t.app, {
      ...t.adapter,
      deleteUser: async (panelUuid) => {
        bought.id = (await aSubscription(t.app, { user })).id;
        await request(t.app, bought.id);
        await pushSubscription(t.app, bought.id);
        await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
        await t.adapter.deleteUser(panelUuid);
        throw new PanelError('unavailable', 'VPN panel did not answer');
      },
    });
    await expect(removePanelUser(app, uuid, 'delete')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(t.panel.listUsers()).toEqual([]);
    return { bought: bought.id, uuid };
  }

  it('without an answer, while its user buys again, is followed by a push', async () => {
    const t = await withPanel();
    const { bought } = await removedDuringPurchase(t);
    expect(await readRow(t.app, bought)).toMatchObject({ provisionState: 'pending' });
    expect(await jobsOf(t.app, 'provisioning.push')).toEqual([{ data: { subscriptionId: bought } }]);
    expect(await pushSubscription(t.app, bought)).toBe('synced');
    expect(t.panel.listUsers()).toMatchObject([{ status: 'ACTIVE', uuid: (await readRow(t.app, bought)).vpnpanelUuid }]);
  });

  it('on a retry requests a push as well, for a purchase after the first check', async () => {
    const t = await withPanel();
    const { bought, uuid } = await removedDuringPurchase(t);
    // The panel carries the call out so late that the push after the first try still saw the user.
    await t.app.db.sql("UPDATE subscriptions SET provision_state = 'synced' WHERE id = $1::int", [bought]);
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
    await removePanelUser(t.app, uuid, 'delete');
    expect(await jobsOf(t.app, 'provisioning.push')).toEqual([{ data: { subscriptionId: bought } }]);
    expect(await pushSubscription(t.app, bought)).toBe('synced');
    expect(t.panel.listUsers()).toHaveLength(1);
  });

  it('is retried for days, with bounded pauses', async () => {
    const t = await withPanel();
    const uuid = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
    await inTransaction(t.app, (inner) => requestPanelUserRemoval(inner, uuid));
    const [job] = await t.app.db.sql<{ limit: number; first: number; max: number }>(
      `SELECT retry_limit AS "limit", retry_delay AS first, retry_delay_max AS max FROM jobs.job
       WHERE name = 'provisioning.remove-user' AND data->>'panelUuid' = $1`,
      [uuid],
    );
    const pauses = Array.from({ length: job!.limit }, (_, n) => Math.min(job!.first * 2 ** Math.min(16, n), job!.max));
    const days = pauses.reduce((sum, pause) => sum + pause, 0) / (DAY_MS / SECOND_MS);
    expect(days).toBeGreaterThan(7);
    // The queue throws away what waits for 14 days.
    expect(days).toBeLessThan(13);
  });
});

describe('the reconciler', () => {
  it('sends lost pushes again after five minutes and failed ones in growing intervals', async () => {
    const t = await withPanel();
    const { id } = await aSubscription(t.app);
    await request(t.app, id);
    const isDue = async () => {
      await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
      await reconcileProvisioning(t.app);
      const jobs = await jobsOf(t.app, 'provisioning.push');
      return jobs.some((job) => (job.data as { subscriptionId: number }).subscriptionId === id);
    };
    expect(await isDue()).toBe(false);
    t.clock.advance(6 * MINUTE_MS);
    expect(await isDue()).toBe(true);

    t.panel.faults.set({ status: 400 });
    expect(await pushSubscription(t.app, id)).toBe('failed');
    expect(await isDue()).toBe(false);
    t.clock.advance(10 * MINUTE_MS);
    expect(await isDue()).toBe(true);
    expect(await pushSubscription(t.app, id)).toBe('failed');
    expect(await isDue()).toBe(false);
    t.clock.advance(15 * MINUTE_MS);
    expect(await isDue()).toBe(true);
    for (let count = 0; count < 8; count++) await pushSubscription(t.app, id);
    t.clock.advance(24 * HOUR_MS);
    expect(await isDue()).toBe(false);
    t.clock.advance(36 * HOUR_MS);
    expect(await isDue()).toBe(true);
    t.panel.faults.set({});
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(await isDue()).toBe(false);
  });
});
