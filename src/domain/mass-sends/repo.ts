import { allColumns, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { AUDIENCE_TABLES, WANTS_NEWS } from '../audience/segments.ts';
import type { ClaimedRecipient, MassSend, SendKind } from './types.ts';

/**
 * Writes the rows of the recipients among the next users by id, in one statement of limited size: it reads `span` ids, however few of them
 * belong to the audience.
 * @returns whether all recipients have their row now; null when another worker has taken the send
 */
export async function prepareShare(
  db: Db,
  kind: Pick<SendKind, 'recipients'>,
  send: MassSend,
  span: number,
): Promise<boolean | null> {
  const [row] = await db.sql<{ isComplete: boolean }>(
    `WITH s AS (SELECT id, prepared_up_to, least(prepared_up_to + $3::int, audience_end) AS up_to, audience_end FROM mass_sends
         WHERE id = $1::int AND run = $2::int AND state = 'preparing' AND stop_requested_at IS NULL FOR UPDATE),
       added AS (INSERT INTO mass_send_recipients (send_id, user_id)
         SELECT $1::int, u.id FROM ${AUDIENCE_TABLES}
         WHERE u.id > (SELECT prepared_up_to FROM s) AND u.id <= (SELECT up_to FROM s)
           AND $4::timestamptz IS NOT NULL AND (${kind.recipients(send, '$4::timestamptz')})
         ORDER BY u.id ON CONFLICT DO NOTHING RETURNING 1)
     UPDATE mass_sends m SET prepared_up_to = s.up_to, total = total + (SELECT count(*) FROM added),
       state = CASE WHEN s.up_to >= s.audience_end THEN 'sending' ELSE m.state END
     FROM s WHERE m.id = s.id RETURNING m.state = 'sending' AS is_complete`,
    [send.id, send.run, span, send.createdAt],
  );
  return row ? row.isComplete : null;
}

/**
 * What ended workers had under way: it may have been delivered or not. It becomes `unconfirmed` and is not sent again, unless a second
 * attempt sends no second message (spec 05 section 16, invariant 3, spec 10 O14).
 * @returns recipients who are unconfirmed now
 */
export async function takeOverAbandoned(db: Db, kind: Pick<SendKind, 'repeatable'>, { id, run }: SendRun): Promise<number> {
  const [row] = await db.sql<{ unconfirmed: number }>(
    `WITH s AS (SELECT id, stop_requested_at IS NOT NULL AS is_stopped FROM mass_sends WHERE id = $1::int AND run = $2::int FOR UPDATE),
       found AS (UPDATE mass_send_recipients r
         SET state = CASE WHEN NOT s.is_stopped AND (${kind.repeatable}) THEN 'queued' ELSE 'unconfirmed' END
         FROM s WHERE r.send_id = s.id AND r.state = 'sending' AND r.run < $2::int RETURNING r.state),
       counted AS (SELECT count(*) AS unconfirmed FROM found WHERE state = 'unconfirmed')
     UPDATE mass_sends m SET unconfirmed = m.unconfirmed + c.unconfirmed
     FROM s, counted c WHERE m.id = s.id RETURNING c.unconfirmed::int`,
    [id, run],
  );
  return row?.unconfirmed ?? 0;
}

/**
 * Lets unconfirmed recipients be claimed again and marks them, since they may get the message twice. The row of the send is locked by the
 * caller.
 * @returns how many there were
 */
export async function queueUnconfirmed(db: Db, sendId: number): Promise<number> {
  const [row] = await db.sql<{ repeated: number }>(
    `WITH found AS (UPDATE mass_send_recipients SET state = 'queued', is_repeated = true
         WHERE send_id = $1::int AND state = 'unconfirmed' RETURNING 1),
       counted AS (SELECT count(*)::int AS repeated FROM found)
     UPDATE mass_sends SET unconfirmed = unconfirmed - c.repeated, repeated = mass_sends.repeated + c.repeated
     FROM counted c WHERE id = $1::int RETURNING c.repeated`,
    [sendId],
  );
  return row?.repeated ?? 0;
}

/** Claims the next recipients by user id. None while the send is paused, to stop, or another worker's. */
export async function claimRecipients(db: Db, { id, run }: SendRun, limit: number): Promise<ClaimedRecipient[]> {
  return db.sql<ClaimedRecipient>(
    `WITH s AS (SELECT id FROM mass_sends WHERE id = $1::int AND run = $2::int AND state = 'sending' AND paused_at IS NULL
         AND stop_requested_at IS NULL FOR SHARE),
       next AS (SELECT r.user_id FROM mass_send_recipients r WHERE r.send_id = (SELECT id FROM s) AND r.state = 'queued'
         ORDER BY r.user_id LIMIT $3::int FOR UPDATE SKIP LOCKED),
       taken AS (UPDATE mass_send_recipients r SET state = 'sending', run = $2::int FROM next
         WHERE r.send_id = $1::int AND r.user_id = next.user_id RETURNING r.user_id)
     SELECT t.user_id, u.status, u.messenger_id, u.username, u.first_name, u.last_name, u.language, u.email, u.email_verified,
       ${WANTS_NEWS} AS wants_news
     FROM taken t LEFT JOIN users u ON u.id = t.user_id ORDER BY t.user_id`,
    [id, run, limit],
  );
}

/** The recipient switched off news by the link of the mail: counted once, also while the send goes on. */
export async function storeUnsubscribed(
  db: Db,
  { sendId, userId }: { sendId: number; userId: number },
  now: Date,
): Promise<void> {
  await db.sql(
    `WITH s AS (SELECT id FROM mass_sends WHERE id = $1::int FOR NO KEY UPDATE),
       found AS (UPDATE mass_send_recipients r SET unsubscribed_at = $3::timestamptz FROM s
         WHERE r.send_id = s.id AND r.user_id = $2::int AND r.unsubscribed_at IS NULL RETURNING 1)
     UPDATE mass_sends m SET unsubscribed = m.unsubscribed + 1 FROM s, found WHERE m.id = s.id RETURNING m.id`,
    [sendId, userId, now],
  );
}

export interface SettledRecipient {
  userId: number;
  /** `queued`: not delivered, to be claimed again; `put_off`: to be claimed again after all others. */
  state: 'sent' | 'failed' | 'blocked' | 'queued' | 'put_off';
  messageId: number | null;
}

/** A recipient whom the messenger or the mail server puts off so often, while others get the message, has failed. */
const MAX_ATTEMPTS = 20;
/** While nobody gets it, there is an outage, of which five hours pass: a pause of 30 s follows each attempt. */
const MAX_ATTEMPTS_IN_OUTAGE = 600;

/**
 * Stores results of claimed recipients in their rows, in the counters and in the list of who blocks the bot; once each. Renews the lease.
 * A worker that has lost the send changes nothing.
 * @param step.isOutage nobody has got the message in this run
 */
export async function settleRecipients(
  db: Db,
  { id, run }: SendRun,
  settled: readonly SettledRecipient[],
  step: { leaseMs: number; isMessenger: boolean; isOutage: boolean; now: Date },
): Promise<void> {
  await db.sql(
    `WITH s AS (SELECT id FROM mass_sends WHERE id = $1::int AND run = $2::int FOR NO KEY UPDATE),
       given AS (SELECT * FROM unnest($3::int[], $4::text[], $5::bigint[]) AS v (user_id, state, message_id)),
       done AS (UPDATE mass_send_recipients r SET message_id = v.message_id, attempts = r.attempts + (v.state IN ('queued', 'put_off'))::int,
           state = CASE WHEN v.state = 'queued' AND r.attempts + 1 >= $9::int OR v.state = 'put_off' AND r.attempts + 1 >= ${MAX_ATTEMPTS}
             THEN 'failed' ELSE v.state END
         FROM s, given v WHERE r.send_id = s.id AND r.user_id = v.user_id AND r.state = 'sending' AND r.run = $2::int
         RETURNING r.user_id, r.state),
       blocking AS (INSERT INTO messenger_blocks (user_id, blocked_at)
         SELECT d.user_id, $7::timestamptz FROM done d JOIN users u ON u.id = d.user_id WHERE $8::boolean AND d.state = 'blocked'
         ORDER BY d.user_id ON CONFLICT (user_id) DO NOTHING),
       returned AS (DELETE FROM messenger_blocks WHERE $8::boolean AND user_id IN (SELECT user_id FROM done WHERE state = 'sent'))
     UPDATE mass_sends m SET sent = sent + (SELECT count(*) FROM done WHERE state = 'sent'),
       failed = failed + (SELECT count(*) FROM done WHERE state = 'failed'),
       blocked = blocked + (SELECT count(*) FROM done WHERE state = 'blocked'),
       leased_until = clock_timestamp() + $6::int * interval '1 millisecond'
     FROM s WHERE m.id = s.id RETURNING m.id`,
    [
      ...[id, run, settled.map(({ userId }) => userId), settled.map(({ state }) => state)],
      ...[settled.map(({ messageId }) => messageId), step.leaseMs, step.now, step.isMessenger],
      step.isOutage ? MAX_ATTEMPTS_IN_OUTAGE : MAX_ATTEMPTS,
    ],
  );
}

/**
 * Lets those whom the mail server put off be claimed again, once nobody else waits.
 * @returns whether there were any; not while the send is paused, to stop, or another worker's
 */
export async function queuePutOff(db: Db, { id, run }: SendRun): Promise<boolean> {
  const rows = await db.sql(
    `WITH s AS (SELECT id FROM mass_sends WHERE id = $1::int AND run = $2::int AND state = 'sending' AND paused_at IS NULL
         AND stop_requested_at IS NULL FOR NO KEY UPDATE)
     UPDATE mass_send_recipients r SET state = 'queued' FROM s WHERE r.send_id = s.id AND r.state = 'put_off'
       AND NOT EXISTS (SELECT 1 FROM mass_send_recipients q WHERE q.send_id = $1::int AND q.state = 'queued') RETURNING r.user_id`,
    [id, run],
  );
  return rows.length > 0;
}

/** What was under way when the worker ended is unconfirmed; called when no worker has the send, whose row is locked. */
export async function endUnderWay(db: Db, sendId: number): Promise<void> {
  await db.sql(
    `WITH found AS (UPDATE mass_send_recipients SET state = 'unconfirmed' WHERE send_id = $1::int AND state = 'sending' RETURNING 1)
     UPDATE mass_sends SET unconfirmed = unconfirmed + (SELECT count(*) FROM found) WHERE id = $1::int RETURNING id`,
    [sendId],
  );
}

/** Deletes recipients of sends that ended before; a batch a call. @returns rows deleted */
export async function deleteRecipients(db: Db, finishedBefore: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM mass_send_recipients WHERE (send_id, user_id) IN (
       SELECT r.send_id, r.user_id FROM mass_sends m CROSS JOIN LATERAL (
         SELECT send_id, user_id FROM mass_send_recipients WHERE send_id = m.id ORDER BY user_id LIMIT $2::int) r
       WHERE m.finished_at < $1::timestamptz LIMIT $2::int) RETURNING 1 AS gone`,
    [finishedBefore, limit],
  );
  return rows.length;
}

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
 * Claims the send for one worker: it gets the number of a new run.
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
type SendRun = Pick<MassSend, 'id' | 'run'>;

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
