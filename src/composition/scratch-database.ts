import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../core/db/database.ts';
import { openEmbedded } from '../core/db/open-embedded.ts';
import { openPostgres } from '../core/db/open-postgres.ts';
import { executeOnServer } from '../core/db/server-statement.ts';
import type { Env } from '../core/env.ts';
import type { Logger } from '../core/log.ts';
import { ABANDONED_S, removeAbandoned } from '../domain/backups/abandoned-files.ts';
import type { ScratchDatabase } from '../domain/backups/ports.ts';
import { migrationsFolder } from './package-root.ts';

const PREFIX = 'backup_drill_';
const FOLDER_PREFIX = 'backup-drill-';
const ABANDONED_FOLDERS = new RegExp(`^${FOLDER_PREFIX}`);

/** `BACKUP_DRILL_DATABASE_URL`, emptied; else a new database beside that of the service; for an embedded one a temporary folder. */
export async function openScratchDatabase(env: Env, log: Logger): Promise<ScratchDatabase> {
  if (env.backups.drillDatabaseUrl !== null) {
    const url = env.backups.drillDatabaseUrl;
    const statements = ['DROP SCHEMA IF EXISTS jobs CASCADE', 'DROP SCHEMA IF EXISTS public CASCADE', 'CREATE SCHEMA public'];
    const empty = async () => void (await executeOnServer(url, ...statements));
    await empty();
    return migrated(await openServer(url, log), empty);
  }
  if (env.databaseUrl !== null) {
    const server = env.databaseUrl;
    await dropAbandoned(server);
    const name = `${PREFIX}${Math.floor(Date.now() / 1000)}_${randomBytes(6).toString('hex')}`;
    await executeOnServer(server, `CREATE DATABASE ${name}`);
    const drop = async () => void (await executeOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    try {
      const url = new URL(server);
      url.pathname = `/${name}`;
      return await migrated(await openServer(url.href, log), drop);
    } catch (error) {
      await drop();
      throw error;
    }
  }
  await removeAbandoned(log, tmpdir(), ABANDONED_FOLDERS);
  const dataDir = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  return migrated(await openEmbedded({ dataDir, migrationsFolder }), () => rm(dataDir, { recursive: true, force: true }));
}

/** Databases of this user whose drill's process died: nothing is connected to them. One that is in use cannot be dropped. */
async function dropAbandoned(server: string): Promise<void> {
  const abandoned = await executeOnServer(
    server,
    `SELECT datname AS name FROM pg_database WHERE datdba = (SELECT oid FROM pg_roles WHERE rolname = current_user)
       AND datname ~ '^${PREFIX}[0-9]{10}_[0-9a-f]{12}$' AND split_part(datname, '_', 3)::bigint < extract(epoch FROM now()) - ${ABANDONED_S}`,
  );
  for (const { name } of abandoned) await executeOnServer(server, `DROP DATABASE IF EXISTS ${name}`).catch(() => undefined);
}

function openServer(url: string, log: Logger): Promise<Database> {
  return openPostgres({ url, poolSize: 2, statementTimeoutMs: 0, migrationsFolder, log });
}

async function migrated(database: Database, remove: () => Promise<void>): Promise<ScratchDatabase> {
  const drop = async () => {
    await database.close();
    await remove();
  };
  try {
    await database.migrate();
    return { database, drop };
  } catch (error) {
    await drop();
    throw error;
  }
}
