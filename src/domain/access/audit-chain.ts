import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { addDays, startOfDay } from '../../core/clock.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readProgressOf, readTransactionXid } from '../../core/db/transaction-progress.ts';
import type { Env } from '../../core/env.ts';
import { lockState, mergeState, readState } from '../../core/service-state.ts';
import { AUDIT_DAY_CLOSED } from './events.ts';

/**
 * The chain of hashes over the audit log (spec 01 section 14, ours): each entry has a link with the hash over its content and the hash of
 * the link before. A job makes the links, in the order in which the entries become visible; requests only append entries, as before.
 */

/** Row of `service_state`; of this database server, neither backed up nor restored. */
const STATE = 'audit:links';

interface ChainState {
  /** Every entry with an id up to here has been linked, and none can appear any more. */
  settledId: number;
  /** Ids given until a database transaction began: once all before it have ended, no entry up to `id` can appear any more. */
  mark: { id: number; xid: string } | null;
}

const CONTENT = columns('AdminAuditLog', [
  ...(['id', 'userId', 'actorName', 'action', 'resourceType', 'resourceId', 'ipAddress', 'userAgent', 'status'] as const),
  ...(['requestMethod', 'requestPath', 'createdAt'] as const),
]);

/** `details` as the database writes JSON. */
export type AuditContent = RowOf<typeof CONTENT> & { details: string | null };
/** The columns of an `AuditContent` of `admin_audit_log l`. */
export const CONTENT_COLUMNS = `${CONTENT.of('l')}, l.details::text AS details`;

/** The hash of an entry. @param userId the actor when the entry was linked */
export function contentHash(entry: AuditContent, userId: number | null): string {
  const content = [
    ...[entry.id, userId, entry.actorName, entry.action, entry.resourceType, entry.resourceId, entry.details],
    ...[entry.ipAddress, entry.userAgent, entry.status, entry.requestMethod, entry.requestPath],
    linkTime(entry.createdAt).toISOString(),
  ];
  return sha256(JSON.stringify(content));
}

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The time of an entry as its link has it. A constraint refuses what has no text of four digits for the year; if somebody has lifted it, an
 * entry of `infinity` must not stop the entries after it from being linked.
 */
export function linkTime(createdAt: Date): Date {
  // The driver returns `infinity` as a number.
  const ms = Number(createdAt);
  if (Number.isNaN(ms)) return new Date(LAST_TIME);
  return new Date(Math.min(Math.max(ms, 0), LAST_TIME));
}

/**
 * The hash of a link.
 * @param previous hash of the link before; empty for the first one
 * @param entryAt when the entry was made
 */
export const linkHash = (previous: string, entryAt: Date, content: string): string =>
  sha256([previous, entryAt.toISOString(), content].join('\n'));

/** Hexadecimal. */
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** How many entries one statement looks through, and one transaction links. */
const BATCH = 5_000;

/**
 * Links the entries that have none, then closes the days that are over. Several instances can do so at the same time.
 * @returns how many entries were linked
 */
export async function linkAuditLog(app: App, signal?: AbortSignal): Promise<number> {
  // Before the mark: whoever got one of these ids has a lower transaction id than the mark.
  const given = await readGivenId(app.db);
  const { settledId = 0, mark = null } = (await readState<Partial<ChainState>>(app.db, STATE)) ?? {};
  const progress = mark && (await readProgressOf(app.db, mark.xid));
  let linked = 0;
  const target = Math.max(given, mark?.id ?? 0);
  for (let after = settledId; after < target; ) {
    signal?.throwIfAborted();
    const batch = await linkBatch(app, after);
    linked += batch.count;
    after = batch.through;
  }
  await inTransaction(app, async (t) => {
    await lockState<ChainState>(t.db, STATE);
    if (progress === 'ended') await mergeState(t.db, STATE, { settledId: mark!.id, mark: null });
    else if (progress !== 'running' && given > settledId)
      await mergeState(t.db, STATE, { mark: { id: given, xid: await readTransactionXid(t.db) } });
  });
  while (await closeDay(app)) signal?.throwIfAborted();
  return linked;
}

/** The highest id that was given, also by transactions that have not committed. */
async function readGivenId(db: Db): Promise<number> {
  const [row] = await db.sql<{ id: number }>("SELECT coalesce(pg_sequence_last_value('admin_audit_log_id_seq'), 0) AS id");
  return row!.id;
}

