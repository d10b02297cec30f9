/** Everything that measurements on one kind of database need. */
import { closePasswordHasher, hashPassword } from '../../../../src/core/password-hasher.ts';
import { startWorker, type Worker } from './child-process.ts';
import { Cleanup } from './cleanup.ts';
import { CREDENTIAL_ENVIRONMENT, makeToken, signTokens } from './credentials.ts';
import type { LoadOrder, LoadResult } from './load-generator.ts';
import type { DatabaseKind } from './options.ts';
import type { OutsideAnswer, OutsideOrder } from './outside-server.ts';
import { openKept, type ScratchDatabase } from './scratch-database.ts';
import { BENCH_PASSWORD, BENCH_TARIFF, type SeedSize, seedStatements } from './seed-data.ts';
import { type MeasuredService, startService } from './service.ts';

const PANEL_KEY = 'benchmark-panel-key';

/** Databases with test data, before any process that is measured runs on them. */
export interface LabData extends Facts {
  kind: DatabaseKind;
  /** Of the service. */
  environment: Record<string, string>;
  database: ScratchDatabase;
  /** Of the baseline. */
  copy: ScratchDatabase;
  outside: Worker<OutsideOrder, OutsideAnswer>;
  receiverUrl: string;
  close(): Promise<void>;
}

export interface Lab {
  kind: DatabaseKind;
  service: MeasuredService;
  /** Address of the bare baseline. */
  bareUrl: string;
  barePid: number;
  load(order: LoadOrder): Promise<LoadResult>;
  outside: Worker<OutsideOrder, OutsideAnswer>;
  receiverUrl: string;
  /** Headers of a caller of the Web API. */
  operator: Record<string, string>;
  /** Headers of a user of the cabinet. */
  asUser(id: number): Record<string, string>;
  /** Active users, spread over all. */
  userIds: number[];
  /** Their e-mail addresses, in the same order; the password is `BENCH_PASSWORD`. */
  emails: string[];
  adminId: number;
  /** Headers of an administrator who may read users. */
  administrator: Record<string, string>;
  tariffId: number;
  callbackSecret: string;
  database: ScratchDatabase;
  close(): Promise<void>;
}

export interface LabOptions {
  kind: DatabaseKind;
  serverUrl: string | null;
  size: SeedSize;
  /** Of the databases on the server, as `ALTER DATABASE … SET` accepts them. */
  databaseSettings?: Record<string, string>;
  /** A database that stays and is filled once (`openKept`); the baseline, which is not measured then, shares it. */
  keep?: string | null;
  /** Whether the service trusts the client addresses in requests. */
  isBehindProxy?: boolean;
  progress: (text: string) => void;
}

export interface LabProcessOptions {
  /** Connections of service and baseline alike; `POOL_SIZE` unless given. */
  poolSize?: number;
  /** Options of the runtime for the service, e.g. a profiler. */
  nodeOptions?: string[];
}

/** Data and processes together. */
export async function openLab(options: LabOptions & LabProcessOptions): Promise<Lab> {
  const data = await prepareLab(options);
  try {
    const lab = await startLab(data, options);
    const close = async () => {
      await lab.close();
      await data.close();
    };
    return { ...lab, close };
  } catch (error) {
    await data.close();
    throw error;
  }
}

