/** What the drill of kill points runs on: a database of its own, one process that is killed, and fakes that survive it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { assembleService } from '../../../../../src/composition/assemble-service.ts';
import { SANDBOX_HOST_KEY } from '../../../../../src/composition/sandbox-store.ts';
import type { App } from '../../../../../src/core/app.ts';
import { MINUTE_MS } from '../../../../../src/core/clock.ts';
import { loadEnv } from '../../../../../src/core/env.ts';
import { JobLeases } from '../../../../../src/core/jobs/job-runner.ts';
import type { JobTypes } from '../../../../../src/core/jobs/job-sender.ts';
import { createLogger } from '../../../../../src/core/log.ts';
import { createMetrics } from '../../../../../src/core/metrics.ts';
import { createRedactor } from '../../../../../src/core/redaction.ts';
import { memoryStore } from '../../../../sandbox/src/host-ports.ts';
import { type SandboxPanel, startSandboxPanel } from '../../../../sandbox/src/panel/sandbox-panel.ts';
import { CREDENTIAL_ENVIRONMENT, makeToken } from '../../bench/credentials.ts';
import { createScratch } from '../../bench/scratch-database.ts';
import { undoAtEnd } from '../cleanup.ts';
import { type FakeHost, startFakeHost } from '../fake-host.ts';
import { makeTariffs, type Tariffs } from '../money/people.ts';
import { untilQuiet } from '../money/service-fixture.ts';
import { isIdle, readUnfinished, SCHEDULED } from '../money/unfinished.ts';
import { createRequester, type Requester } from '../requester.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import { type CallbackBox, createCallbackBox } from './callback-box.ts';
import { createKillableService, type KillableService } from './killable-service.ts';

export interface KillFixture {
  /** Of this process: the commands of an operator, and service time. It serves no requests and runs no jobs. */
  app: App;
  service: KillableService;
  fakes: FakeHost;
  panel: SandboxPanel;
  callbacks: CallbackBox;
  webhooks: WebhookReceiver;
  requester: Requester;
  tariffs: Tariffs;
  apiToken: string;
  /** Waits until nothing waits for the service any more, or until its process has ended. @returns what is left, as texts */
  settle(): Promise<string[]>;
  /** Starts the process that was killed again, as if the leases of the former one had ended. */
  recover(): Promise<void>;
  skipTime(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Of these one webhook each. */
const HOOKED_TYPES = ['transaction.created', 'payment.completed'];
const ANSWER_LIMIT_MS = 60_000;
const SETTLE_LIMIT_MS = 180_000;
const POLL_MS = 50;
/** Below every lease of service time. */
const STEP_MS = 9 * MINUTE_MS;

const SETTINGS = {
  SANDBOX: 'on',
  SANDBOX_PROVIDERS: 'yookassa,platega',
  ...CREDENTIAL_ENVIRONMENT,
  DATABASE_POOL_SIZE: '5',
  // Fakes that are slow on a busy machine would close the cabinet.
  MAINTENANCE_AUTO_ENABLE: 'false',
  DEFAULT_LANGUAGE: 'en',
  TRUSTED_PROXIES: '127.0.0.1',
  AUTO_PURCHASE_AFTER_TOPUP_ENABLED: 'true',
  MESSENGER_SENDS_PER_SECOND: '1000',
  // The answers need not wait for the panel.
  PROVISION_ANSWER_WAIT_MS: '0',
};

/** @param name of the folder of its logs */
export async function openKillFixture(serverUrl: string, name: string): Promise<KillFixture> {
  const ends: (() => unknown)[] = [];
  const close = undoAtEnd(async () => {
    for (const end of ends.reverse()) await Promise.resolve(end()).catch((error: unknown) => console.error(String(error)));
  });
  try {
    const folder = join(import.meta.dirname, '..', '..', '..', '..', '..', '.tmp', 'drills', name);
    await mkdir(folder, { recursive: true });
    const scratch = await createScratch('postgres', serverUrl);
    ends.push(() => scratch.drop());
    const webhooks = await startWebhookReceiver();
    ends.push(() => webhooks.close());
    const address = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_ROOT: folder };
    const environment = { ...scratch.environment, ...SETTINGS, ...address };
    const log = createLogger({ level: 'silent', format: 'json' });
    const base = { env: loadEnv(environment), log, metrics: createMetrics(), redactor: createRedactor() };
    const { service: assembled, sandbox } = await assembleService({ ...base, isReady: () => true });
    ends.push(async () => {
      await sandbox?.close();
      await assembled.runner.stop(0);
      await assembled.close();
    });
    const { app, database } = assembled;
    const requester = createRequester({ connections: 8, limitMs: ANSWER_LIMIT_MS });
    const callbacks = createCallbackBox(requester);
    const panel = await startSandboxPanel({ state: memoryStore(), clock: app.clock, apiKey: sandbox!.secrets.panelApiKey });
    const now = () => app.clock.now();
    const secrets = sandbox!.secrets;
    const fakes = await startFakeHost((text) => app.db.sql(text), { secrets, invoices: [], panelUrl: panel.url, callbacks, now });
    ends.push(async () => {
      callbacks.close();
      requester.close();
      await Promise.all([fakes.close(), panel.close()]);
    });
    const service = await createKillableService(environment, folder);
    ends.push(() => service.stop());
    await service.start();
    const apiToken = await makeToken(service.url, 'drill');
    for (const type of HOOKED_TYPES) await subscribe(service.url, apiToken, type, webhooks.url);
    const tariffs = await makeTariffs(app);

    // No lease of a job lasts: what the process that was killed had in hand is released at once.
    const released = new JobLeases(database.side.sql, log, { beatMs: 0, leaseMs: 0, settleMs: 0 });
    const recover = async (): Promise<void> => {
      await untilQuiet(database);
      for (const statement of LEASE_ENDS) await database.jobDatabase.executeSql(statement, []);
      await released.beat();
      await service.start();
    };
    const skipTime = (ms: number) => sandbox!.clock.advance(ms);
    const settle = () => untilSettled({ app, service, callbacks, skipTime });
    return {
      ...{ app, service, fakes, panel, callbacks, webhooks, requester, tariffs, apiToken },
      ...{ settle, recover, skipTime, close },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Leases beside those of jobs. */
const LEASE_ENDS = [
  `UPDATE service_state SET updated_at = now() - interval '1 day' WHERE value ? 'instance' AND key <> '${SANDBOX_HOST_KEY}'`,
  'UPDATE subscriptions SET provision_lease_until = NULL WHERE provision_lease_until IS NOT NULL',
  'UPDATE webhook_deliveries SET claimed_until = now() WHERE claimed_until > now()',
  'UPDATE mass_sends SET leased_until = now() WHERE leased_until > now()',
];

/** Whenever nothing is being done although something waits, the scheduled jobs are sent, and then service time is moved. */
async function untilSettled({
  app,
  service,
  callbacks,
  skipTime,
}: Pick<KillFixture, 'app' | 'service' | 'callbacks' | 'skipTime'>): Promise<string[]> {
  const until = performance.now() + SETTLE_LIMIT_MS;
  let isSent = false;
  for (;;) {
    if (!callbacks.isEmpty()) await callbacks.post(service.url);
    const open = [...(await readUnfinished(app.db))].flatMap(([name, list]) => list.map((detail) => `${name}: ${detail}`));
    if (!service.isRunning() || (open.length === 0 && callbacks.isEmpty())) return [];
    if (performance.now() > until) return open;
    if (await isIdle(app.db)) {
      if (isSent) await skipTime(STEP_MS);
      for (const name of SCHEDULED) await app.jobs.send(name as keyof JobTypes, {} as never, { singletonKey: name });
      isSent = !isSent;
    }
    await wait(POLL_MS);
  }
}

async function subscribe(serviceUrl: string, apiToken: string, eventType: string, url: string): Promise<void> {
  const response = await fetch(`${serviceUrl}/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': apiToken, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `drill of ${eventType}`, url, event_type: eventType }),
  });
  if (!response.ok) throw new Error(`no webhook of ${eventType}: ${response.status} ${await response.text()}`);
}
