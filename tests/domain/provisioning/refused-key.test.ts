import { describe, expect, it } from 'vitest';
import { checkProvisioning } from '../../../src/cli/doctor/content-checks.ts';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { provisioningJobs } from '../../../src/domain/provisioning/jobs.ts';
import { readOutage } from '../../../src/domain/provisioning/panel-access.ts';
import { MAX_PUSH_ATTEMPTS, pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { reconcileProvisioning } from '../../../src/domain/provisioning/reconcile.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { aSubscription, jobsOf, type ProvisioningTest, readRow, unconfigured } from '../../support/provisioning-setup.ts';
import { startEmpty } from './panel-sync/setup.ts';

const CHAT = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: '-100600' };

const wrongKey = (t: ProvisioningTest) => unconfigured(t.app, { baseUrl: t.panel.url, apiKey: 'wrong' });

async function waiting(t: ProvisioningTest, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n++) {
    const { id } = await aSubscription(t.app);
    await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
    ids.push(id);
  }
  return ids;
}

const forgetJobs = (t: ProvisioningTest) => t.app.db.sql("DELETE FROM jobs.job WHERE name = 'provisioning.push'");
const sent = async (t: ProvisioningTest) =>
  (await jobsOf(t.app, 'provisioning.push'))
    .map(({ data }) => (data as { subscriptionId: number }).subscriptionId)
    .sort((a, b) => a - b);

async function noticesOf(t: ProvisioningTest): Promise<number> {
  const texts = (await jobsOf(t.app, 'messenger.send')).map(({ data }) => JSON.stringify(data));
  return texts.filter((text) => text.includes('-100600')).length;
}

describe('08 P12: a refused key', () => {
  it('never fails a subscription, however often it is refused, and is notified once', async () => {
    const t = await startEmpty({ environment: CHAT });
    const [first, second] = await waiting(t, 2);
    for (let count = 0; count < 3 * MAX_PUSH_ATTEMPTS; count++) {
      await expect(pushSubscription(wrongKey(t), first!)).rejects.toMatchObject({ status: 401 });
    }
    await expect(pushSubscription(wrongKey(t), second!)).rejects.toMatchObject({ status: 401 });
    expect(await readRow(t.app, first!)).toMatchObject({
      provisionState: 'pending',
      provisionAttempts: 0,
      provisionError: 'VPN panel refused the credentials',
      provisionLeaseUntil: null,
    });
    expect(await readOutage(t.app)).toBe('refused_key');
    expect(await checkProvisioning(t.database)).toContainEqual(
      expect.objectContaining({ check: 'provisioning', verdict: 'warning', detail: expect.stringContaining('refuses the key') }),
    );
    expect(await noticesOf(t)).toBe(1);
  });

  it('is tried with one push a round, and all waiting pushes go in the round after it was corrected', async () => {
    const t = await startEmpty();
    const ids = await waiting(t, 4);
    await expect(pushSubscription(wrongKey(t), ids[0]!)).rejects.toMatchObject({ status: 401 });
    await t.app.db.sql("UPDATE subscriptions SET provision_state = 'failed', provision_attempts = 20 WHERE id = $1::int", [
      ids[3],
    ]);
    for (let round = 0; round < 3; round++) {
      await forgetJobs(t);
      const before = t.panel.calls().length;
      t.clock.advance(20 * MINUTE_MS);
      expect(await reconcileProvisioning(wrongKey(t))).toBe(0);
      expect(t.panel.calls().length - before).toBe(1);
      expect(await sent(t)).toEqual([]);
    }
    // The settings were corrected: no clock advances.
    await reconcileProvisioning(t.app);
    expect(await sent(t)).toEqual(ids.slice(1));
    expect(await readRow(t.app, ids[0]!)).toMatchObject({ provisionState: 'synced' });
    expect(await readOutage(t.app)).toBeNull();
    for (const id of ids.slice(1)) await pushSubscription(t.app, id);
    expect(t.panel.listUsers()).toHaveLength(4);
  });

  it('that is good for reading alone is not taken for a corrected one', async () => {
    const t = await startEmpty();
    const ids = await waiting(t, 2);
    t.panel.faults.set({ status: 403, method: 'POST' });
    await expect(pushSubscription(t.app, ids[0]!)).rejects.toMatchObject({ status: 403 });
    await forgetJobs(t);
    expect(await reconcileProvisioning(t.app)).toBe(0);
    expect(await sent(t)).toEqual([]);
    expect(await readOutage(t.app)).toBe('refused_key');
  });

  it('a panel that did not answer until pushes were given up is tried in the same way', async () => {
    const t = await startEmpty();
    const ids = await waiting(t, 2);
    const nowhere = unconfigured(t.app, { baseUrl: 'http://127.0.0.1:9', apiKey: 'any' });
    for (let count = 1; count < MAX_PUSH_ATTEMPTS; count++) {
      await expect(pushSubscription(nowhere, ids[0]!)).rejects.toMatchObject({ kind: 'unavailable' });
    }
    expect(await pushSubscription(nowhere, ids[0]!)).toBe('failed');
    expect(await readOutage(t.app)).toBe('unavailable');
    await forgetJobs(t);
    expect(await reconcileProvisioning(nowhere)).toBe(0);
    await reconcileProvisioning(t.app);
    expect(await readRow(t.app, ids[0]!)).toMatchObject({ provisionState: 'synced' });
    expect(await sent(t)).toEqual([ids[1]]);
  });

  it('settings that were missing at the time of a purchase are noticed likewise', async () => {
    const t = await startEmpty();
    const ids = await waiting(t, 2);
    expect(await pushSubscription(unconfigured(t.app), ids[0]!)).toBe('failed');
    await forgetJobs(t);
    expect(await reconcileProvisioning(unconfigured(t.app))).toBe(0);
    await reconcileProvisioning(t.app);
    expect(await readRow(t.app, ids[0]!)).toMatchObject({ provisionState: 'synced' });
    expect(await sent(t)).toEqual([ids[1]]);
  });

  it('ends the job instead of retrying it, since the reconciler sends it, while a panel that is down is retried', async () => {
    const t = await startEmpty();
    const [id] = await waiting(t, 1);
    const jobs = provisioningJobs(async () => undefined);
    const [push, reconcile] = [
      jobs.find((job) => job.name === 'provisioning.push')!,
      jobs.find((job) => job.name === 'provisioning.reconcile')!,
    ];
    const job = { id: 'x', data: { subscriptionId: id! } as never, signal: new AbortController().signal };
    await push.handle(wrongKey(t), job);
    t.panel.faults.set({ status: 503 });
    await expect(push.handle(t.app, job)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(reconcile.every?.(t.app)).toBeLessThanOrEqual(MINUTE_MS / 2);
  });
});
