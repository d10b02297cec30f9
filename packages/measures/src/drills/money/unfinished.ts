/** What still waits to be done by the service, and what it has given up. */
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE_MS } from '../../../../../src/core/clock.ts';
import type { Db } from '../../../../../src/core/db/db.ts';
import type { JobTypes } from '../../../../../src/core/jobs/job-sender.ts';
import { allJobs } from '../../../../../src/jobs/all-jobs.ts';
import type { ServiceFixture } from './service-fixture.ts';

export const SCHEDULED = allJobs()
  .filter(({ every }) => every !== null)
  .map(({ name }) => name);

/** Rows that a job, a worker or another round must still take, by what they are. Scheduled jobs always come again, so they do not count. */
const WAITING: Readonly<Record<string, string>> = {
  jobs: `SELECT name AS detail FROM jobs.job WHERE state IN ('created', 'retry', 'active') AND NOT name = ANY($1::text[])`,
  callbacks: `SELECT id || ' of ' || provider AS detail FROM provider_callbacks WHERE processed_at IS NULL`,
  refunds: `SELECT id || ' of payment ' || payment_id AS detail FROM payment_reversals WHERE status = 'requested'`,
  reversals: `SELECT id || ' of payment ' || payment_id AS detail FROM payment_reversals r WHERE status = 'done' AND notified_at IS NULL
    AND EXISTS (SELECT 1 FROM payments p WHERE p.id = r.payment_id AND p.transaction_id IS NOT NULL)`,
  charges: `SELECT id || ' of subscription ' || subscription_id AS detail FROM recurrent_charges WHERE status = 'open'`,
  attempts: `SELECT id || ' of charge ' || charge_id AS detail FROM recurrent_attempts WHERE status = 'open'`,
  receipts: `SELECT id || ' of payment ' || payment_id || ' (' || state || ')' AS detail FROM receipts
    WHERE state NOT IN ('created', 'cancelled')`,
  gifts: `SELECT id || ' (' || status || ')' AS detail FROM guest_purchases WHERE status = 'pending_activation' OR (status = 'paid' AND user_id IS NOT NULL)`,
  webhooks: `SELECT id || ' of webhook ' || webhook_id AS detail FROM webhook_deliveries WHERE status = 'pending'`,
  sends: `SELECT id || ' (' || state || ')' AS detail FROM mass_sends WHERE state NOT IN ('done', 'cancelled', 'failed')`,
  pushes: `SELECT id || ' (' || provision_state || ')' AS detail FROM subscriptions WHERE provision_state <> 'synced'`,
};

/** @returns texts by what they are, without empty lists */
export async function readUnfinished(db: Db): Promise<Map<string, string[]>> {
  const parts = Object.entries(WAITING).map(([name, query]) => `SELECT '${name}' AS name, detail FROM (${query}) AS waiting`);
  const rows = await db.sql<{ name: string; detail: string }>(parts.join(' UNION ALL '), [SCHEDULED]);
  const found = new Map<string, string[]>();
  for (const { name, detail } of rows) found.set(name, [...(found.get(name) ?? []), detail]);
  return found;
}

/** Jobs that ran out of tries; those with a schedule come again. */
export async function readFailedJobs(db: Db): Promise<string[]> {
  const rows = await db.sql<{ detail: string }>(
    `SELECT name || ' ' || data::text || ': ' || left(coalesce(output::text, ''), 200) AS detail FROM jobs.job
     WHERE state = 'failed' AND NOT name = ANY($1::text[])`,
    [SCHEDULED],
  );
  return rows.map(({ detail }) => detail);
}

/** Below every lease of service time, so that nothing that is under way is taken over. */
const STEP_MS = 9 * MINUTE_MS;
const POLL_MS = 250;

/**
 * Waits until nothing is unfinished, and stops the instances, so that no scheduled job changes anything while the proofs read.
 * @param limitMs how long it waits; what is unfinished afterwards is for the proof
 * @param byHand what an administrator does about work that waits for him
 */
export async function finishAndStop(
  fixture: ServiceFixture,
  { limitMs, progress, byHand }: { limitMs: number; progress: (text: string) => void; byHand: () => Promise<void> },
): Promise<void> {
  const until = performance.now() + limitMs;
  for (;;) {
    await untilFinished(fixture, { until, progress, byHand });
    await fixture.stopAll();
    // One may have begun something since, for example a renewal that has just become due.
    if ((await readUnfinished(fixture.app.db)).size === 0 || performance.now() >= until) return;
    await fixture.startAll();
  }
}

/**
 * Waits until nothing is unfinished. Whenever nothing is being done, the scheduled jobs are sent, as the next round would; when nothing
 * is due then either, service time is moved.
 */
async function untilFinished(
  fixture: ServiceFixture,
  { until, progress, byHand }: { until: number; progress: (text: string) => void; byHand: () => Promise<void> },
): Promise<void> {
  const { app } = fixture;
  let isSent = false;
  for (let round = 0; performance.now() < until; round += 1) {
    const open = await readUnfinished(app.db);
    if (open.size === 0) return;
    if (round % 40 === 39) progress([...open].map(([name, list]) => `${list.length} ${name}`).join(', '));
    if (await isIdle(app.db)) {
      if (isSent) {
        await byHand();
        await fixture.skipTime(STEP_MS);
      }
      for (const name of SCHEDULED) await app.jobs.send(name as keyof JobTypes, {} as never, { singletonKey: name });
      isSent = !isSent;
    }
    await wait(POLL_MS);
  }
}

/** No job runs, and none is due. */
export async function isIdle(db: Db): Promise<boolean> {
  const rows = await db.sql(
    "SELECT 1 AS busy FROM jobs.job WHERE state = 'active' OR (state IN ('created', 'retry') AND start_after <= now()) LIMIT 1",
  );
  return rows.length === 0;
}
