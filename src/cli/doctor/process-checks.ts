import { access, constants, mkdir, readdir, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { migrationsFolder } from '../../composition/package-root.ts';
import type { SettingsReader } from '../../core/app.ts';
import { findStaleTopics } from '../../core/db/apply-topics.ts';
import type { Database } from '../../core/db/database.ts';
import type { Db } from '../../core/db/db.ts';
import { compareMigrations, readSchemaFiles } from '../../core/db/migrate.ts';
import type { Env } from '../../core/env.ts';
import { readDatabaseNumber } from '../../core/events/event-log.ts';
import { COMMAND_LINE } from '../../core/process-env.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** As `engines` of package.json. */
const MIN_NODE: readonly [number, number] = [22, 18];
const GIB = 2 ** 30;
const LOW_DISK_BYTES = GIB;
const FULL_DISK_BYTES = GIB / 10;

export function checkRuntime(version: string, release: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const detail = `Node ${version}, service ${release}`;
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    return problem('runtime', detail, `Install Node ${MIN_NODE.join('.')} or later; 24 is what the service is tested with.`);
  }
  return ok('runtime', detail);
}

/** @param problems lines that begin with the variable's name and contain no values */
export function checkEnvironment(problems: readonly string[], env: Env | null): Finding {
  if (problems.length > 0) {
    return problem(
      'configuration',
      problems.join('\n'),
      'Correct these variables; .env.example explains each. The service does not start before.',
    );
  }
  return ok(
    'configuration',
    `${env!.nodeEnv}; ${Object.keys(env!.raw).filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name)).length} variables read`,
  );
}

/** Whether the folder of the embedded database, uploads and backups is writable. */
export async function checkDataFolder(dataDir: string): Promise<Finding> {
  const folder = resolve(dataDir);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    await readdir(folder);
    return ok('data folder', folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    const next =
      code === 'EROFS'
        ? 'The file system is read-only there: mount a volume and point DATA_DIR at it.'
        : `Give the user of the service the right to write there (chown -R of the folder), or set DATA_DIR to another folder.`;
    return problem('data folder', `${folder} cannot be written (${code})`, next);
  }
}

export async function checkDisk(dataDir: string): Promise<Finding> {
  const facts = await statfs(resolve(dataDir))
    .catch(() => statfs(dirname(resolve(dataDir))))
    .catch(() => null);
  if (!facts) return warning('disk', 'the free space is not known', 'Look at the disk of DATA_DIR by hand.');
  const free = facts.bavail * facts.bsize;
  const detail = `${(free / GIB).toFixed(1)} GiB free`;
  if (free < FULL_DISK_BYTES)
    return problem('disk', detail, 'Free some space now: a full disk stops the database in the middle of its work.');
  if (free < LOW_DISK_BYTES) return warning('disk', detail, 'Free some space soon; backups and the database grow.');
  return ok('disk', detail);
}

const SAMPLE_HOST = /(^|\.)example\.(com|org|net)$/;

/** Public addresses of the service, which users, messenger and providers open. */
export function checkPublicUrls(env: Env, settings: SettingsReader): Finding {
  const faults: string[] = [];
  if (env.isCabinetEnabled) faults.push(...faultOf('CABINET_URL', settings.get('CABINET_URL'), env));
  const hook = settings.get('WEBHOOK_URL');
  if (hook) faults.push(...faultOf('WEBHOOK_URL', hook, env));
  if (faults.length === 0) return ok('public URLs', [settings.get('CABINET_URL'), hook].filter(Boolean).join(', '));
  const next = 'Set the address under which people really reach the cabinet; links in mails and messages are made from it.';
  return env.isProduction ? problem('public URLs', faults.join('\n'), next) : warning('public URLs', faults.join('\n'), next);
}

function faultOf(key: string, text: string, env: Env): string[] {
  if (!URL.canParse(text)) return [`${key} is no URL`];
  const url = new URL(text);
  if (SAMPLE_HOST.test(url.hostname)) return [`${key} is still the sample (${url.host})`];
  if (env.isProduction && url.protocol !== 'https:') return [`${key} is not https (${url.host})`];
  return [];
}

/** @param kinds which kinds of systems are fakes now */
export function checkSandbox(env: Env, kinds: readonly string[]): Finding {
  if (kinds.length === 0) return ok('sandbox', 'off: every system is real');
  const detail = `on: fake ${kinds.join(', ')}`;
  if (env.sandbox === 'on' || kinds.length === 4)
    return ok('sandbox', detail, 'Nothing here reaches a real system. Configure real ones, or SANDBOX=off, to sell.');
  return warning('sandbox', detail, 'Set SANDBOX=off once everything real is configured.');
}

const SKEW_LIMIT_MS = 2_000;

/** Facts of the server itself: version, clock, connections. */
async function checkReplica(standby: Pick<Db, 'sql'>): Promise<Finding> {
  const askedAt = performance.now();
  try {
    await standby.sql('SELECT 1 AS one');
    return ok('replica', `a standby has everything that is committed, after ${Math.round(performance.now() - askedAt)} ms`);
  } catch (error) {
    // Any failure: that no standby can be used is the finding.
    const detail = error instanceof Error ? error.message : String(error);
    const next = 'Correct DATABASE_REPLICA_URL or the standby. Until then lists and statistics are read from the primary.';
    return warning('replica', detail, next);
  }
}

/** Whether the address without the pooler works and leads to the same database. */
async function checkPooler({ db, side }: Database): Promise<Finding> {
  const next =
    'DATABASE_DIRECT_URL is the address of the same database without the pooler: notices, migrations, backups and restores need it.';
  try {
    const isSame = (await readDatabaseNumber(db.sql)) === (await readDatabaseNumber(side.sql));
    if (isSame) return ok('pooler', 'both addresses lead to the same database');
    return problem('pooler', 'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases', next);
  } catch (error) {
    // Any failure: that the address cannot be used is the finding.
    return problem('pooler', error instanceof Error ? error.message : String(error), next);
  }
}

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
          `${COMMAND_LINE} db move postgresql://… moves it to a server.`,
        ),
      );
    }
    return findings;
  }
  const isPooled = env.databaseDirectUrl !== null;
  if (isPooled) findings.push(await checkPooler(database));
  if (database.db.replica) findings.push(await checkReplica(database.db.replica.db));
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
  // The pool, unless it is one of the pooler's clients, and one connection that listens.
  const needed = (isPooled ? 0 : env.databasePoolSize) + 1;
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
interface ArchiveFacts {
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
        `${COMMAND_LINE} migrate (or start the service, which does it).`,
      ),
    );
  }
  const stale = await findStaleTopics(database.db.sql, files.topics);
  if (stale.length > 0) {
    return not(
      warning(
        'schema',
        `functions and triggers are not those of this release: ${stale.join(', ')}`,
        `${COMMAND_LINE} migrate (or start the service, which does it).`,
      ),
    );
  }
  return { finding: ok('schema', `all ${files.migrations.length} migrations are applied`), isCurrent: true };
}