/** Creates the tables by one start of the service, fills them and copies the database for the baseline. */
export async function prepareLab(options: LabOptions): Promise<LabData> {
  const { kind, serverUrl, size, databaseSettings, keep = null, isBehindProxy = false, progress } = options;
  const cleanup = new Cleanup();
  try {
    const opened = await openKept(keep, kind, serverUrl, databaseSettings);
    const database = cleanup.add(opened.database, (scratch) => scratch.drop());
    const outside = cleanup.add(startWorker<OutsideOrder, OutsideAnswer>('outside-server.ts'), (worker) => worker.stop());
    const { panelUrl, receiverUrl } = await outside.ask({ start: { panelKey: PANEL_KEY } });
    const environment = {
      ...database.environment,
      SANDBOX: 'on',
      ...CREDENTIAL_ENVIRONMENT,
      VPNPANEL_API_URL: panelUrl,
      VPNPANEL_API_KEY: PANEL_KEY,
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost',
      // A panel that does not answer would close the cabinet, which is to be measured.
      MAINTENANCE_AUTO_ENABLE: 'false',
      // A purchase is measured without the panel, whose link the answer of a first one otherwise waits for.
      PROVISION_ANSWER_WAIT_MS: '0',
      // All callbacks of the load come from one address.
      PAYMENT_CALLBACKS_PER_MINUTE: '0',
      // Some limits are by address: then the load names many addresses in the header of a proxy.
      ...(isBehindProxy ? { CABINET_TRUSTED_PROXIES: '127.0.0.1' } : {}),
    };
    progress('tables and test data');
    const first = await startService(environment);
    await first.stop();
    const passwordHash = await hashPassword(BENCH_PASSWORD);
    await closePasswordHasher();
    const facts = await database.withSql(async (run) => {
      for (const statement of opened.isNew ? seedStatements(size, passwordHash) : []) await run(statement);
      return readFacts(run);
    });
    const copy = keep === null ? cleanup.add(await database.copy(), (scratch) => scratch.drop()) : database;
    return { ...facts, kind, environment, database, copy, outside, receiverUrl, close: () => cleanup.run() };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** Service, baseline and load generator on the data; `close` ends these processes and leaves the data. */
export async function startLab(data: LabData, { poolSize, nodeOptions }: LabProcessOptions = {}): Promise<Lab> {
  const cleanup = new Cleanup();
  try {
    const baseline = cleanup.add(startWorker<object, { url: string }>('baseline-server.ts'), (worker) => worker.stop());
    const bare = { ...data.copy.bare, ...(poolSize === undefined ? {} : { poolSize }) };
    const { url: bareUrl } = await baseline.ask({ database: bare, callbackSecret: data.callbackSecret });
    const generator = cleanup.add(startGenerator(), (worker) => worker.stop());
    const service = cleanup.add(await startInstance(data, { poolSize, nodeOptions }), (instance) => instance.stop());
    const tokens = await signTokens([...data.userIds, data.adminId]);
    const asUser = (id: number) => ({ authorization: `Bearer ${tokens.get(id)}`, 'content-type': 'application/json' });
    const { kind, outside, receiverUrl, userIds, emails, adminId, tariffId, callbackSecret, database } = data;
    return {
      ...{ kind, outside, receiverUrl, userIds, emails, adminId, tariffId, callbackSecret, database },
      service,
      bareUrl,
      barePid: baseline.pid,
      load: (order) => generator.ask(order),
      operator: { 'x-api-key': await makeToken(service.url, 'benchmark'), 'content-type': 'application/json' },
      asUser,
      administrator: asUser(data.adminId),
      close: () => cleanup.run(),
    };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** One more process of the service on the data; an embedded database serves only one. */
export function startInstance(data: LabData, { poolSize, nodeOptions }: LabProcessOptions = {}): Promise<MeasuredService> {
  const size: Record<string, string> = poolSize === undefined ? {} : { DATABASE_POOL_SIZE: String(poolSize) };
  return startService({ ...data.environment, ...size }, nodeOptions);
}

/** One more process that sends load; each sends one load after the other. */
export function startGenerator(): Worker<LoadOrder, LoadResult> {
  return startWorker<LoadOrder, LoadResult>('load-generator.ts');
}

type Run = (text: string) => Promise<Record<string, unknown>[]>;

/** How many users take part; few enough that their sessions stay cached, many enough that they do not wait for each other. */
const ACTORS = 400;

/** What the test data holds. */
interface Facts {
  userIds: number[];
  emails: string[];
  adminId: number;
  tariffId: number;
  callbackSecret: string;
}

export async function readFacts(run: Run): Promise<Facts> {
  const users = await run(
    `SELECT id, email FROM (SELECT id, email, row_number() OVER (ORDER BY id) AS n, count(*) OVER () AS total FROM users WHERE status = 'active') u
     WHERE n % greatest(1, total / ${ACTORS}) = 0 LIMIT ${ACTORS}`,
  );
  const [tariff] = await run(`SELECT id FROM tariffs WHERE name = '${BENCH_TARIFF}'`);
  const [secrets] = await run(`SELECT value->>'paymentSecret' AS secret FROM service_state WHERE key = 'sandbox:secrets'`);
  const [admin] = await run(
    "SELECT u.user_id AS id FROM user_roles u JOIN admin_roles r ON r.id = u.role_id WHERE r.name = 'Benchmark'",
  );
  return {
    userIds: users.map((row) => Number(row.id)),
    emails: users.map((row) => String(row.email)),
    adminId: Number(admin!.id),
    tariffId: Number(tariff!.id),
    // Only with a sandbox.
    callbackSecret: String(secrets?.secret),
  };
}
