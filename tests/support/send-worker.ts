/**
 * A process that works on one mass send until it ends: `node send-worker.ts <database url> <messenger url> <send id>`. Tests kill it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/core/clock.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { createHttpClient } from '../../src/core/http/outbound.ts';
import { createLogger } from '../../src/core/log.ts';
import { sharedMessengerPace } from '../../src/domain/mass-sends/pace.ts';
import { findSend } from '../../src/domain/mass-sends/repo.ts';
import { runSend } from '../../src/domain/mass-sends/run-send.ts';
import { createMessengerPort } from '../../src/integrations/messenger/messenger-port.ts';
import { SendPacer } from '../../src/integrations/messenger/send-pacer.ts';
import { FAST, KINDS } from './broadcast-samples.ts';
import { testApp } from './test-app.ts';
import { migrationsFolder } from './test-database.ts';

/** How long the next worker waits for the end of a killed one. */
const LEASE_MS = 1_500;

const [databaseUrl, messengerUrl, sendId] = process.argv.slice(2) as [string, string, string];
const log = createLogger({ level: 'silent', format: 'json' });
// On a busy machine a process waits long for its first connection.
const limits = { connectMs: 60_000, beginMs: 60_000, transactionMs: 90_000 };
const database = await openPostgres({ url: databaseUrl, poolSize: 6, statementTimeoutMs: 15_000, migrationsFolder, log, limits });
const { app } = await testApp({ environment: FAST, database });
const messenger = createMessengerPort({
  http: createHttpClient({ system: 'messenger', totalTimeoutMs: 15_000, retries: 0 }),
  connection: () => ({ baseUrl: messengerUrl, token: String(process.pid), webhookSecret: null }),
  pacer: new SendPacer({ shared: sharedMessengerPace(app.db, app.env), perSecond: () => app.env.messengerSendsPerSecond }),
});
const working = { ...app, clock: systemClock, ports: { ...app.ports, messenger } };
for (;;) {
  await runSend(working, KINDS, Number(sendId), { signal: new AbortController().signal, leaseMs: LEASE_MS });
  if ((await findSend(app.db, Number(sendId)))?.finishedAt) break;
  await delay(100);
}
process.exit(0);
