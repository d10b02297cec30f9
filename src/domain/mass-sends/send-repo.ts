import { allColumns, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { MassSend } from './types.ts';

const SEND = allColumns('MassSend');

export type NewSend = Pick<MassSend, 'kind' | 'sourceId' | 'channel' | 'audience'>;

export async function insertSend(db: Db, send: NewSend, now: Date): Promise<MassSend> {
  return plainRow('MassSend', await db.prisma.massSend.create({ data: { ...send, createdAt: now } }));
}

export async function findSend(db: Db, id: number): Promise<MassSend | null> {
  const row = await db.prisma.massSend.findUnique({ where: { id } });
  return row && plainRow('MassSend', row);
}

/** The parts of what is sent, in the order of their ids, locked where they are to be changed. */
export async function listSends(db: Db, kind: string, sourceIds: readonly number[], isLocked = false): Promise<MassSend[]> {
  return db.sql<MassSend>(
    `SELECT ${SEND.of()} FROM mass_sends WHERE kind = $1 AND source_id = ANY($2::int[]) ORDER BY id ${isLocked ? 'FOR UPDATE' : ''}`,
    [kind, sourceIds],
  );
}

/** Sends of these kinds that have not ended, in the order of their ids, locked. */
export async function listUnfinished(db: Db, kinds: readonly string[]): Promise<MassSend[]> {
  return db.sql<MassSend>(
    `SELECT ${SEND.of()} FROM mass_sends WHERE finished_at IS NULL AND kind = ANY($1::text[]) ORDER BY id FOR UPDATE`,
    [kinds],
  );
}

export async function isUnfinishedBefore(db: Db, kinds: readonly string[], id: number): Promise<boolean> {
  const rows = await db.sql(
    'SELECT id FROM mass_sends WHERE finished_at IS NULL AND kind = ANY($1::text[]) AND id < $2::int LIMIT 1',
    [kinds, id],
  );
  return rows.length > 0;
}

/** Ids of sends that no worker has, though something remains to be done. */
export async function listAbandoned(db: Db): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM mass_sends WHERE finished_at IS NULL AND (paused_at IS NULL OR stop_requested_at IS NOT NULL)
       AND (leased_until IS NULL OR leased_until < clock_timestamp()) ORDER BY id LIMIT 100`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Takes the send for one worker: it gets the number of a new run.
 * @returns null while another worker has it, when it is finished, and while it is paused
 */
export async function takeSend(db: Db, id: number, leaseMs: number, now: Date): Promise<MassSend | null> {
  const [row] = await db.sql<MassSend>(
    `UPDATE mass_sends SET run = run + 1, leased_until = clock_timestamp() + $2::int * interval '1 millisecond',
       state = CASE WHEN state = 'queued' THEN 'preparing' ELSE state END, started_at = coalesce(started_at, $3::timestamptz),
       audience_end = coalesce(audience_end, (SELECT coalesce(max(u.id), 0) FROM users u WHERE u.created_at <= mass_sends.created_at), 0)
     WHERE id = $1::int AND finished_at IS NULL AND (paused_at IS NULL OR stop_requested_at IS NOT NULL)
       AND (leased_until IS NULL OR leased_until < clock_timestamp()) RETURNING ${SEND.of()}`,
    [id, leaseMs, now],
  );
  return row ?? null;
}

/** Of the worker with this run. */
export type SendRun = Pick<MassSend, 'id' | 'run'>;

/** @returns the send as it is now; null when another worker has taken it */
export async function renewLease(db: Db, { id, run }: SendRun, leaseMs: number): Promise<MassSend | null> {
  const [row] = await db.sql<MassSend>(
    `UPDATE mass_sends SET leased_until = clock_timestamp() + $3::int * interval '1 millisecond'
     WHERE id = $1::int AND run = $2::int AND finished_at IS NULL RETURNING ${SEND.of()}`,
    [id, run, leaseMs],
  );
  return row ?? null;
}

/** So that another worker need not wait for the end of the lease. */
export async function releaseSend(db: Db, { id, run }: SendRun): Promise<void> {
  await db.sql('UPDATE mass_sends SET leased_until = NULL WHERE id = $1::int AND run = $2::int RETURNING id', [id, run]);
}

/**
 * The end, once: when nothing waits, or a stop was requested, and nothing is under way.
 * @returns null when it is not the end, or another worker has taken the send
 */
export async function finishSend(db: Db, { id, run }: SendRun, now: Date, isImpossible = false): Promise<MassSend | null> {
  const [row] = await db.sql<MassSend>(
    `UPDATE mass_sends SET leased_until = NULL, finished_at = $3::timestamptz,
       state = CASE WHEN stop_requested_at IS NOT NULL THEN 'cancelled' WHEN $4::boolean THEN 'failed' ELSE 'done' END
     WHERE id = $1::int AND run = $2::int AND finished_at IS NULL
       AND (state = 'sending' OR stop_requested_at IS NOT NULL OR $4::boolean)
       AND NOT EXISTS (SELECT 1 FROM mass_send_recipients r WHERE r.send_id = $1::int AND r.state = 'sending')
       AND (stop_requested_at IS NOT NULL OR $4::boolean
         OR NOT EXISTS (SELECT 1 FROM mass_send_recipients r WHERE r.send_id = $1::int AND r.state = 'queued')
           AND NOT EXISTS (SELECT 1 FROM mass_send_recipients r WHERE r.send_id = $1::int AND r.state = 'put_off'))
     RETURNING ${SEND.of()}`,
    [id, run, now, isImpossible],
  );
  return row ?? null;
}

/** Requests of people; see `control-sends.ts`. The row is locked by the caller. */
export async function updateSend(
  db: Db,
  id: number,
  changes: Partial<Pick<MassSend, 'stopRequestedAt' | 'pausedAt' | 'state' | 'finishedAt'>>,
): Promise<MassSend> {
  return plainRow('MassSend', await db.prisma.massSend.update({ where: { id }, data: changes }));
}

/** Whether a worker has it now, by database time. */
export async function isLeased(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql('SELECT 1 AS leased FROM mass_sends WHERE id = $1::int AND leased_until >= clock_timestamp()', [id]);
  return rows.length > 0;
}
