import { type Actor, actorName } from '../../core/actor.ts';
import { allColumns } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Person } from './person-tables.ts';
import type { DataRequest, Farewell, Obligation } from './types.ts';

export type { DataRequest } from './types.ts';

const REQUEST = allColumns('DataRequest');
/** SQL: the account is not erased. */
const EXISTS = "u.referral_code <> 'erased:' || u.id";
const FINGERPRINT =
  "encode(sha256(convert_to(concat_ws(':', u.id, extract(epoch FROM u.created_at), u.referral_code), 'UTF8')), 'hex')";

/** SQL: what account u was known by when it was merged into another one, and what belongs to no other account by now. */
const FORMER = `LEFT JOIN LATERAL (SELECT m.former_messenger_id, m.former_emails, m.abandoned_panel_uuid FROM account_merges m
    WHERE m.secondary_user_id = u.id ORDER BY m.id DESC LIMIT 1) f ON true
  LEFT JOIN LATERAL (SELECT
    (SELECT f.former_messenger_id WHERE NOT EXISTS (SELECT 1 FROM users o WHERE o.messenger_id = f.former_messenger_id)) AS messenger_id,
    (SELECT f.abandoned_panel_uuid WHERE NOT EXISTS (SELECT 1 FROM users o WHERE o.vpnpanel_uuid = f.abandoned_panel_uuid)) AS panel_uuid,
    (SELECT jsonb_agg(e) FROM jsonb_array_elements_text(f.former_emails) e WHERE NOT EXISTS (SELECT 1 FROM users o WHERE o.email = e)) AS emails
  ) former ON true`;

/**
 * The person of an account that is not erased; null for every other id. One that was merged into another has the identifiers of before.
 * @param locks until the end of the transaction, with merged accounts
 */
export async function findPerson(db: Db, userId: number, locks = false): Promise<Person | null> {
  if (locks) {
    await db.sql(`SELECT u.id FROM users u WHERE u.id = $1::int OR u.id IN (${MERGED}) ORDER BY u.id FOR NO KEY UPDATE`, [
      userId,
    ]);
    await db.sql('SELECT id FROM subscriptions WHERE user_id = $1::int FOR UPDATE', [userId]);
  }
  const [row] = await db.sql<Person>(
    `SELECT u.id AS user_id, coalesce(u.messenger_id, former.messenger_id) AS messenger_id,
       to_jsonb(array_remove(ARRAY[lower(u.email), lower(u.email_change_new)], NULL)) || coalesce(former.emails, '[]') AS emails,
       coalesce(u.vpnpanel_uuid, former.panel_uuid)::text AS panel_uuid,
       coalesce(nullif(concat_ws(' ', nullif(u.first_name, ''), nullif(u.last_name, '')), ''), u.username) AS name
     FROM users u ${FORMER} WHERE u.id = $1::int AND ${EXISTS}`,
    [userId],
  );
  return row ?? null;
}

/** SQL: the accounts that were merged into user $1, and those that were merged into them. */
const MERGED = `WITH RECURSIVE merged AS (
    SELECT m.secondary_user_id AS id FROM account_merges m WHERE m.primary_user_id = $1::int
    UNION SELECT m.secondary_user_id FROM account_merges m JOIN merged ON m.primary_user_id = merged.id)
  SELECT id FROM merged`;

/** The person of an account, then those of the accounts that were merged into it; empty for an account that is unknown or erased. */
export async function listPersons(db: Db, userId: number): Promise<Person[]> {
  const merged = await db.sql<{ id: number }>(`SELECT id FROM (${MERGED}) m ORDER BY 1`, [userId]);
  const persons: Person[] = [];
  for (const id of [userId, ...merged.map((account) => account.id)]) {
    const person = await findPerson(db, id);
    if (person) persons.push(person);
    else if (id === userId) break;
  }
  return persons;
}

/** What is open between the person and the service. */
export async function readObligations(db: Db, userId: number, now: Date): Promise<{ open: Obligation[]; balanceKopeks: number }> {
  const [row] = await db.sql<{ open: Obligation[]; balanceKopeks: number }>(
    `SELECT u.balance_kopeks, to_jsonb(array_remove(ARRAY[
       CASE WHEN EXISTS (SELECT 1 FROM withdrawal_requests w WHERE w.user_id = u.id AND w.status IN ('pending', 'approved')) THEN 'pending_withdrawal' END,
       CASE WHEN EXISTS (SELECT 1 FROM payments p WHERE p.user_id = u.id AND p.outcome = 'pending') THEN 'pending_payment' END,
       CASE WHEN EXISTS (SELECT 1 FROM approvals a WHERE a.user_id = u.id AND a.status = 'waiting') THEN 'waiting_approval' END,
       CASE WHEN EXISTS (SELECT 1 FROM payment_cases c WHERE c.user_id = u.id AND c.status = 'open')
         OR EXISTS (SELECT 1 FROM payments p JOIN payment_reversals v ON v.payment_id = p.id WHERE p.user_id = u.id AND v.status = 'requested') THEN 'open_case' END,
       CASE WHEN EXISTS (SELECT 1 FROM guest_purchases g WHERE g.status IN ('paid', 'pending_activation') AND (g.user_id = u.id OR (g.buyer_user_id = u.id AND NOT g.is_gift)))
         THEN 'undelivered_purchase' END,
       CASE WHEN u.balance_kopeks > 0 THEN 'balance' END,
       CASE WHEN EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = u.id AND NOT s.is_trial AND s.status = 'active' AND s.end_date > $2::timestamptz)
         THEN 'paid_subscription' END], NULL)) AS open
     FROM users u WHERE u.id = $1::int`,
    [userId, now],
  );
  return row ?? { open: [], balanceKopeks: 0 };
}

