import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Database } from '../../src/core/db/database.ts';
import { runOutsideTransaction } from '../../src/core/db/root-guard.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { JobRunner } from '../../src/core/jobs/job-runner.ts';
import { sqlJobSender } from '../../src/core/jobs/job-sender.ts';
import { deliverWebhook } from '../../src/domain/webhooks/deliver-webhook.ts';
import { webhookJobs } from '../../src/domain/webhooks/jobs.ts';
import { createWebhook, deleteWebhook, getDelivery, getWebhook } from '../../src/domain/webhooks/manage-webhooks.ts';
import { createWebhookTransport } from '../../src/integrations/webhooks/webhook-transport.ts';
import { eventually } from '../support/eventually.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { lost } from '../support/parallel.ts';
import { inventEvents } from '../support/recorded-events.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { type Receiver, reply, startReceiver } from '../support/webhook-receiver.ts';

const actor = { kind: 'system', name: 'test' } as const;

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('webhook deliveries raced', () => {
  let app: App;
  let database: Database;
  let receiver: Receiver;

  beforeAll(async () => {
    const made = await testApp({ environment: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } });
    const webhooks = createWebhookTransport({ allowedPrivateHosts: ['127.0.0.1'] });
    app = {
      ...made.app,
      clock: systemClock,
      jobs: sqlJobSender(made.database.db.sql, systemClock),
      ports: { ...made.app.ports, webhooks },
    };
    database = made.database;
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    await app.db.sql('DELETE FROM webhooks');
    await app.db.sql('DELETE FROM jobs.job');
    receiver.calls.length = 0;
  });
  afterAll(() => receiver.close());

  async function aWebhook() {
    const request = { name: 'Raced', url: receiver.url, eventType: 'user.created', secret: null, description: null } as const;
    return createWebhook(app, actor, request);
  }

  async function emit(): Promise<number> {
    inventEvents();
    await app.db.sql("SELECT emit_event('user.created', '{}'::jsonb, 'feed', 1, $1::timestamptz) AS id", [app.clock.now()]);
    const [row] = await app.db.sql<{ id: number }>('SELECT max(id) AS id FROM webhook_deliveries');
    return row!.id;
  }

  it('sends one attempt once, with any number of workers on its job', async () => {
    const hook = await aWebhook();
    const id = await emit();
    receiver.calls.length = 0;
    receiver.answer = (response) => void setTimeout(() => response.writeHead(500).end(), 100);
    await Promise.all(Array.from({ length: 12 }, () => deliverWebhook(app, { deliveryId: id })));
    expect(receiver.calls).toHaveLength(1);
    const delivery = await getDelivery(app, id);
    expect(delivery.attempts).toHaveLength(1);
    expect(await getWebhook(app, hook.id)).toMatchObject({ failureCount: 1 });
    receiver.calls.length = 0;
    await Promise.all(Array.from({ length: 12 }, () => deliverWebhook(app, { deliveryId: id, afterAttempt: 1 })));
    expect(receiver.calls).toHaveLength(1);
  });

  it('loses no count when many deliveries of one webhook end together', async () => {
    const hook = await aWebhook();
    const ids: number[] = [];
    for (let index = 0; index < 30; index += 1) ids.push(await emit());
    receiver.answer = reply(200);
    await Promise.all(ids.map((deliveryId) => deliverWebhook(app, { deliveryId })));
    expect(await getWebhook(app, hook.id)).toMatchObject({ successCount: 30, failureCount: 0 });
  });

  it('handles events, results and the deletion of the webhook in parallel', async () => {
    const hook = await aWebhook();
    const ids: number[] = [];
    for (let index = 0; index < 10; index += 1) ids.push(await emit());
    receiver.answer = reply(200);
    const results = await Promise.allSettled([
      ...ids.map((deliveryId) => deliverWebhook(app, { deliveryId })),
      ...Array.from({ length: 10 }, () => emit()),
      deleteWebhook(app, actor, hook.id),
    ]);
    const failures = lost(results).map(String);
    expect(failures).toEqual([]);
    const [left] = await app.db.sql<{ total: number }>('SELECT count(*)::int AS total FROM webhook_deliveries');
    expect(left!.total).toBe(0);
  });

  it('emits an event while its webhook is deleted: the transaction of the event does not fail', async () => {
    const hook = await aWebhook();
    let emitting: Promise<unknown> = Promise.resolve();
    await inTransaction(app, async (t) => {
      await deleteWebhook(t, actor, hook.id);
      emitting = runOutsideTransaction(() =>
        app.db.sql("SELECT emit_event('user.created', '{}'::jsonb, 'feed', 1, now()) AS id").then((rows) => rows.length),
      );
      await someoneWaitsForALock(app, 'SELECT emit_event');
    });
    expect(await emitting).toBe(1);
  });

  it('sends each delivery once, due from its commit on, with the real queue on two instances', async () => {
    const hook = await aWebhook();
    receiver.answer = reply(200);
    const runners = [webhookJobs(), webhookJobs()].map((jobs) => new JobRunner(database, app.log, jobs));
    for (const runner of runners) {
      await runner.install();
      await runner.work(app);
    }
    try {
      for (let count = 1; count <= 5; count += 1) {
        await emit();
        await eventually(() => expect(receiver.calls.length).toBe(count));
      }
      // The queue is read every half second, so that a job without a delay begins within a second.
      const due = "SELECT count(*)::int AS jobs FROM jobs.job WHERE name = 'webhooks.deliver' AND start_after <= created_on";
      expect(await app.db.sql(due)).toEqual([{ jobs: 5 }]);
      for (let index = 0; index < 10; index += 1) await emit();
      await eventually(async () => expect((await getWebhook(app, hook.id)).successCount).toBe(15));
      expect(receiver.calls).toHaveLength(15);
      expect(new Set(receiver.calls.map((call) => call.headers['webhook-id'])).size).toBe(15);
    } finally {
      await Promise.all(runners.map((runner) => runner.stop(2_000)));
    }
  });
});
