import { beforeAll, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../src/composition/http-server.ts';
import { FaultReporter } from '../../../src/composition/service.ts';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { defineJob } from '../../../src/core/jobs/define-job.ts';
import { JobRunner } from '../../../src/core/jobs/job-runner.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { purgeExpired } from '../../../src/domain/ops/purge.ts';
import { type Fault, notifyStart, reportFault } from '../../../src/domain/ops/report-fault.ts';
import { eventually } from '../../support/eventually.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { takeMessages } from '../../support/ticket-fixture.ts';

const CHAT = -1_003_000_000_771;
const ON = {
  ADMIN_NOTIFICATIONS_ENABLED: 'true',
  ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
  ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID: '31',
  ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID: '32',
  DEFAULT_LANGUAGE: 'en',
};
let t: TestApp;
let app: App;
beforeAll(async () => {
  t = await testApp({ environment: ON });
  ({ app } = t);
});

const faultJobs = async () => {
  const rows = await app.db.sql<{ data: Fault }>("DELETE FROM jobs.job WHERE name = 'ops.report-fault' RETURNING data");
  return rows.map(({ data }) => data);
};

describe('spec 06 section 14, category errors: a fault', () => {
  it('is notified once an hour for each source, in the topic of errors, escaped', async () => {
    const fault = { kind: 'job_failed', source: 'mail.send', detail: '<Error>' } as const;
    await reportFault(app, fault);
    await reportFault(app, fault);
    await reportFault(app, { ...fault, source: 'webhooks.deliver' });
    const [first, second, ...more] = (await takeMessages(app, CHAT)).sort((a, b) => (a.html < b.html ? -1 : 1));
    expect(more).toEqual([]);
    expect(first).toMatchObject({ threadId: 31 });
    expect(first!.html).toContain('<b>mail.send</b>');
    expect(first!.html).toContain('&lt;Error&gt;');
    expect(second!.html).toContain('<b>webhooks.deliver</b>');
    t.clock.advance(HOUR_MS);
    await reportFault(app, fault);
    expect(await takeMessages(app, CHAT)).toHaveLength(1);
  });

  it('leaves its timestamp for a week, and no other value of the installation is deleted with it', async () => {
    const stored = async () => {
      const rows = await app.db.sql<{ key: string }>("SELECT key FROM service_state WHERE key ~ ':purged-|^faulty' ORDER BY key");
      return rows.map(({ key }) => key);
    };
    for (const source of ['purged-old', 'purged-young']) await reportFault(app, { kind: 'refund_stuck', source, detail: 'test' });
    await storeRow(app, 'ServiceState', { key: 'faulty', value: '1' });
    await app.db.sql(
      "UPDATE service_state SET updated_at = $1::timestamptz WHERE key IN ('fault:refund_stuck:purged-old', 'faulty') RETURNING key",
      [new Date(t.clock.now().getTime() - 8 * 24 * HOUR_MS)],
    );
    await purgeExpired(app);
    expect(await stored()).toEqual(['fault:refund_stuck:purged-young', 'faulty']);
    expect(await takeMessages(app, CHAT)).toHaveLength(2);
  });

  it('is not recorded while notices are off, so that it is notified as soon as they are on', async () => {
    const off = (await testApp({ environment: { ...ON, ADMIN_NOTIFICATIONS_ENABLED: 'false' }, clock: t.clock })).app;
    const fault = { kind: 'refund_refused', source: '990001', detail: 'test' } as const;
    await reportFault(off, fault);
    expect(await takeMessages(app, CHAT)).toEqual([]);
    await reportFault(app, fault);
    expect(await takeMessages(app, CHAT)).toHaveLength(1);
  });

  it('of a job that is not tried again is reported with its queue and the class of its error, never the text of the error', async () => {
    const faults = new FaultReporter();
    faults.use(app);
    const job = defineJob({
      name: 'games.poll-press',
      queue: { retryLimit: 1, retryDelaySeconds: 0, concurrency: 1 },
      handle: async () => {
        throw new RangeError('a secret');
      },
    });
    const runner = new JobRunner(t.database, app.log, [job], {
      onLastFailure: (queue, error, id) => faults.report('job_failed', queue, error, id),
    });
    await runner.install();
    await app.db.sql("DELETE FROM jobs.job WHERE name IN ('games.poll-press', 'ops.report-fault')");
    await app.jobs.send('games.poll-press' as 'mail.send', {} as never);
    try {
      await runner.work(app);
      const found: Fault[] = [];
      await eventually(async () => {
        found.push(...(await faultJobs()));
        expect(found).toHaveLength(1);
      });
      expect(found[0]).toMatchObject({ kind: 'job_failed', source: 'games.poll-press' });
      expect(found[0]!.detail).toMatch(/^RangeError, [0-9a-f-]{36}$/);
      const [{ retries }] = (await app.db.sql<{ retries: number }>(
        "SELECT retry_count AS retries FROM jobs.job WHERE name = 'games.poll-press'",
      )) as [{ retries: number }];
      expect(retries).toBe(1);
    } finally {
      await runner.stop(5_000);
    }
  });

  it('of a request is an answer 500 over REST and over tRPC, but not a refusal', async () => {
    const reported: [string, string, string][] = [];
    const broken = { ...app.ports.instance, version: () => assertNever() };
    const { fastify } = await createHttpServer({
      app: { ...app, ports: { ...app.ports, instance: broken } },
      metrics: createMetrics(),
      callbackRoute: () => null,
      reportFailure: (operation, error, requestId) => void reported.push([operation, (error as Error).name, requestId]),
    });
    const request = (url: string) => fastify.inject({ url, headers: { 'x-request-id': 'request-0123456789' } });
    try {
      expect((await request('/users/1')).statusCode).toBe(401);
      expect(reported).toEqual([]);
      expect((await request('/health')).statusCode).toBe(500);
      expect((await request('/trpc/web.health.check')).statusCode).toBe(500);
    } finally {
      await fastify.close();
    }
    expect(reported).toHaveLength(2);
    for (const [operation, name, requestId] of reported) {
      expect(operation).toMatch(/health/);
      expect(name).toBe('TypeError');
      expect(requestId).not.toBe('');
    }
  });

  it('is sent by an instance once a minute for each source, and not at all while the database is unavailable or notices are off', async () => {
    const faults = new FaultReporter();
    await faults.report('request_failed', 'before the start', new Error('x'));
    faults.use(app);
    await faultJobs();
    for (let n = 0; n < 5; n++) await faults.report('request_failed', 'users.list', new TypeError('x'), 'r1');
    await faults.report('request_failed', 'users.get', Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
    expect(await faultJobs()).toEqual([{ kind: 'request_failed', source: 'users.list', detail: 'TypeError, r1' }]);
    const failing = { ...app, jobs: { ...app.jobs, send: () => Promise.reject(new Error('no')) } };
    const lonely = new FaultReporter();
    lonely.use(failing);
    await lonely.report('process_crashed', 'host', new Error('x'));
  });
});

function assertNever(): never {
  throw new TypeError('broken');
}

describe('spec 06 section 15: the start', () => {
  it('is notified in the topic of infrastructure', async () => {
    await takeMessages(app, CHAT);
    await notifyStart(app, 'host-<1>');
    const [notice] = await takeMessages(app, CHAT);
    expect(notice).toMatchObject({ threadId: 32 });
    expect(notice!.html).toContain(app.ports.instance.version());
    expect(notice!.html).toContain('host-&lt;1&gt;');
  });
});