/** Whether an entry `l` of the ids $1 < id <= $2 has no link. The range is repeated so that no index is read from its start. */
export const WITHOUT_LINK =
  'NOT EXISTS (SELECT 1 FROM audit_links k WHERE k.entry_id = l.id AND k.entry_id > $1::bigint AND k.entry_id <= $2::bigint)';

/** The id up to which one statement looks for entries above an id. */
export async function endOfRange(db: Db, after: number): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    'SELECT id FROM admin_audit_log WHERE id > $1::bigint ORDER BY id OFFSET $2::int LIMIT 1',
    [after, BATCH],
  );
  return row?.id ?? Number.MAX_SAFE_INTEGER;
}

/** @returns how many entries were linked, and the id up to which all that are visible have a link */
function linkBatch(app: App, after: number): Promise<{ count: number; through: number }> {
  return inTransaction(app, async (t) => {
    // One at a time: the next link needs the hash of the one before.
    await lockState<ChainState>(t.db, STATE);
    const through = await endOfRange(t.db, after);
    const entries = await t.db.sql<AuditContent>(
      `SELECT ${CONTENT_COLUMNS} FROM admin_audit_log l
       WHERE l.id > $1::bigint AND l.id <= $2::bigint AND ${WITHOUT_LINK} ORDER BY l.id`,
      [after, through],
    );
    if (entries.length === 0) return { count: 0, through };
    const [last] = await t.db.sql<{ position: number; hash: string }>(
      "SELECT position, encode(hash, 'hex') AS hash FROM audit_links ORDER BY position DESC LIMIT 1",
    );
    let { position, hash } = last ?? { position: 0, hash: '' };
    const links = entries.map((entry) => {
      const content = contentHash(entry, entry.userId);
      const entryAt = linkTime(entry.createdAt);
      hash = linkHash(hash, entryAt, content);
      position += 1;
      return { position, entry_id: entry.id, user_id: entry.userId, entry_at: entryAt, content, hash };
    });
    await t.db.sql(
      `INSERT INTO audit_links (position, entry_id, user_id, entry_at, content_hash, hash, linked_at)
       SELECT e.position, e.entry_id, e.user_id, e.entry_at, decode(e.content, 'hex'), decode(e.hash, 'hex'), $2::timestamptz
       FROM jsonb_to_recordset($1::jsonb)
         AS e (position bigint, entry_id bigint, user_id int, entry_at timestamptz, content text, hash text) RETURNING 1 AS done`,
      [JSON.stringify(links), t.clock.now()],
    );
    return { count: links.length, through };
  });
}

/** The last hash of a day of the audit log (UTC), with a signature that whoever has the public key can check. */
export interface AuditDay {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Position of the last link of the day. */
  position: number;
  /** Hexadecimal. */
  hash: string;
  /** Ed25519, hexadecimal; null = the installation had no key. */
  publicKey: string | null;
  signature: string | null;
  /** When it was closed; null = kept elsewhere without it, as events of former releases are. */
  closedAt: Date | null;
}

/** What precedes the bytes of an Ed25519 key in DER (RFC 8410). */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Signs by `AUDIT_SIGNING_KEY`, else by a key derived from `CABINET_JWT_SECRET`; without both there is no signature. */
function signDay(env: Env, day: SignedFacts & { closedAt: Date }): AuditDay {
  const key = privateKeyOf(env);
  if (!key) return { ...day, publicKey: null, signature: null };
  return { ...day, publicKey: publicHex(key), signature: sign(null, signedText(day, day.closedAt), key).toString('hex') };
}

/** The public key of this installation, hexadecimal; null = it has none. */
export function auditPublicKey(env: Env): string | null {
  const key = privateKeyOf(env);
  return key && publicHex(key);
}