export type NewRequest = Pick<DataRequest, 'userId' | 'kind' | 'requestedBy' | 'dueAt' | 'forfeitsKopeks' | 'endsSubscription'>;

export function newRequest(actor: Actor, userId: number, kind: DataRequest['kind'], dueAt: Date | null): NewRequest {
  return { userId, kind, requestedBy: actorName(actor), dueAt, forfeitsKopeks: 0, endsSubscription: false };
}

/** The user must be locked. */
export async function insertRequest(db: Db, request: NewRequest, now: Date): Promise<DataRequest> {
  const { userId, kind, requestedBy, dueAt, forfeitsKopeks, endsSubscription } = request;
  const [row] = await db.sql<DataRequest>(
    `INSERT INTO data_requests (user_id, kind, requested_by, fingerprint, due_at, forfeits_kopeks, ends_subscription, created_at)
     SELECT u.id, $2, $3, ${FINGERPRINT}, $4::timestamptz, $5::bigint, $6::boolean, $7::timestamptz FROM users u WHERE u.id = $1::int
     RETURNING ${REQUEST.of()}`,
    [userId, kind, requestedBy, dueAt, forfeitsKopeks, endsSubscription, now],
  );
  return row!;
}

export async function findRequest(db: Db, id: number): Promise<DataRequest | null> {
  const [row] = await db.sql<DataRequest>(`SELECT ${REQUEST.of('d')} FROM data_requests d WHERE id = $1::int`, [id]);
  return row ?? null;
}

/** The newest request of a kind; `isOpen`: only one that has not ended, locked. */
export async function findNewest(db: Db, userId: number, kind: DataRequest['kind'], isOpen = false): Promise<DataRequest | null> {
  const open = isOpen ? "AND state IN ('requested', 'running')" : '';
  const [row] = await db.sql<DataRequest>(
    `SELECT ${REQUEST.of('d')} FROM data_requests d WHERE user_id = $1::int AND kind = $2 ${open} ORDER BY created_at DESC, id DESC LIMIT 1
     ${isOpen ? 'FOR UPDATE' : ''}`,
    [userId, kind],
  );
  return row ?? null;
}

export async function listRequests(
  db: Db,
  { userId, limit, offset }: { userId: number | null; limit: number; offset: number },
): Promise<{ items: DataRequest[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<DataRequest>(
      `SELECT ${REQUEST.of('d')} FROM data_requests d WHERE ($1::int IS NULL OR user_id = $1::int)
       ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint`,
      [userId, limit, offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM data_requests WHERE ($1::int IS NULL OR user_id = $1::int)', [
      userId,
    ]),
  ]);
  return { items, total: count!.total };
}

type Changes = Partial<
  Pick<DataRequest, 'state' | 'dueAt' | 'requestedBy' | 'forfeitsKopeks' | 'endsSubscription' | 'finishedAt'>
>;

/** @param from the state that it must have. @returns false when it has another one */
export async function changeRequest(db: Db, id: number, from: DataRequest['state'], changes: Changes): Promise<boolean> {
  return (await db.prisma.dataRequest.updateMany({ where: { id, state: from }, data: changes })).count > 0;
}

/** Stores what the job after the erasure needs. */
export async function startErasure(db: Db, id: number, remains: object): Promise<void> {
  await db.sql("UPDATE data_requests SET state = 'running', remains = $2::jsonb WHERE id = $1::int RETURNING id", [
    id,
    JSON.stringify(remains),
  ]);
}

/** What of it is done at most once: it is no longer stored when this is answered. @returns null when another run has it, or there is none */
export async function removeFarewell(db: Db, id: number): Promise<Farewell | null> {
  const [row] = await db.sql<{ farewell: Farewell }>(
    `WITH former AS (SELECT id, remains -> 'farewell' AS farewell FROM data_requests WHERE id = $1::int AND state = 'running' FOR UPDATE)
     UPDATE data_requests d SET remains = d.remains - 'farewell' FROM former WHERE d.id = former.id AND former.farewell IS NOT NULL
     RETURNING former.farewell`,
    [id],
  );
  return row?.farewell ?? null;
}

