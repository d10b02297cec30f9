import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, MINUTE_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { isPanelError, type VpnPanelPort } from '../../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { reconcileProvisioning } from '../../../src/domain/provisioning/reconcile.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { deliver, PANEL_WEBHOOK_ON, panelBody } from '../../support/panel-events.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';
import { aSubscription, jobsOf, type ProvisioningTest, readRow, withPanel, withPort } from '../../support/provisioning-setup.ts';
import { run } from './panel-sync/setup.ts';

type Generation = 'uuid' | 'number';

async function prepareAccounts(generation: Generation, count: number): Promise<{ t: ProvisioningTest; ids: number[] }> {
  const t = await withPanel({ generation, environment: PANEL_WEBHOOK_ON });
  await t.app.db.sql('DELETE FROM subscriptions RETURNING id');
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
  const ids: number[] = [];
  for (let made = 0; made < count; made++) ids.push((await aSubscription(t.app)).id);
  for (const id of ids) await request(t.app, id);
  for (const id of ids) expect(await pushSubscription(t.app, id)).toBe('synced');
  return { t, ids };
}

const request = (app: App, id: number) => inTransaction(app, (inner) => requestProvisioning(inner, id));

/** What the queue and the reconciler do until every push is done; fails when one is given up. */
async function untilInStep(t: ProvisioningTest): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await reconcileProvisioning(t.app);
    const waiting = await t.app.db.sql<{ id: number; provisionState: string }>(
      "SELECT id, provision_state FROM subscriptions WHERE provision_state <> 'synced' ORDER BY id",
    );
    if (waiting.length === 0) return;
    expect(waiting.filter((row) => row.provisionState === 'failed')).toEqual([]);
    for (const { id } of waiting) await pushSubscription(t.app, id).catch(() => 'retried');
  }
  throw new Error('The pushes do not end');
}

const DIRECTIONS: [Generation, Generation][] = [
  ['uuid', 'number'],
  ['number', 'uuid'],
];

describe.each(DIRECTIONS)('spec 10 V1: a panel of the generation %s is replaced in place by one of %s', (before, after) => {
  it('under load: no push is given up, everybody is linked again with the same link and devices', async () => {
    const { t, ids } = await prepareAccounts(before, 12);
    const rows = await Promise.all(ids.map((id) => readRow(t.app, id)));
    for (const user of t.panel.listUsers()) t.panel.addDevice(user.uuid, `device-of-${user.username}`);
    // Four workers renew eight of the customers; in the middle of that the panel is replaced. The other four have no reason to be pushed.
    let begun = 0;
    const results: unknown[] = [];
    const renew = async () => {
      for (let turn = begun++; turn < 24; turn = begun++) {
        const id = ids[turn % 8]!;
        if (turn === 10) t.panel.replaceBy(after);
        await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int', [
          id,
          addDays(t.clock.now(), 60 + turn),
        ]);
        await request(t.app, id);
        results.push(await pushSubscription(t.app, id).catch((error: unknown) => error));
      }
    };
    await Promise.all([renew(), renew(), renew(), renew()]);
    expect(results).toHaveLength(24);
    for (const result of results) {
      const isRepeated = result === 'busy' || (isPanelError(result) && result.kind === 'unavailable');
      expect(result === 'synced' || isRepeated).toBe(true);
    }
    await untilInStep(t);
    expect(t.panel.listUsers()).toHaveLength(12);
    for (const [index, id] of ids.entries()) {
      const row = await readRow(t.app, id);
      expect(row.vpnpanelUuid).not.toBe(rows[index]!.vpnpanelUuid);
      expect(row).toMatchObject({
        provisionState: 'synced',
        vpnpanelShortUuid: rows[index]!.vpnpanelShortUuid,
        subscriptionUrl: rows[index]!.subscriptionUrl,
      });
      const user = (await t.adapter.findByUuid(row.vpnpanelUuid!))!;
      expect(user).toMatchObject({ status: 'ACTIVE', expireAt: row.endDate });
      expect(await t.adapter.listDevices(user.uuid)).toMatchObject([{ hwid: `device-of-${user.username}` }]);
    }
    // Nobody is linked again and again.
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
    await reconcileProvisioning(t.app);
    expect(await jobsOf(t.app, 'provisioning.push')).toEqual([]);
  });

  it('the reconciler notices it though nothing else calls the panel', async () => {
    const { t, ids } = await prepareAccounts(before, 2);
    const rows = await Promise.all(ids.map((id) => readRow(t.app, id)));
    t.panel.replaceBy(after);
    await untilInStep(t);
    for (const [index, id] of ids.entries()) {
      const row = await readRow(t.app, id);
      expect(row.vpnpanelUuid).not.toBe(rows[index]!.vpnpanelUuid);
      expect(row.subscriptionUrl).toBe(rows[index]!.subscriptionUrl);
    }
  });

  it('the start that the panel reports is enough: the version is read before the next call', async () => {
    const { t, ids } = await prepareAccounts(before, 1);
    t.panel.replaceBy(after);
    const started = panelBody('service.panel_started', t.clock.now(), { panelVersion: after === 'number' ? '3.3.2' : '2.7.4' });
    await deliver(t.app, started);
    const calls = t.panel.calls().length;
    await request(t.app, ids[0]!);
    expect(await pushSubscription(t.app, ids[0]!)).toBe('synced');
    expect(t.panel.calls()[calls]!.path).toBe('/api/system/metadata');
  });

  it('a synchronisation right afterwards takes nobody for absent', async () => {
    const { t, ids } = await prepareAccounts(before, 4);
    t.panel.replaceBy(after);
    await run(t.app, 'from_panel', 'all');
    for (const id of ids) expect(await readRow(t.app, id)).toMatchObject({ status: 'active' });
    await untilInStep(t);
    expect(t.panel.listUsers()).toHaveLength(4);
  });

  it('nor one whom the panel knows by the link alone', async () => {
    const { t, ids } = await prepareAccounts(before, 24);
    t.panel.replaceBy(after);
    const row = await readRow(t.app, ids[0]!);
    const isOdd = (shortUuid: string) => shortUuid === row.vpnpanelShortUuid;
    const adapter: VpnPanelPort = {
      ...t.adapter,
      listUsers: async (page) => {
        const { users, total } = await t.adapter.listUsers(page);
        return { users: users.map((user) => (isOdd(user.shortUuid) ? { ...user, messengerId: null } : user)), total };
      },
      findByMessengerId: async () => null,
    };
    const app = withPort(t.app, adapter);
    expect((await run(app, 'from_panel', 'all')).counts).toMatchObject({ deleted: 0 });
    expect(await readRow(t.app, ids[0]!)).toMatchObject({ status: 'active', subscriptionUrl: row.subscriptionUrl });
  });
});

