/**
 * A process that works on a run to the panel until it ends: `node panel-run-worker.ts <database url> <panel url> <key> [run id]`. Without a
 * run it starts one. Tests kill it.
 */
import { systemClock } from '../../src/core/clock.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { createLogger } from '../../src/core/log.ts';
import { continueSync } from '../../src/domain/provisioning/sync/run-sync.ts';
import { beginSync } from '../../src/domain/provisioning/sync/start-sync.ts';
import { createVpnPanelAdapter } from '../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { createPlainHttpClient } from './plain-http-client.ts';
import { withPort } from './provisioning-setup.ts';
import { testApp } from './test-app.ts';
import { migrationsFolder } from './test-database.ts';

const WORK_MS = 600_000;

const [databaseUrl, baseUrl, apiKey, runId] = process.argv.slice(2) as [string, string, string, string?];
const log = createLogger({ level: 'silent', format: 'json' });
// On a busy machine a process waits long for its first connection.
const limits = { connectMs: 60_000, beginMs: 60_000, transactionMs: 90_000 };
const database = await openPostgres({
  url: databaseUrl,
  poolSize: 10,
  statementTimeoutMs: 15_000,
  migrationsFolder,
  log,
  limits,
});
const { app } = await testApp({ database });
const none = { authType: 'api_key', username: null, password: null, caddyToken: null, secretKey: null };
const panel = createVpnPanelAdapter({
  http: createPlainHttpClient({ retries: 0 }),
  connection: () => ({ ...none, baseUrl, apiKey }),
});
const working = { ...withPort(app, panel), clock: systemClock };
if (runId === undefined) await beginSync(working, { kind: 'system', name: 'test' }, { kind: 'to_panel' }, WORK_MS);
else await continueSync(working, Number(runId), { untilMs: performance.now() + WORK_MS });
process.exit(0);
