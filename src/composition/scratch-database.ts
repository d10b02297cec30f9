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
import type { ScratchDatabase } from '../domain/backups/ports.ts';
import { migrationsFolder } from './package-root.ts';

/** `BACKUP_DRILL_DATABASE_URL`, emptied; else a new database beside that of the service; for an embedded one a temporary folder. */
export async function openScratchDatabase(env: Env, log: Logger): Promise<ScratchDatabase> {
  if (env.backups.drillDatabaseUrl !== null) {
    const url = env.backups.drillDatabaseUrl;
    const empty = () =>
      executeOnServer(url, 'DROP SCHEMA IF EXISTS jobs CASCADE', 'DROP SCHEMA IF EXISTS public CASCADE', 'CREATE SCHEMA public');
    await empty();
    return migrated(await openServer(url, log), empty);
  }
  if (env.databaseUrl !== null) {
    const server = env.databaseUrl;
    const name = `backup_drill_${randomBytes(6).toString('hex')}`;
    await executeOnServer(server, `CREATE DATABASE ${name}`);
    const drop = () => executeOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    try {
      const url = new URL(server);
      url.pathname = `/${name}`;
      return await migrated(await openServer(url.href, log), drop);
    } catch (error) {
      await drop();
      throw error;
    }
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'backup-drill-'));
  return migrated(await openEmbedded({ dataDir, migrationsFolder }), () => rm(dataDir, { recursive: true, force: true }));
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
