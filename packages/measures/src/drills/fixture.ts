/** What drills run on: a scratch database with users, instances of the service, and the outside systems they need. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxSecrets } from '../../../../src/composition/sandbox-store.ts';
import type { PaymentSandbox } from '../../../sandbox/src/payments/payment-sandbox.ts';
import { startWorker } from '../bench/child-process.ts';
import { CREDENTIAL_ENVIRONMENT, makeToken, signTokens } from '../bench/credentials.ts';
import type { OutsideAnswer, OutsideOrder } from '../bench/outside-server.ts';
import { createScratch, type ScratchDatabase } from '../bench/scratch-database.ts';
import { BENCH_TARIFF, seedStatements } from '../bench/seed-data.ts';
import { undoAtEnd } from './cleanup.ts';
import { startFakeHost } from './fake-host.ts';
import { createInstance, type Instance } from './instance.ts';

const PANEL_KEY = 'drill-panel-key';
const PAYMENT_KOPEKS = 50_000;

/** A payment at the fake provider that is paid already; its callback has not come. */
interface PreparedPayment {
  externalId: string;
  userId: number;
  amountKopeks: number;
}

export interface Fixture {
  database: ScratchDatabase;
  instances: readonly Instance[];
  /** Folder of the instances' logs. */
  logFolder: string;
  /** What the instances were started with. */
  environment: Readonly<Record<string, string>>;
  /** Credential of a caller of the Web API. */
  apiToken: string;
  /** Active users, in the order of their ids. */
  userIds: readonly number[];
  /** Access token of a user of the cabinet. */
  tokenOf(userId: number): string;
  tariffId: number;
  priceKopeks: number;
  callbackSecret: string;
  payments: readonly PreparedPayment[];
  /** The fake provider, in this process. */
  provider: PaymentSandbox;
  /** Ends the instances and drops the database. */
  close(): Promise<void>;
}

export interface FixtureOptions {
  serverUrl: string;
  instances: number;
  users: number;
  payments: number;
  poolSize: number;
  /** Names the folder of the logs. */
  drill: string;
  environment?: Record<string, string>;
  /** Gets the address of the database, and returns the environment by which the instances reach it. */
  through?: (url: string) => Record<string, string> | Promise<Record<string, string>>;
}

type Run = (text: string) => Promise<Record<string, unknown>[]>;

export async function openFixture(options: FixtureOptions): Promise<Fixture> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = undoAtEnd(async () => {
    for (const end of ends.reverse()) await end().catch((error: unknown) => console.error(String(error)));
  });
  try {
    const logFolder = join(
      import.meta.dirname,
      '..',
      '..',
      '..',
      '..',
      '.tmp',
      'drills',
      `${options.drill}-${timeName(new Date())}`,
    );
    await mkdir(logFolder, { recursive: true });
    const database = await createScratch('postgres', options.serverUrl);
    ends.push(() => database.drop());
    const outside = startWorker<OutsideOrder, OutsideAnswer>('outside-server.ts');
    ends.push(() => outside.stop());
    const { panelUrl } = await outside.ask({ start: { panelKey: PANEL_KEY } });
    const environment = {
      ...database.environment,
      ...(await options.through?.(database.environment.DATABASE_URL!)),
      DATABASE_POOL_SIZE: String(options.poolSize),
      SANDBOX: 'on',
      ...CREDENTIAL_ENVIRONMENT,
      VPNPANEL_API_URL: panelUrl,
      VPNPANEL_API_KEY: PANEL_KEY,
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost',
      // A panel that does not answer in time on a busy machine would close the cabinet.
      MAINTENANCE_AUTO_ENABLE: 'false',
      ...options.environment,
    };
    const names = Array.from({ length: options.instances }, (_, index) => `instance-${index + 1}`);
    const instances = await Promise.all(names.map((name) => createInstance(name, environment, logFolder)));
    ends.push(async () => {
      await Promise.all(instances.map((instance) => instance.stop()));
      for (const instance of instances) instance.close();
    });
    // The first start makes the tables; the data is written while nothing runs on them.
    await instances[0]!.start();
    await instances[0]!.stop();
    const { fakes, ...facts } = await database.withSql(async (run) => {
      for (const statement of seedStatements({ users: options.users, transactions: options.users, withLedger: true }, 'x'))
        await run(statement);
      const { secrets, ...read } = await readFacts(run);
      const { payments, invoices } = await preparePayments(run, read.userIds, options.payments);
      const fakes = await startFakeHost(run, { secrets, invoices, panelUrl });
      // The time without an instance was no outage: on a slow machine the providers would be asked about it, and all payments be credited
      // before the load begins.
      await run(`DELETE FROM service_state WHERE key = 'payments:alive'`);
      return { ...read, fakes, payments, callbackSecret: secrets.paymentSecret };
    });
    ends.push(() => fakes.close());
    for (const instance of instances) await instance.start();
    const tokens = await signTokens(facts.userIds);
    const apiToken = await makeToken(instances[0]!.url, 'drill');
    const { payments: provider } = fakes;
    const tokenOf = (userId: number) => tokens.get(userId)!;
    return { ...facts, provider, database, instances, logFolder, environment, apiToken, tokenOf, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readFacts(run: Run) {
  const users = await run(`SELECT id FROM users WHERE status = 'active' ORDER BY id`);
  const [tariff] = await run(`SELECT id, (period_prices->>'30')::int AS price FROM tariffs WHERE name = '${BENCH_TARIFF}'`);
  const [stored] = await run(`SELECT value FROM service_state WHERE key = 'sandbox:secrets'`);
  return {
    userIds: users.map((row) => Number(row.id)),
    tariffId: Number(tariff!.id),
    priceKopeks: Number(tariff!.price),
    secrets: stored!.value as SandboxSecrets,
  };
}

/** Payments as a top-up leaves them. @returns the same ones, paid, as the fake provider knows them, too */
async function preparePayments(run: Run, userIds: readonly number[], count: number) {
  if (count === 0) return { payments: [], invoices: [] };
  const payments = Array.from({ length: count }, (_, index) => ({
    externalId: `drill-payment-${index}`,
    userId: userIds[index % userIds.length]!,
    amountKopeks: PAYMENT_KOPEKS,
  }));
  const now = new Date().toISOString();
  const invoices = payments.map(({ externalId, amountKopeks }) => ({
    id: externalId,
    wire: 'sandbox',
    orderId: `order-of-${externalId}`,
    status: 'paid',
    amountKopeks,
    currency: 'RUB',
    description: '',
    option: null,
    returnUrl: null,
    metadata: {},
    createdAt: now,
    paidAt: now,
    expiresAt: new Date(Date.now() + 24 * 3_600_000).toISOString(),
  }));
  const values = payments.map(
    ({ externalId, userId, amountKopeks }) =>
      `('sandbox', ${userId}, 'order-of-${externalId}', '${externalId}', ${amountKopeks}, 'pending')`,
  );
  await run(`INSERT INTO payments (method, user_id, order_id, external_id, amount_kopeks, status) VALUES ${values.join(', ')}`);
  return { payments, invoices };
}

/** Creates a webhook of all events of a type. @throws Error when the service refuses it */
export async function subscribeWebhook(fixture: Fixture, eventType: string, url: string): Promise<void> {
  const response = await fetch(`${fixture.instances[0]!.url}/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': fixture.apiToken, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `drill of ${eventType}`, url, event_type: eventType }),
  });
  if (!response.ok) throw new Error(`no webhook: ${response.status} ${await response.text()}`);
}

export function timeName(at: Date): string {
  return at.toISOString().slice(0, 19).replaceAll(':', '-');
}
