/**
 * A process that carries out an archive or an erasure: `node data-request-worker.ts <database url> <file of mails> archive|erasure <id>`; the id is
 * that of the request, or of the user who is erased. Tests kill it.
 */
import { appendFileSync } from 'node:fs';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { createLogger } from '../../src/core/log.ts';
import { advanceErasure, eraseNow } from '../../src/domain/personal-data/erase-person.ts';
import { writeArchive } from '../../src/domain/personal-data/write-archive.ts';
import { testApp } from './test-app.ts';
import { migrationsFolder } from './test-database.ts';

const [databaseUrl, mails, what, id] = process.argv.slice(2) as [string, string, string, string];
const log = createLogger({ level: 'silent', format: 'json' });
// On a busy machine a process waits long for its first connection.
const limits = { connectMs: 60_000, beginMs: 60_000, transactionMs: 90_000 };
const database = await openPostgres({ url: databaseUrl, poolSize: 3, statementTimeoutMs: 60_000, migrationsFolder, log, limits });
const { app } = await testApp({ database });
const mail = { isConfigured: () => true, send: async ({ to }: { to: string }) => appendFileSync(mails, `${to}\n`) };
const working = { ...app, ports: { ...app.ports, mail: Object.assign(Object.create(app.ports.mail), mail) } };
// Statements are counted from here on.
await app.db.sql('SELECT 1 AS work_begins');
if (what === 'archive') await writeArchive(working, Number(id), false, new AbortController().signal);
else {
  const confirmed = { forfeitsBalance: true, endsSubscription: true };
  const request = await eraseNow(working, { kind: 'system', name: 'command line' }, Number(id), confirmed);
  await advanceErasure(working, request.id);
}
process.exit(0);
