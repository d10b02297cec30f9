import { describe, expect, test } from 'vitest';
import { addDays, SECOND_MS } from '../../../../src/core/clock.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { pushSubscription } from '../../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../../src/domain/provisioning/request-provisioning.ts';
import { syncFromPanel } from '../../../../src/domain/users/admin/sync/sync-from-panel.ts';
import {
  aSubscription,
  GB,
  type ProvisioningTest,
  readRow,
  withPanel,
  withPort,
} from '../../provisioning/provisioning-setup.ts';
import { anAdmin } from './admin-setup.ts';

/** A subscription that the panel holds as it is; the clock stands a second later. */
async function provisioned(t: ProvisioningTest, fields: Parameters<typeof aSubscription>[1] = {}) {
  const { id, user } = await aSubscription(t.app, fields);
  await push(t, id);
  t.clock.advance(SECOND_MS);
  return { id, user, uuid: (await readRow(t.app, id)).vpnpanel_uuid! };
}

/** A job of the queue: asked for, taken out, done. */
async function push(t: ProvisioningTest, id: number) {
  await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1", [String(id)]);
  await pushSubscription(t.app, id);
}

const setEnd = (t: ProvisioningTest, id: number, end: Date) =>
  t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int RETURNING id', [id, end]);

describe('hazard 7: one user from the panel', () => {
  const everything = { updatesSubscription: true, updatesTraffic: true, createsMissing: false };
  const untouched = { success: true, message: 'No changes', changes: {}, errors: [expect.stringContaining('more recently')] };

  test('a paid renewal that still waits for the panel is not undone', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user } = await provisioned(t);
    const paidEnd = addDays(t.clock.now(), 60);
    await setEnd(t, id, paidEnd);
    await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
    t.clock.advance(3600 * SECOND_MS);
    expect(await syncFromPanel(t.app, admin, user.id, everything)).toMatchObject(untouched);
    expect((await readRow(t.app, id)).end_date).toEqual(paidEnd);
  });

  test('a renewal that was pushed while the panel answered is not undone', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user } = await provisioned(t);
    const paidEnd = addDays(t.clock.now(), 60);
    const slow = withPort(t.app, {
      ...t.adapter,
      findByUuid: async (uuid) => {
        const seen = await t.adapter.findByUuid(uuid);
        t.clock.advance(SECOND_MS);
        await setEnd(t, id, paidEnd);
        await push(t, id);
        return seen;
      },
    });
    expect(await syncFromPanel(slow, admin, user.id, everything)).toMatchObject(untouched);
    expect((await readRow(t.app, id)).end_date).toEqual(paidEnd);
  });

  test('what the panel itself reported while it answered counts as well', async () => {
    const t = await withPanel();
    const admin = await anAdmin(t.app);
    const { id, user, uuid } = await provisioned(t);
    await t.adapter.updateUser({ uuid, trafficLimitBytes: 7 * GB });
    const slow = withPort(t.app, {
      ...t.adapter,
      findByUuid: async (asked) => {
        const seen = await t.adapter.findByUuid(asked);
        t.clock.advance(SECOND_MS);
        await t.app.db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
          id,
          t.clock.now(),
        ]);
        // More than the minute of guard W: the order of the moments decides.
        t.clock.advance(90 * SECOND_MS);
        return seen;
      },
    });
    expect(await syncFromPanel(slow, admin, user.id, everything)).toMatchObject(untouched);
    expect(await readRow(t.app, id)).toMatchObject({ traffic_limit_gb: 100 });
  });
});
