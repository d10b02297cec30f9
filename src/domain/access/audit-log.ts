import { Readable } from 'node:stream';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { csvLine } from '../../core/csv.ts';
import type { Db } from '../../core/db/db.ts';
import { isDatabaseUnavailable } from '../../core/db/db-errors.ts';
import { countGrowingLog } from '../../core/db/growing-log.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import { storableText } from '../../core/db/storable-text.ts';
import type { Logger } from '../../core/log.ts';
import { createRedactor, isSecretKey, REDACTED, type Redactor } from '../../core/redaction.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditRow,
  countAuditRows,
  findAuditIdBefore,
  insertAuditEntries,
  listAuditActions,
  listAuditRows,
} from './audit-repo.ts';
import type { AuditPort } from './ports.ts';
import type { AuditEntry } from './types.ts';

/** Rows of an export that one statement reads; no transaction is open between two. */
const EXPORT_STEP = 1_000;
const MAX_AGENT = 200;
const ACTIONS_TRUST_MS = MINUTE_MS;

/** A page of the audit log, newest first, and how many rows there are (spec 01 section 14). */
export async function listAuditLog(
  app: App,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<{ items: AuditRow[]; total: number }> {
  const actions = await actionsLike(app, filter.action);
  const [items, total] = await Promise.all([listAuditRows(app.db, filter, actions, page), countLog(app, filter, actions)]);
  return { items, total };
}

/**
 * The same rows as CSV, read in parts while they are sent. The first part is read before the answer begins: its failure is an error
 * answer, a later one only a broken connection. @param limit maximum of rows
 */
export async function exportAuditLog(app: App, filter: AuditFilter, limit: number): Promise<Readable> {
  const parts = csvOf(app, filter, limit);
  const first = await parts.next();
  return Readable.from(startingWith(first, parts), { objectMode: false });
}

async function* startingWith(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** `audit_log_YYYYMMDD_HHMMSS.csv`, UTC. */
export function auditExportName(now: Date): string {
  const digits = now.toISOString().replace(/[-:]/g, '');
  return `audit_log_${digits.slice(0, 8)}_${digits.slice(9, 15)}.csv`;
}

/** @returns null = every action */
async function actionsLike(app: App, part: string | null | undefined): Promise<string[] | null> {
  if (!part) return null;
  const wanted = part.toLowerCase();
  const known = await app.cache.read('audit-actions', ACTIONS_TRUST_MS, () => listAuditActions(app.db));
  const found = known.filter((action) => action.toLowerCase().includes(wanted));
  if (found.length > 0) return found;
  // The first row of an action may be younger than the cached list.
  return (await listAuditActions(app.db)).filter((action) => action.toLowerCase().includes(wanted));
}

function countLog(app: App, filter: AuditFilter, actions: readonly string[] | null): Promise<number> {
  return countGrowingLog(app, `audit-total:${JSON.stringify([filter, actions])}`, {
    idBefore: (timestamp) => findAuditIdBefore(app.db, timestamp),
    count: (range) => countAuditRows(app.db, filter, actions, range),
  });
}

const COLUMNS = [
  ...['id', 'user_id', 'action', 'resource_type', 'resource_id', 'status', 'ip_address', 'request_method', 'request_path'],
  ...['created_at', 'user_agent', 'details'],
];

async function* csvOf(app: App, filter: AuditFilter, limit: number): AsyncGenerator<string, void> {
  const actions = await actionsLike(app, filter.action);
  let after: AuditPosition | null = null;
  let head = csvLine(COLUMNS);
  for (let remaining = limit; remaining > 0; ) {
    const rows: AuditRow[] = await listAuditRows(app.db, filter, actions, { limit: Math.min(remaining, EXPORT_STEP), after });
    yield head + rows.map((row) => csvLine(cellsOf(row))).join('');
    head = '';
    if (rows.length === 0) return;
    remaining -= rows.length;
    after = rows.at(-1)!;
    if (rows.length < EXPORT_STEP) return;
  }
}

function cellsOf(row: AuditRow): (string | number | null)[] {
  return [
    ...[row.id, row.userId, row.action, row.resourceType, row.resourceId, row.status, row.ipAddress],
    ...[row.requestMethod, row.requestPath, row.createdAt.toISOString(), row.userAgent?.slice(0, MAX_AGENT) ?? null],
    row.details === null ? null : JSON.stringify(row.details),
  ];
}

/** A row that no answer waits for is delayed this long, so that more rows share its statement and the flush of its commit. */
const LINGER_MS = 100;
const BATCH = 200;
/** Limit while the database is unavailable; then the oldest rows are dropped, so that memory stays bounded. */
const MAX_WAITING = 20_000;
const RETRY_MS = 1_000;
/** An answer waits no longer than this for a slow database; its row is still written. */
const MAX_ANSWER_WAIT_MS = 2_000;

interface Waiting {
  db: Db;
  entry: AuditEntry;
  /** An answer waits for the row. */
  isAwaited: boolean;
  /** Resolves the promise of the row; may be called more than once. */
  settle: () => void;
}

/**
 * Writes audit rows in batches in the background: one statement for all rows that are waiting (spec 01 H24). Rows of one process
 * keep their order. A row that the table refuses is dropped alone. While the database is unavailable or too slow the rows are retried
 * and no answer waits: the change is done or refused, and its answer must not depend on the log (spec 06 section 0).
 */
export class AuditWriter implements AuditPort {
  readonly #log: Logger;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Whether the timer only delays a row for a shared statement, so that it may be replaced by an earlier one. */
  #isLingering = false;
  #writing: Promise<void> | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  record(db: Db, entry: AuditEntry, isAwaited = false): Promise<void> {
    return new Promise((resolve) => {
      const deadline = isAwaited ? setTimeout(resolve, MAX_ANSWER_WAIT_MS).unref() : undefined;
      const settle = () => {
        clearTimeout(deadline);
        resolve();
      };
      this.#waiting.push({ db, entry, isAwaited, settle });
      if (this.#waiting.length > MAX_WAITING) this.#drop(this.#waiting.splice(0, BATCH), 'too many rows wait');
      // A row that an answer waits for is not delayed; it shares a statement with rows that arrive during the previous statement.
      this.#start(isAwaited || this.#waiting.length >= BATCH ? 0 : LINGER_MS);
    });
  }

  async flush(): Promise<void> {
    // A running statement may fail and put its rows back: they must still be written.
    while (this.#writing !== null) await this.#writing;
    await this.#begin(true);
  }

  /** Whether the rows that wait are written without delay. */
  #isUrgent(): boolean {
    return this.#waiting.length >= BATCH || this.#waiting.some((row) => row.isAwaited);
  }

  #start(delayMs: number): void {
    if (this.#writing !== null) return;
    if (this.#timer !== null) {
      if (!this.#isLingering || delayMs > 0) return;
      clearTimeout(this.#timer);
    }
    this.#isLingering = delayMs === LINGER_MS;
    // The timer must not inherit the open transaction of the first caller.
    runOutsideTransaction(() => {
      this.#timer = setTimeout(() => void this.#begin(false), delayMs);
      this.#timer.unref();
    });
  }

  /** One at a time, so that rows keep their order and no statement is running when the database is closed. */
  #begin(isLast: boolean): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#writing = this.#drain(isLast).then((isUnavailable) => {
      this.#writing = null;
      if (this.#waiting.length > 0) this.#start(isUnavailable ? RETRY_MS : LINGER_MS);
    });
    return this.#writing;
  }

  /**
   * Writes one batch, then more while a batch is full or an answer waits for a row.
   * @param isLast rows that cannot be written now are dropped, because the service stops
   * @returns whether it stopped because the database is unavailable
   */
  async #drain(isLast: boolean): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const { db } = this.#waiting[0]!;
      const other = this.#waiting.findIndex((row) => row.db !== db);
      const batch = this.#waiting.splice(0, Math.min(BATCH, other < 0 ? BATCH : other));
      try {
        await this.#write(db, batch);
      } catch (error) {
        // Any failure: the rows stay in memory and are written later; the last time they are logged.
        this.#waiting.unshift(...batch);
        if (isLast) {
          // All of them: with a locked table the stop would wait for one time-out per batch.
          this.#drop(this.#waiting.splice(0), 'the database is unavailable', error);
          return true;
        }
        for (const row of this.#waiting) row.settle();
        this.#log.warn({ err: error, rows: this.#waiting.length }, 'audit rows wait for the database');
        return true;
      }
      if (!isLast && !this.#isUrgent()) return false;
    }
    return false;
  }

  /**
   * @param batch afterwards has the rows that are still to be written
   * @throws errors that mean that the database is unavailable
   */
  async #write(db: Db, batch: Waiting[]): Promise<void> {
    try {
      await insertAuditEntries(
        db,
        batch.map((row) => row.entry),
      );
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (batch.length === 1) return this.#drop(batch, 'the table refuses it', error);
      // One row made the statement fail: each row is written by a separate statement.
      for (; batch.length > 0; batch.shift()) await this.#write(db, batch.slice(0, 1));
      return;
    }
    for (const row of batch) row.settle();
  }

  #drop(rows: readonly Waiting[], reason: string, error?: unknown): void {
    this.#log.error(
      { err: error, rows: rows.length, actions: rows.slice(0, 5).map(({ entry }) => entry.action), reason },
      'AUDIT ROWS LOST',
    );
    for (const row of rows) row.settle();
  }
}

