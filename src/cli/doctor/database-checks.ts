import { migrationsFolder } from '../../composition/package-root.ts';
import { findStaleTopics } from '../../core/db/apply-topics.ts';
import type { Database } from '../../core/db/database.ts';
import { compareMigrations } from '../../core/db/migrate.ts';
import { readSchemaFiles } from '../../core/db/schema-files.ts';
import type { Env } from '../../core/env.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const SKEW_LIMIT_MS = 2_000;

/** Facts of the server itself: version, clock, connections. */
export async function checkServer(database: Database, env: Env, where: string): Promise<Finding[]> {
  const askedAt = Date.now();
  const [facts] = await database.db.sql<{ version: string; now: Date; max: number; reserved: number; used: number }>(
    `SELECT current_setting('server_version') AS version, clock_timestamp() AS now, current_setting('max_connections')::int AS max,
       current_setting('superuser_reserved_connections')::int AS reserved, (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL)::int AS used`,
  );
  const answeredAt = Date.now();
  const findings = [ok('database', `${where}, PostgreSQL ${facts!.version}, answered in ${answeredAt - askedAt} ms`)];
  if (database.kind === 'embedded') {
    if (env.isProduction) {
      findings.push(
        warning(
          'database kind',
          'the embedded database in production: one process, no replicas',
          'npm run cli -- db move postgresql://… moves it to a server.',
        ),
      );
    }
    return findings;
  }
  const skew = Math.round(Math.abs(facts!.now.getTime() - (askedAt + answeredAt) / 2));
  const allowed = SKEW_LIMIT_MS + (answeredAt - askedAt);
  findings.push(
    skew > allowed
      ? problem(
          'clocks',
          `this machine and the database are ${(skew / 1000).toFixed(1)} s apart`,
          'Switch on time synchronisation (NTP) on both; tokens and periods end at the wrong moment otherwise.',
        )
      : ok('clocks', `${skew} ms apart`),
  );
  // The pool, and one connection that listens.
  const needed = env.databasePoolSize + 1;
  const free = facts!.max - facts!.reserved - facts!.used;
  const detail = `an instance needs up to ${needed}; the server allows ${facts!.max - facts!.reserved}, ${Math.max(0, free)} of them free now`;
  findings.push(
    needed > free
      ? warning(
          'connections',
          detail,
          'If more instances are to start: lower DATABASE_POOL_SIZE, or raise max_connections of the server.',
        )
      : ok('connections', detail),
  );
  const archive = await readArchive(database);
  if (archive !== null) findings.push(checkArchive(archive));
  return findings;
}

/** Successes and failures of the server's `archive_command`; null = there was none yet. */
export interface ArchiveFacts {
  archivedAt: Date | null;
  failedAt: Date | null;
  failures: number;
}

/** @returns null where no WAL is archived */
async function readArchive(database: Database): Promise<ArchiveFacts | null> {
  const [row] = await database.db.sql<ArchiveFacts & { isArchiving: boolean }>(
    `SELECT current_setting('archive_mode') <> 'off' AS is_archiving, last_archived_time AS archived_at, last_failed_time AS failed_at,
       failed_count AS failures FROM pg_stat_archiver`,
  );
  return row?.isArchiving ? row : null;
}

/** Whether the archive that point-in-time recovery needs is complete (docs/point-in-time-recovery.md). */
export function checkArchive({ archivedAt, failedAt, failures }: ArchiveFacts): Finding {
  const check = 'WAL archive';
  const last = archivedAt === null ? 'nothing was archived yet' : `the last segment was archived at ${archivedAt.toISOString()}`;
  if (failedAt === null || (archivedAt !== null && archivedAt >= failedAt)) return ok(check, last);
  return warning(
    check,
    `archive_command failed at ${failedAt.toISOString()} (${failures} failures); ${last}`,
    'Look at the log of the database server. Segments that are not archived fill its disk, and are lost with it: docs/point-in-time-recovery.md.',
  );
}

/** Whether the schema is that of this release. @returns also whether the further checks can read its tables */
export async function checkMigrations(database: Database): Promise<{ finding: Finding; isCurrent: boolean }> {
  const files = await readSchemaFiles(migrationsFolder);
  const [table] = await database.db.sql<{ found: string | null }>(
    "SELECT to_regclass('public.schema_migrations')::text AS found",
  );
  const applied = table?.found
    ? await database.db.sql<{ name: string; checksum: string }>('SELECT name, checksum FROM schema_migrations ORDER BY name')
    : [];
  const { unknown, changed, pending } = compareMigrations(new Map(applied.map((row) => [row.name, row.checksum])), files);
  const not = (finding: Finding) => ({ finding, isCurrent: false });
  if (unknown.length > 0) {
    return not(
      problem(
        'schema',
        `the database is newer than this release (${unknown.join(', ')})`,
        'Run the newer release again, or restore the backup made before it.',
      ),
    );
  }
  if (changed.length > 0) {
    return not(
      problem(
        'schema',
        `migrations were changed after they had been applied: ${changed.join(', ')}`,
        'Restore the files of the release in prisma/migrations.',
      ),
    );
  }
  if (pending.length > 0) {
    return not(
      warning(
        'schema',
        `${pending.length} of ${files.migrations.length} migrations are not applied`,
        'npm run cli -- migrate (or start the service, which does it).',
      ),
    );
  }
  const stale = await findStaleTopics(database.db.sql, files.topics);
  if (stale.length > 0) {
    return not(
      warning(
        'schema',
        `functions and triggers are not those of this release: ${stale.join(', ')}`,
        'npm run cli -- migrate (or start the service, which does it).',
      ),
    );
  }
  return { finding: ok('schema', `all ${files.migrations.length} migrations are applied`), isCurrent: true };
}
