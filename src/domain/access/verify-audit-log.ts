import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import {
  type AuditContent,
  type AuditDay,
  auditPublicKey,
  CONTENT_COLUMNS,
  contentHash,
  endOfRange,
  isSignatureValid,
  linkHash,
  linkTime,
  readSettledId,
  WITHOUT_LINK,
} from './audit-chain.ts';

/** What is wrong at a place of the audit log; docs/operations.md says what each means. */
export type AuditProblem =
  | 'missing_entry'
  | 'changed_entry'
  | 'changed_link'
  | 'missing_links'
  | 'added_entry'
  | 'changed_day'
  | 'missing_day'
  | 'wrong_signature';

interface AuditFinding {
  problem: AuditProblem;
  /** Position in the chain; null for an entry that has none. */
  position: number | null;
  entryId: number | null;
  /** `YYYY-MM-DD` of a day, else of the link. */
  day: string | null;
}

export interface AuditVerification {
  /** In the order of the chain; at most `LISTED` of each problem. */
  findings: AuditFinding[];
  counts: Partial<Record<AuditProblem, number>>;
  /** Links that were checked, and the positions of the first and the last. */
  links: number;
  firstPosition: number | null;
  lastPosition: number | null;
  /** Stored days that were checked, and the last of them. */
  days: number;
  lastDay: string | null;
  /** Of the days: how many have a signature of this installation's present key, of another key, and none. */
  signed: { byPresentKey: number; byOtherKey: number; unsigned: number };
  publicKey: string | null;
  /** Entries that have no link yet, since the job runs once a minute. */
  waiting: number;
}

export interface VerifyOptions {
  /** First position that is checked. Default: the oldest that there is. */
  from?: number;
  /** Days that were kept elsewhere, from webhooks or backups: the chain must still have each of them. */
  keptDays?: readonly AuditDay[];
  /** Gets the number of links that have been checked. */
  onPage?: (links: number) => void;
}

const PAGE = 5_000;
const LISTED = 50;

interface Link extends AuditContent {
  position: number;
  entryId: number;
  linkedUserId: number | null;
  entryAt: Date;
  contentHash: string;
  hash: string;
  day: string;
  isMissing: boolean;
  /** The actor, as the link names him, still exists. */
  hasUser: boolean;
}

class Findings {
  readonly list: AuditFinding[] = [];
  readonly counts: Partial<Record<AuditProblem, number>> = {};

  add(problem: AuditProblem, at: Partial<Omit<AuditFinding, 'problem'>>): void {
    this.counts[problem] = (this.counts[problem] ?? 0) + 1;
    if (this.counts[problem] <= LISTED) this.list.push({ problem, position: null, entryId: null, day: null, ...at });
  }
}

type Place = Pick<Link, 'position' | 'hash'>;

/**
 * Computes every hash of the audit log again (spec 01 section 14, ours). Reads only, page by page; entries that arrive meanwhile are left to
 * the next time.
 */
export async function verifyAuditLog(app: App, options: VerifyOptions = {}): Promise<AuditVerification> {
  const found = new Findings();
  const chain = await checkLinks(app, options, found);
  const settledId = await readSettledId(app.db);
  await findAddedEntries(app, settledId, found);
  const days = await listDays(app);
  await checkDays(app, days, found, 'changed_day');
  if (options.keptDays) await checkDays(app, options.keptDays, found, 'missing_day');
  const publicKey = auditPublicKey(app.env);
  const unsigned = days.filter(({ signature }) => signature === null).length;
  const byPresentKey = days.filter((day) => day.publicKey !== null && day.publicKey === publicKey).length;
  return {
    ...chain,
    ...{ findings: found.list, counts: found.counts, days: days.length, lastDay: days.at(-1)?.day ?? null, publicKey },
    signed: { byPresentKey, byOtherKey: days.length - unsigned - byPresentKey, unsigned },
    waiting: await countWaiting(app, settledId),
  };
}

type CheckedChain = Pick<AuditVerification, 'links' | 'firstPosition' | 'lastPosition'>;

async function checkLinks(app: App, { from, onPage }: VerifyOptions, found: Findings): Promise<CheckedChain> {
  const expiredBefore = expiredBeforeOf(app);
  let before: Place | null = null;
  const chain: CheckedChain = { links: 0, firstPosition: null, lastPosition: null };
  for (let after = from === undefined ? 0 : from - 2; ; ) {
    const page = await listLinks(app, after);
    for (const link of page) {
      // The link before the first one that is checked is read for its hash only.
      if (from === undefined || link.position >= from) {
        const isGap = before !== null && before.position + 1 !== link.position;
        // Nothing deletes the oldest links where entries are kept for ever.
        if (before === null && link.position > 1 && from === undefined && expiredBefore === null)
          found.add('missing_links', { position: 1 });
        // The purge has deleted the oldest links since the page before was read.
        if (isGap && (await oldestPosition(app)) === link.position) before = null;
        checkLink(link, before, expiredBefore, found);
        chain.firstPosition ??= link.position;
        chain.links += 1;
      }
      before = link;
    }
    after = before?.position ?? after;
    onPage?.(chain.links);
    if (page.length < PAGE) return { ...chain, lastPosition: chain.links === 0 ? null : after };
  }
}

