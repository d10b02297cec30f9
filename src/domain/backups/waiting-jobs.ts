import type { SqlRunner } from '../../core/db/db.ts';
import { type RowSource, readValue, rowTypes } from './row-format.ts';
import type { ArchivedTable, Table } from './types.ts';

/**
 * Jobs that wait or run are work that is owed: messages, deliveries, credits of payments, pushes. They name rows by their ids, so they are
 * part of a backup like the rows, as of the same point in time, and a restore that replaces the rows replaces them too. An archive has of a
 * job what its sender gave; everything else comes from its installed queue, so that an archive does not depend on the release of the job
 * queue.
 */
export const WAITING_JOBS = 'waiting_jobs';

const column = (name: string, type: string, nullable = false) => ({ name, type, nullable });

/** How an archive describes them; a table of no database. */
export const waitingJobs: Table = {
  name: WAITING_JOBS,
  columns: [
    column('id', 'uuid'),
    column('name', 'text'),
    column('data', 'jsonb', true),
    column('priority', 'integer'),
    column('retry_count', 'integer'),
    column('singleton_key', 'text', true),
    column('start_after', 'timestamp(6) with time zone'),
    column('created_on', 'timestamp(6) with time zone'),
    column('keep_until', 'timestamp(6) with time zone'),
  ],
  primaryKey: ['id'],
  defaulted: [],
};

/** Rounds of the queue itself, and backups, which are no part of the data. */
const isOfTheData = (name: string): string => `${name} NOT LIKE '\\_\\_pgboss%' AND ${name} NOT LIKE 'backups.%'`;
const UNFINISHED = `state < 'completed' AND ${isOfTheData('name')}`;

/** Whether the database has a job queue; that of a drill has none. */
export async function hasJobQueue(sql: SqlRunner): Promise<boolean> {
  const [queue] = await sql<{ found: string | null }>("SELECT to_regclass('jobs.job')::text AS found");
  return queue!.found !== null;
}

export const waitingJobsSource: RowSource = {
  relation: 'jobs.job',
  columns: waitingJobs.columns,
  primaryKey: waitingJobs.primaryKey,
  condition: UNFINISHED,
};

const LOADED = 'restored_jobs';

/** Where the jobs of an archive are until the end of the restore: rows of the queue would be locked for minutes. */
export async function openJobs(sql: SqlRunner): Promise<void> {
  await sql('CREATE TEMP TABLE restored_jobs (line json NOT NULL) ON COMMIT DROP');
}

/** Accepts jobs of an archive, a JSON array of rows as the first parameter. */
export const LOAD_JOBS = `WITH written AS (INSERT INTO ${LOADED} SELECT json_array_elements($1::json) RETURNING 1)
  SELECT count(*)::int AS rows FROM written`;

/**
 * Replaces the unfinished jobs, also those that an instance has taken and not begun (`JobRunner`), by the loaded ones. Left out are those
 * whose time has passed, those of queues that this release does not have, and a second one where a queue accepts one only.
 * @param columns as the archive describes them; null = it has no jobs
 */
export async function replaceJobs(sql: SqlRunner, columns: ArchivedTable['columns'] | null): Promise<void> {
  await sql(`DELETE FROM jobs.job WHERE ${UNFINISHED}`);
  if (columns === null) return;
  const known = waitingJobs.columns.filter(({ name }) => columns.some((given) => given.name === name));
  const names = known.map(({ name }) => `"${name}"`).join(', ');
  await sql(
    `INSERT INTO jobs.job (${names}, state, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds,
       deletion_seconds, dead_letter, heartbeat_seconds)
     SELECT ${known.map(readValue).join(', ')}, 'created', q.policy, q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max,
       q.expire_seconds, q.deletion_seconds, q.dead_letter, q.heartbeat_seconds
     FROM ${LOADED} l CROSS JOIN LATERAL json_to_record(l.line) AS r(${rowTypes(known)}) JOIN jobs.queue q ON q.name = r.name
     WHERE r.keep_until > now() AND ${isOfTheData('r.name')}
     ORDER BY r.created_on, r.id ON CONFLICT DO NOTHING`,
  );
}