/** Whether the signature of a day is that of its own public key. Days that a former release has signed are so without the time of closing. */
export function isSignatureValid(day: AuditDay): boolean {
  if (day.publicKey === null || day.signature === null) return false;
  if (!/^[0-9a-f]{64}$/.test(day.publicKey)) return false;
  const der = Buffer.concat([PUBLIC_HEAD, Buffer.from(day.publicKey, 'hex')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const signature = Buffer.from(day.signature, 'hex');
  return [...(day.closedAt ? [day.closedAt] : []), null].some((closedAt) =>
    verify(null, signedText(day, closedAt), key, signature),
  );
}

type SignedFacts = Pick<AuditDay, 'day' | 'position' | 'hash'>;

/** @param closedAt null = the form of former releases. The first lines differ, so that no signature is one of the other form. */
function signedText({ day, position, hash }: SignedFacts, closedAt: Date | null): Buffer {
  const facts = `${day}\n${position}\n${hash}`;
  return Buffer.from(closedAt ? `audit-day-2\n${facts}\n${closedAt.toISOString()}` : `audit-day\n${facts}`);
}

function privateKeyOf({ auditSigningKey, cabinetJwtSecret }: Env): KeyObject | null {
  const secret = auditSigningKey ?? cabinetJwtSecret;
  if (secret === null) return null;
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'audit log, end of a day', 32));
  return createPrivateKey({ key: Buffer.concat([PRIVATE_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

const publicHex = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_HEAD.length).toString('hex');

/**
 * Closes the oldest day that is over: stores its last hash with a signature, and sends it to webhooks.
 * @returns whether there was one
 */
function closeDay(app: App): Promise<boolean> {
  return inTransaction(app, async (t) => {
    await lockState<ChainState>(t.db, STATE);
    const [first] = await t.db.sql<{ position: number; linkedAt: Date }>(
      `SELECT position, linked_at FROM audit_links
       WHERE position > coalesce((SELECT max(position) FROM audit_days), 0) ORDER BY position LIMIT 1`,
    );
    const now = t.clock.now();
    // A clock that was far ahead for a while does not keep days open until then.
    const linkedAt = first && (first.linkedAt > now ? await readFirstLinkTime(t.db, first.position) : first.linkedAt);
    const day = linkedAt && startOfDay(linkedAt);
    if (!day || day >= startOfDay(now)) return false;
    const [last] = await t.db.sql<{ position: number; hash: string }>(
      `SELECT position, encode(hash, 'hex') AS hash FROM audit_links WHERE position >= $1::bigint AND linked_at < $2::timestamptz
       ORDER BY position DESC LIMIT 1`,
      [first!.position, addDays(day, 1)],
    );
    const closed = signDay(t.env, { day: day.toISOString().slice(0, 10), ...last!, closedAt: now });
    await storeDay(t.db, closed);
    const { day: date, position, hash, publicKey, signature } = closed;
    const payload = { day: date, position, hash, closed_at: now.toISOString(), public_key: publicKey, signature };
    await t.events.emit(AUDIT_DAY_CLOSED, payload, { audience: 'feed' });
    return true;
  });
}

async function readFirstLinkTime(db: Db, from: number): Promise<Date> {
  const [row] = await db.sql<{ at: Date }>('SELECT min(linked_at) AS at FROM audit_links WHERE position >= $1::bigint', [from]);
  return row!.at;
}

/** A clock that was set back can give a day twice: its later end is stored. */
async function storeDay(db: Db, { day, position, hash, publicKey, signature, closedAt }: AuditDay): Promise<void> {
  await db.sql(
    `INSERT INTO audit_days (day, position, hash, public_key, signature, closed_at)
     VALUES ($1::date, $2::bigint, $3, $4, $5, $6::timestamptz)
     ON CONFLICT (day) DO UPDATE SET position = EXCLUDED.position, hash = EXCLUDED.hash, public_key = EXCLUDED.public_key,
       signature = EXCLUDED.signature, closed_at = EXCLUDED.closed_at RETURNING 1 AS done`,
    [day, position, hash, publicKey, signature, closedAt],
  );
}

/** What the check needs of the state: entries up to here without a link were added later. */
export async function readSettledId(db: Db): Promise<number> {
  return (await readState<Partial<ChainState>>(db, STATE))?.settledId ?? 0;
}

/**
 * Deletes the oldest links, as far as their entries are gone. The last one of these stays, since the next hash needs it. In a transaction that
 * may delete entries.
 * @returns how many were deleted, at most `limit`
 */
export async function deleteOldLinks(db: Db, limit: number): Promise<number> {
  const rows = await db.sql(
    `WITH oldest AS (SELECT position, entry_id FROM audit_links ORDER BY position LIMIT $1::int + 1),
       needed AS (SELECT min(o.position) AS position FROM oldest o WHERE EXISTS (SELECT 1 FROM admin_audit_log l WHERE l.id = o.entry_id))
     DELETE FROM audit_links WHERE position IN (SELECT position FROM oldest)
       AND position < coalesce((SELECT position FROM needed) - 1, (SELECT max(position) FROM oldest)) RETURNING 1 AS gone`,
    [limit],
  );
  return rows.length;
}