describe.each(['uuid', 'number'] as const)('spec 10 section 2, to show, generation %s', (generation) => {
  it('a run to the panel leaves users alone that the panel keeps EXPIRED', async () => {
    const { t, ids } = await prepareAccounts(generation, 3);
    t.clock.advance(40 * 24 * 60 * MINUTE_MS);
    t.panel.reviewUsers();
    await t.app.db.sql("UPDATE subscriptions SET status = 'expired' WHERE id = ANY($1::int[])", [ids]);
    expect(t.panel.listUsers().map((user) => user.status)).toEqual(Array(3).fill('EXPIRED'));
    const calls = t.panel.calls().length;
    for (const _ of [1, 2]) expect(await run(t.app, 'to_panel')).toMatchObject({ counts: { checked: 3, updated: 0, errors: 0 } });
    const changes = t.panel.calls().slice(calls);
    expect(changes.filter((call) => call.method !== 'GET')).toEqual([]);
    expect(t.panel.listUsers().map((user) => user.status)).toEqual(Array(3).fill('EXPIRED'));
  });

  it('a key that is refused and corrected at run time: all waiting pushes go in the next round', async () => {
    const { t, ids } = await prepareAccounts(generation, 3);
    let apiKey = 'a-key-that-was-withdrawn';
    const none = { authType: 'api_key', username: null, password: null, caddyToken: null, secretKey: null };
    const connection = () => ({ ...none, baseUrl: t.panel.url, apiKey });
    const app = withPort(t.app, createVpnPanelAdapter({ http: createPlainHttpClient({ retries: 0 }), connection }));
    for (const id of ids) {
      await request(app, id);
      await expect(pushSubscription(app, id)).rejects.toMatchObject({ status: 401 });
    }
    // Refused again and again, none is given up.
    await reconcileProvisioning(app);
    expect((await Promise.all(ids.map((id) => readRow(app, id)))).map((row) => row.provisionState)).toEqual(
      Array(3).fill('pending'),
    );
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
    apiKey = t.panel.apiKey;
    expect(await reconcileProvisioning(app)).toBe(2);
    // The first was pushed to see that the key is good for more than reading.
    expect(await readRow(app, ids[0]!)).toMatchObject({ provisionState: 'synced' });
    expect(await jobsOf(app, 'provisioning.push')).toEqual(ids.slice(1).map((subscriptionId) => ({ data: { subscriptionId } })));
    for (const id of ids.slice(1)) expect(await pushSubscription(app, id)).toBe('synced');
  });

  it('a new empty panel becomes the home of all users', async () => {
    const { t, ids } = await prepareAccounts(generation, 4);
    const before = await Promise.all(ids.map((id) => readRow(t.app, id)));
    for (const row of before) await t.adapter.deleteUser(row.vpnpanelUuid!);
    expect(t.panel.listUsers()).toEqual([]);
    await run(t.app, 'to_panel');
    await untilInStep(t);
    const users = t.panel.listUsers();
    expect(users).toHaveLength(4);
    const after = await Promise.all(ids.map((id) => readRow(t.app, id)));
    expect(after.map((row) => row.vpnpanelUuid).sort()).toEqual(
      (await Promise.all(users.map((user) => t.adapter.findByUsername(user.username)))).map((user) => user!.uuid).sort(),
    );
  });

  it('purchases in the first minute of an outage are in step when it is over', async () => {
    const { t } = await prepareAccounts(generation, 1);
    t.panel.faults.set({ status: 502 });
    const bought: number[] = [];
    for (let count = 0; count < 5; count++) {
      const { id } = await aSubscription(t.app);
      bought.push(id);
      await request(t.app, id);
      await expect(pushSubscription(t.app, id)).rejects.toMatchObject({ kind: 'unavailable' });
    }
    t.panel.faults.set({});
    await untilInStep(t);
    for (const id of bought) expect(await readRow(t.app, id)).toMatchObject({ subscriptionUrl: expect.stringMatching(/^http/) });
  });
});
