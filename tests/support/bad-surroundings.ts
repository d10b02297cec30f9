/** The built service as a process whose partners are fakes of this process, each behind a server that can misbehave, on a changed machine. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createRequester, type Requester } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { publishFakes } from '../../packages/measures/src/drills/fake-host.ts';
import { memoryStore } from '../../packages/sandbox/src/host-ports.ts';
import { type MessengerSandbox, startMessengerSandbox } from '../../packages/sandbox/src/messenger/messenger-sandbox.ts';
import { type SandboxPanel, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import { type PaymentSandbox, startPaymentSandbox } from '../../packages/sandbox/src/payments/payment-sandbox.ts';
import { SANDBOX_BOT_USERNAME, type SandboxSecrets } from '../../src/composition/sandbox-store.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createHttpClient } from '../../src/core/http/outbound.ts';
import { type SmtpServer, startSmtpServer } from '../unit/mail/smtp-server.ts';
import { type BadPartner, badPartner } from './bad-partner.ts';
import { type ChangedMachine, changedMachine } from './changed-machine.ts';
import { freshDatabase } from './test-database.ts';

const SECRETS: SandboxSecrets = {
  panelApiKey: 'panel-key-of-this-test',
  botToken: '1000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  webhookSecret: 'webhook-secret-of-this-test',
  paymentSecret: 'payment-secret-of-this-test',
};

/** The messenger of the real world has a fixed address, so its fake is found by the sandbox and has no name. */
export const NAMES = { panel: 'panel.invalid', payments: 'payments.invalid', mail: 'mail.invalid', database: 'database.invalid' };
export const PARTNER_NAMES = [NAMES.panel, NAMES.payments, NAMES.mail];

export interface Surroundings {
  service: ServiceProcess;
  sql: pg.Pool;
  machine: ChangedMachine;
  panel: SandboxPanel;
  payments: PaymentSandbox;
  messenger: MessengerSandbox;
  mail: SmtpServer;
  partners: Record<'panel' | 'payments' | 'messenger' | 'mail', BadPartner>;
  /** Of the Web API. */
  operator: Requester;
  /** A user of the messenger with money, signed in. */
  aCustomer(kopeks?: number): Promise<Customer>;
  close(): Promise<void>;
}

export interface Customer {
  messengerId: number;
  userId: number;
  me: Requester;
  /** Identity data of the mini-app. */
  initData: string;
}

/** Needs a PostgreSQL server. @param environment of the service, besides partners and database */
export async function startSurrounded(environment: Record<string, string> = {}): Promise<Surroundings> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const machine = await changedMachine(...Object.values(NAMES));
    ends.push(machine.remove);
    const database = await freshDatabase({ poolSize: 2 });
    ends.push(database.drop);
    await database.close();
    const sql = new pg.Pool({ connectionString: database.url!, max: 2, application_name: 'test-admin' });
    // A test ends the sessions of the service by ending all.
    sql.on('error', () => undefined);
    ends.push(() => sql.end());
    const store = memoryStore();
    let serviceUrl = 'http://service.invalid';
    const now = () => new Date();
    const http = createHttpClient({ system: 'sandbox', retries: 0, breakerThreshold: 0 });
    const [panel, payments, messenger, mail] = await Promise.all([
      startSandboxPanel({ state: store, clock: systemClock, apiKey: SECRETS.panelApiKey }),
      startPaymentSandbox({ store, http, secret: SECRETS.paymentSecret, now, serviceUrl: () => serviceUrl }),
      startMessengerSandbox({ store, http, botToken: SECRETS.botToken, botUsername: SANDBOX_BOT_USERNAME, now }),
      startSmtpServer(),
    ]);
    ends.push(panel.close, payments.close, messenger.close, mail.close);
    const partners = {
      panel: await badPartner(portOf(panel.url)),
      payments: await badPartner(portOf(payments.server.url)),
      messenger: await badPartner(portOf(messenger.server.url)),
      mail: await badPartner(mail.port, 'smtp'),
    };
    for (const partner of Object.values(partners)) ends.push(partner.close);
    await sql.query("INSERT INTO service_state (key, value) VALUES ('sandbox:secrets', $1)", [SECRETS]);
    await publishFakes((text) => sql.query(text), {
      instance: 'test',
      panelUrl: panel.url,
      paymentsUrl: payments.server.url,
      receiptsUrl: '',
      messengerUrl: `http://127.0.0.1:${partners.messenger.port}`,
      mailUrl: '',
      banSystemUrl: '',
      serviceUrl: '',
    });
    const service = await startServiceProcess({
      environment: {
        ...machine.environment,
        DATABASE_URL: databaseByName(database.url!),
        DATABASE_POOL_SIZE: '6',
        SANDBOX: 'on',
        VPNPANEL_API_URL: `http://${NAMES.panel}:${partners.panel.port}`,
        VPNPANEL_API_KEY: SECRETS.panelApiKey,
        CRYPTOBOT_ENABLED: 'true',
        CRYPTOBOT_API_TOKEN: SECRETS.paymentSecret,
        CRYPTOBOT_BASE_URL: `http://${NAMES.payments}:${partners.payments.port}/cryptobot`,
        SMTP_HOST: NAMES.mail,
        SMTP_PORT: String(partners.mail.port),
        SMTP_USE_TLS: 'false',
        SMTP_FROM_EMAIL: 'service@example.com',
        // A panel that is away would close the cabinet.
        MAINTENANCE_AUTO_ENABLE: 'false',
        LOG_LEVEL: 'warn',
        ...environment,
      },
    });
    ends.push(service.stop);
    serviceUrl = service.url;
    const operator = createRequester(service.url, { 'x-api-key': service.apiToken! });
    let last = 7_300_000_000;
    const aCustomer = async (kopeks = 0): Promise<Customer> => {
      last += 1;
      const messengerId = last;
      const { body } = await expectOk(operator.post('/users', { messenger_id: messengerId, language: 'en' }));
      if (kopeks > 0) await expectOk(operator.post(`/users/${messengerId}/balance`, { amount_kopeks: kopeks }));
      const initData = messenger.initData({ id: messengerId, first_name: 'Customer' });
      const session = await expectOk(createRequester(service.url).post('/cabinet/auth/messenger', { init_data: initData }));
      const me = createRequester(service.url, { authorization: `Bearer ${session.body.access_token}` });
      return { messengerId, userId: body.id, me, initData };
    };
    return { service, sql, machine, panel, payments, messenger, mail, partners, operator, aCustomer, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const portOf = (url: string) => Number(new URL(url).port);

function databaseByName(address: string): string {
  const url = new URL(address);
  url.hostname = NAMES.database;
  return url.href;
}

async function expectOk(sent: ReturnType<Requester['post']>) {
  const reply = await sent;
  if (reply.status !== 200) throw new Error(`${reply.status} in place of 200: ${JSON.stringify(reply.body)}`);
  return reply;
}

/** A header of one operation. */
export const newKey = () => ({ 'idempotency-key': randomUUID() });