/** Forgets it. @returns false when another run has done so */
export async function endErasure(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE data_requests SET state = 'done', remains = NULL, finished_at = $2::timestamptz WHERE id = $1::int AND state = 'running' RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/** Ends the exports of a person who is erased. */
export async function endExports(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE data_requests SET state = 'expired', finished_at = coalesce(finished_at, $2::timestamptz)
     WHERE user_id = $1::int AND kind = 'export' AND state IN ('requested', 'ready') RETURNING id`,
    [userId, now],
  );
}

/** Begins another attempt to write an archive, and deletes the parts of former ones. @returns null when there is nothing to write */
export async function beginRun(db: Db, id: number): Promise<DataRequest | null> {
  const [row] = await db.sql<DataRequest>(
    `UPDATE data_requests SET run = run + 1 WHERE id = $1::int AND kind = 'export' AND state = 'requested' RETURNING ${REQUEST.of()}`,
    [id],
  );
  if (row)
    await db.sql('DELETE FROM data_archive_parts WHERE request_id = $1::int AND run < $2::int RETURNING 1 AS gone', [
      id,
      row.run,
    ]);
  return row ?? null;
}

export async function insertPart(db: Db, key: { requestId: number; run: number; part: number }, content: Buffer): Promise<void> {
  await db.prisma.dataArchivePart.create({ data: { ...key, content: new Uint8Array(content) } });
}

export async function findPart(db: Db, key: { requestId: number; run: number; part: number }): Promise<Uint8Array | null> {
  return (await db.prisma.dataArchivePart.findUnique({ where: { requestId_run_part: key } }))?.content ?? null;
}

/** @returns false when a later attempt has begun, or the request has ended */
export async function markReady(
  db: Db,
  { id, run }: Pick<DataRequest, 'id' | 'run'>,
  facts: { sizeBytes: number; finishedAt: Date; expiresAt: Date },
): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE data_requests SET state = 'ready', size_bytes = $3::bigint, finished_at = $4::timestamptz, expires_at = $5::timestamptz
     WHERE id = $1::int AND run = $2::int AND state = 'requested' RETURNING id`,
    [id, run, facts.sizeBytes, facts.finishedAt, facts.expiresAt],
  );
  return rows.length > 0;
}

/** Ends archives whose time is over, and deletes the parts of ended requests. */
export async function expireArchives(db: Db, now: Date): Promise<void> {
  await db.sql(
    "UPDATE data_requests SET state = 'expired' WHERE state = 'ready' AND expires_at <= $1::timestamptz RETURNING id",
    [now],
  );
  await db.sql(
    `DELETE FROM data_archive_parts p USING data_requests d
     WHERE d.id = p.request_id AND d.state NOT IN ('requested', 'ready') RETURNING 1 AS gone`,
  );
}

/** Deletes requests that ended before a time, with what is left of their archives. @returns how many, at most `limit` */
export async function deleteEndedRequests(db: Db, before: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM data_requests WHERE id = ANY(ARRAY(SELECT id FROM data_requests
       WHERE state IN ('expired', 'failed', 'done', 'cancelled') AND greatest(finished_at, expires_at) < $1::timestamptz LIMIT $2::int))
     RETURNING 1 AS gone`,
    [before, limit],
  );
  return rows.length;
}

/**
 * Erasures whose accounts a restore has brought back are due once more. The fingerprint says that it is the same account. What the backup has
 * of balance and subscription was given up, or spent since: it does not put the erasure off.
 */
export async function reopenErasures(db: Db, now: Date): Promise<number> {
  const rows = await db.sql(
    `UPDATE data_requests d SET state = 'requested', due_at = $1::timestamptz, finished_at = NULL, ends_subscription = true,
       forfeits_kopeks = greatest(d.forfeits_kopeks, u.balance_kopeks, 0), requested_by = 'system:restore'
     FROM users u
     WHERE d.kind = 'erasure' AND d.state = 'done' AND u.id = d.user_id AND ${EXISTS} AND d.fingerprint = ${FINGERPRINT}
       AND NOT EXISTS (SELECT 1 FROM data_requests o WHERE o.user_id = d.user_id AND o.kind = 'erasure' AND o.state IN ('requested', 'running'))
     RETURNING d.id`,
    [now],
  );
  return rows.length;
}

/** Requests for which a job is needed: due erasures, those that are not complete, and exports whose job was lost. */
export function listWaiting(db: Db, now: Date, lostBefore: Date): Promise<Pick<DataRequest, 'id' | 'kind'>[]> {
  return db.sql(
    `SELECT id, kind FROM data_requests WHERE state IN ('requested', 'running')
       AND CASE kind WHEN 'erasure' THEN due_at <= $1::timestamptz ELSE created_at < $2::timestamptz END
     ORDER BY id LIMIT 100`,
    [now, lostBefore],
  );
}

/** Keys of the contents of the files that the erasure deletes. @param condition of `media_files r`, with the person's values bound */
export async function listStorageKeys(db: Db, condition: string, values: readonly unknown[]): Promise<string[]> {
  const rows = await db.sql<{ storageKey: string }>(
    `SELECT r.storage_key FROM media_files r WHERE r.storage_key IS NOT NULL AND ${condition}`,
    values,
  );
  return rows.map(({ storageKey }) => storageKey);
}
