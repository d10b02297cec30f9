import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { removeAbandonedPanelUser } from '../../../src/domain/merge/remove-abandoned-panel-user.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { unique } from '../../support/builders.ts';
import { aPair, merge, type Pair, setUser, userRow } from '../../support/merge-samples.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const messengerOf = async (id: number) => (await userRow(t.app, id)).messengerId!;

describe('subscriptions and the panel', () => {
  const panelUser = async (messengerId: number | null) => {
    const made = await t.ports.panel.createUser({
      username: `merge_${unique()}`,
      status: 'ACTIVE',
      expireAt: new Date(t.clock.now().getTime() + 5 * 86_400_000),
      trafficLimitBytes: 0,
      ...(messengerId === null ? {} : { messengerId }),
    });
    return made.uuid;
  };

  async function bothSubscribed(): Promise<Pair & { subscriptions: [number, number]; uuids: [string, string] }> {
    const pair = await aPair(t.app);
    const uuids: [string, string] = [
      await panelUser(await messengerOf(pair.primaryId)),
      await panelUser(await messengerOf(pair.secondaryId)),
    ];
    await setUser(t.app, pair.primaryId, { vpnpanel_uuid: uuids[0] });
    await setUser(t.app, pair.secondaryId, { vpnpanel_uuid: uuids[1] });
    const subscriptions: [number, number] = [
      await aStoredSubscription(t.app, pair.primaryId),
      await aStoredSubscription(t.app, pair.secondaryId),
    ];
    return { ...pair, subscriptions, uuids };
  }

  test("the secondary's subscription is kept with its row and panel user under the new names, and the other panel user is removed after commit", async () => {
    const pair = await bothSubscribed();
    await merge(t.app, pair, pair.secondaryId);
    const found = await t.app.db.sql('SELECT id FROM subscriptions WHERE user_id IN ($1::int, $2::int)', [
      pair.primaryId,
      pair.secondaryId,
    ]);
    expect(found).toEqual([{ id: pair.subscriptions[1] }]);
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ vpnpanelUuid: pair.uuids[1] });
    expect(await t.ports.panel.findByUuid(pair.uuids[0])).toMatchObject({ status: 'ACTIVE' });
    const job = await rowOf<{ data: { mergeId: number } }>(
      t.app,
      `SELECT data FROM jobs.job WHERE name = 'merge.panel'
         AND (data->>'mergeId')::int = (SELECT id FROM account_merges WHERE secondary_user_id = $1::int)`,
      [pair.secondaryId],
    );
    await removeAbandonedPanelUser(t.app, job.data);
    const removed = await t.ports.panel.findByUuid(pair.uuids[0]);
    expect(removed === null || removed.status === 'DISABLED').toBe(true);
    // Both had a messenger id: the kept panel user carries the lost one until this push.
    expect(await pushSubscription(t.app, pair.subscriptions[1])).toBe('synced');
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ vpnpanelUuid: pair.uuids[1] });
    expect(await t.ports.panel.findByUuid(pair.uuids[1])).toMatchObject({ messengerId: await messengerOf(pair.primaryId) });
    const record = await rowOf(
      t.app,
      'SELECT panel_state, retained_subscription_of FROM account_merges WHERE secondary_user_id = $1::int',
      [pair.secondaryId],
    );
    expect(record).toEqual({ panelState: 'done', retainedSubscriptionOf: pair.secondaryId });
  });

  test("the primary's subscription is kept: the secondary loses its row, its panel user is removed by the job", async () => {
    const pair = await bothSubscribed();
    await merge(t.app, pair);
    const found = await t.app.db.sql('SELECT id FROM subscriptions WHERE user_id IN ($1::int, $2::int)', [
      pair.primaryId,
      pair.secondaryId,
    ]);
    expect(found).toEqual([{ id: pair.subscriptions[0] }]);
    const record = await rowOf(
      t.app,
      'SELECT panel_state, abandoned_panel_uuid FROM account_merges WHERE secondary_user_id = $1::int',
      [pair.secondaryId],
    );
    expect(record).toEqual({ panelState: 'pending', abandonedPanelUuid: pair.uuids[1] });
  });

  test('exactly one subscription remains for any choice, and a push of it is requested', async () => {
    const pair = await aPair(t.app);
    await setUser(t.app, pair.secondaryId, { vpnpanel_uuid: randomUUID() });
    const id = await aStoredSubscription(t.app, pair.secondaryId, { provision_state: 'synced' });
    await merge(t.app, pair, pair.primaryId);
    const row = await rowOf(t.app, 'SELECT user_id, provision_state FROM subscriptions WHERE id = $1::int', [id]);
    expect(row).toEqual({ userId: pair.primaryId, provisionState: 'pending' });
  });

  test('a push that was under way during the merge serves the new owner, with the panel user that it made', async () => {
    const email = `push${unique()}@example.com`;
    const pair = await aPair(t.app, {
      secondary: { messenger_id: null, google_id: `g${unique()}`, email, email_verified: true },
    });
    const id = await aStoredSubscription(t.app, pair.secondaryId);
    const made: string[] = [];
    const slow: App = {
      ...t.app,
      ports: {
        ...t.ports,
        panel: {
          ...t.ports.panel,
          createUser: async (draft) => {
            const user = await t.ports.panel.createUser(draft);
            made.push(user.uuid);
            if (made.length === 1) await merge(t.app, pair, pair.secondaryId);
            return user;
          },
        },
      },
    };
    expect(await pushSubscription(slow, id)).toBe('synced');
    expect(made).toHaveLength(1);
    const owner = await userRow(t.app, pair.primaryId);
    expect(owner).toMatchObject({ email, vpnpanelUuid: made[0] });
    expect((await userRow(t.app, pair.secondaryId)).vpnpanelUuid).toBeNull();
    expect(await t.ports.panel.findByUuid(made[0]!)).toMatchObject({ messengerId: owner.messengerId, email });
  });
});
