import { Readable } from 'node:stream';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { countGrowingLog } from '../../core/db/growing-log.ts';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditRow,
  countAuditRows,
  findAuditIdBefore,
  listAuditActions,
  listAuditRows,
} from './audit-repo.ts';

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
    idBefore: (moment) => findAuditIdBefore(app.db, moment),
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

function cellsOf(row: AuditRow): string[] {
  const cell = (value: string | number | null) => (value === null ? '' : String(value));
  return [
    cell(row.id),
    cell(row.userId),
    row.action,
    cell(row.resourceType),
    cell(row.resourceId),
    row.status,
    cell(row.ipAddress),
    cell(row.requestMethod),
    escapeFormula(cell(row.requestPath)),
    row.createdAt.toISOString(),
    escapeFormula(cell(row.userAgent).slice(0, MAX_AGENT)),
    escapeFormula(row.details === null ? '' : JSON.stringify(row.details)),
  ];
}

/** Otherwise a spreadsheet would run such a cell as a formula. */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')}\r\n`;
}