/** Entries from before this time may be gone; null = none may. */
function expiredBeforeOf({ env, clock }: App): Date | null {
  return env.auditLogRetentionDays === 0 ? null : addDays(clock.now(), -env.auditLogRetentionDays);
}

/** @param expiredBefore entries from before this time may be gone; null = none may */
function checkLink(link: Link, before: Place | null, expiredBefore: Date | null, found: Findings): void {
  const { position, entryId, day } = link;
  const at = { position, entryId, day };
  const isNext = before === null ? position === 1 : before.position + 1 === position;
  if (before !== null && !isNext) found.add('missing_links', { position: before.position + 1, day });
  if (isNext && linkHash(before?.hash ?? '', link.entryAt, link.contentHash) !== link.hash) found.add('changed_link', at);
  if (link.isMissing) {
    // The last link of those that the purge has deleted.
    if (before === null && position > 1) return;
    if (expiredBefore === null || link.entryAt >= expiredBefore) found.add('missing_entry', at);
  } else if (!isUnchanged(link)) found.add('changed_entry', at);
}

/** An entry loses its actor with the user, and nothing else. */
function isUnchanged(link: Link): boolean {
  const hasLostUser = link.userId === null && !link.hasUser;
  if (link.userId !== link.linkedUserId && !hasLostUser) return false;
  return (
    linkTime(link.createdAt).getTime() === link.entryAt.getTime() && contentHash(link, link.linkedUserId) === link.contentHash
  );
}

async function oldestPosition(app: App): Promise<number | null> {
  const [row] = await app.db.sql<{ position: number | null }>('SELECT min(position) AS position FROM audit_links');
  return row!.position;
}

function listLinks(app: App, after: number): Promise<Link[]> {
  return app.db.sql<Link>(
    `SELECT k.position, k.entry_id, k.user_id AS linked_user_id, k.entry_at, encode(k.content_hash, 'hex') AS content_hash,
       encode(k.hash, 'hex') AS hash, to_char(k.linked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, l.id IS NULL AS is_missing,
       u.id IS NOT NULL AS has_user, ${CONTENT_COLUMNS}
     FROM (SELECT * FROM audit_links WHERE position > $1::bigint ORDER BY position LIMIT ${PAGE}) k
     LEFT JOIN admin_audit_log l ON l.id = k.entry_id LEFT JOIN users u ON u.id = k.user_id ORDER BY k.position`,
    [after],
  );
}

/** Entries without a link among ids that no new entry can have, below those of the job or above every id that was given. */
async function findAddedEntries(app: App, settledId: number, found: Findings): Promise<void> {
  const [oldest] = await app.db.sql<{ id: number }>('SELECT coalesce(min(id), 0) AS id FROM admin_audit_log');
  for (let after = oldest!.id - 1; after < settledId; ) {
    const through = Math.min(await endOfRange(app.db, after), settledId);
    const added = await app.db.sql<{ id: number }>(
      `SELECT l.id FROM admin_audit_log l WHERE l.id > $1::bigint AND l.id <= $2::bigint AND ${WITHOUT_LINK} ORDER BY l.id`,
      [after, through],
    );
    for (const { id } of added) found.add('added_entry', { entryId: id });
    after = through;
  }
  const above = await app.db.sql<{ id: number }>(
    "SELECT id FROM admin_audit_log WHERE id > coalesce(pg_sequence_last_value('admin_audit_log_id_seq'), 0) ORDER BY id LIMIT 50",
  );
  for (const { id } of above) found.add('added_entry', { entryId: id });
}

function listDays(app: App): Promise<AuditDay[]> {
  return app.db.sql<AuditDay>(
    "SELECT to_char(day, 'YYYY-MM-DD') AS day, position, hash, public_key, signature, closed_at FROM audit_days ORDER BY audit_days.day",
  );
}

/** Days whose links have been deleted with their entries, when these were past their retention time, cannot be compared. */
async function checkDays(
  app: App,
  days: readonly AuditDay[],
  found: Findings,
  problem: 'changed_day' | 'missing_day',
): Promise<void> {
  const rows = await app.db.sql<{ position: number; hash: string }>(
    "SELECT position, encode(hash, 'hex') AS hash FROM audit_links WHERE position = ANY($1::bigint[])",
    [days.map(({ position }) => position)],
  );
  // After the hashes: a purge may delete links between both.
  const oldest = (await oldestPosition(app)) ?? 0;
  const expiredBefore = expiredBeforeOf(app)?.toISOString().slice(0, 10) ?? '';
  const hashes = new Map(rows.map(({ position, hash }) => [position, hash]));
  for (const day of days) {
    const at = { day: day.day, position: day.position };
    if (day.signature !== null && !isSignatureValid(day)) found.add('wrong_signature', at);
    const isPast = day.position < oldest && day.day < expiredBefore;
    if (!isPast && hashes.get(day.position) !== day.hash) found.add(problem, at);
  }
}

async function countWaiting(app: App, settledId: number): Promise<number> {
  const [row] = await app.db.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM admin_audit_log l
     WHERE l.id > $1::bigint AND NOT EXISTS (SELECT 1 FROM audit_links k WHERE k.entry_id = l.id AND k.entry_id > $1::bigint)`,
    [settledId],
  );
  return row!.count;
}