/** Longest text of one field and longest JSON of the whole; an audit row shows what was done, it is not a backup. */
const MAX_TEXT = 2_000;
const MAX_DETAILS = 16_384;
/** Parts that may be left out of details that are too long, the least informative first. */
const OPTIONAL_PARTS = ['request_body', 'query_params', 'before', 'after'] as const;
const SECRET_NAME = /(?:secret|private|access|signing|encryption|session|hmac)_?key$|_pass$|^pass$|_code_verifier$/i;

const secretSettings: ReadonlySet<string> = new Set(secretKeys);
const redactor: Redactor = createRedactor();
const registered = new Set<string>();

/**
 * A copy for the audit log (spec 01 H7): redacts values under a secret's name, the `value` next to a `key` that names a secret setting,
 * every value of a secret setting, and texts in the form of a token; cuts long texts and limits the whole to 16 KiB.
 */
export function auditDetails(app: App, details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  registerSecrets(app);
  const plain = redactor.value(details) as Record<string, unknown>;
  const clean = scrub(plain) as Record<string, unknown>;
  for (const part of OPTIONAL_PARTS) {
    const { length } = JSON.stringify(clean);
    if (length <= MAX_DETAILS) break;
    if (part in clean) clean[part] = `[left out: ${JSON.stringify(clean[part])?.length ?? 0} characters]`;
  }
  return clean;
}

/** Secrets change at run time; the pattern of them is rebuilt only for a new one. */
function registerSecrets(app: App): void {
  for (const key of secretKeys) {
    const value = app.settings.get(key);
    if (typeof value !== 'string' || registered.has(value)) continue;
    registered.add(value);
    redactor.register([value]);
  }
}

function scrub(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(scrub);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value);
  const { key } = value as { key?: unknown };
  const namesSecret = typeof key === 'string' && isSecretName(key);
  return Object.fromEntries(
    entries.map(([name, item]) => {
      const isSecret = isSecretName(name) || (namesSecret && name !== 'key');
      return [cleanText(name), isSecret && item !== null && item !== '' ? REDACTED : scrub(item)];
    }),
  );
}

function isSecretName(name: string): boolean {
  return isSecretKey(name) || SECRET_NAME.test(name) || secretSettings.has(name.toUpperCase());
}

/** The database refuses U+0000 and half a surrogate pair in JSON. */
function cleanText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… [${text.length} characters]` : text;
  return redactor.text(storableText(short));
}

/** What a command of the operator changed. */
interface CommandFacts {
  /** The command with its words, without the texts of its options. */
  command: string;
  /** What an administrator would need for the same. */
  permission: string;
  resourceId: string;
  before: unknown;
  after: unknown;
}

/** Adds the row of an operator's command to the audit log, in the transaction of the change: what was done and not recorded does not exist. */
export function recordCommand(t: App, actorName: string, facts: CommandFacts): Promise<void> {
  return recordStep(t, actorName, { ...facts, method: 'CLI' });
}

/** The same of what a user or a job did to an account. @param facts.method what stands in the row's `request_method` */
export async function recordStep(t: App, actorName: string, facts: CommandFacts & { method: 'CLI' | 'STEP' }): Promise<void> {
  const { command, permission, resourceId, before, after, method } = facts;
  await insertAuditEntries(t.db, [
    {
      ...{ userId: null, actorName, action: permission, resourceType: permission.split(':', 1)[0]!, resourceId },
      details: auditDetails(t, { command, before, after }),
      ...{ ipAddress: null, userAgent: null, status: 'success', requestMethod: method, requestPath: command },
      at: t.clock.now(),
    },
  ]);
}
