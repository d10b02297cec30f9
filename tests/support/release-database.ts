/** The database of a kept dump (tests/releases), and what is compared of it. */
import type pg from 'pg';
import { onDatabase } from './test-database.ts';

/**
 * Restores the dump. The service on it lives at the time of the dump, by the clock of the sandbox, so that it does not matter how old the dump is;
 * the queue of jobs has the time of the database, and what waits there is due.
 */
export async function restoreRelease(
  url: string,
  dump: string,
  options: { dumpedAt: string; webhookUrl: string },
): Promise<void> {
  await onDatabase(url, (client) => client.query(dump));
  await onDatabase(url, async (client) => {
    const offsetMs = Date.parse(options.dumpedAt) - Date.now();
    await client.query(
      `INSERT INTO service_state (key, value) VALUES ('sandbox_clock', $1)
       ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
      [JSON.stringify({ offsetMs })],
    );
    await client.query(
      `UPDATE jobs.job SET created_on = created_on - $1::interval, start_after = least(now(), start_after - $1::interval),
         keep_until = keep_until - $1::interval, started_on = started_on - $1::interval WHERE state < 'completed'`,
      [`${offsetMs} milliseconds`],
    );
    await client.query('UPDATE webhooks SET url = $1', [options.webhookUrl]);
    await client.query('UPDATE webhook_deliveries SET next_retry_at = $1 WHERE next_retry_at > $1', [options.dumpedAt]);
  });
}

/** What the SQL of a running release uses: columns with their types, functions with parameters and answers. */
export async function readCatalog(client: pg.Client) {
  const columns = await client.query<{ name: string; type: string; is_required: boolean }>(
    `SELECT table_name || '.' || column_name AS name, udt_name AS type,
       is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AS is_required
     FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1`,
  );
  const functions = await client.query<{ text: string }>(
    `SELECT p.proname || '(' || pg_get_function_arguments(p.oid) || ') ' || pg_get_function_result(p.oid) AS text
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = 'public' AND p.prokind = 'f' AND pg_get_function_result(p.oid) <> 'trigger' ORDER BY 1`,
  );
  const textOf = ({ name, type }: { name: string; type: string }) => `${name} ${type}`;
  return {
    columns: columns.rows.map(textOf),
    /** Those of `columns` that each new row must name. */
    required: columns.rows.filter((row) => row.is_required).map(textOf),
    functions: functions.rows.map(({ text }) => text),
  };
}

/** Fields that time or the questions themselves change. */
const CHANGING = new Set([
  ...['last_activity', 'last_used_at', 'last_used_ip', 'last_triggered_at', 'failure_count', 'success_count'],
  // What is left of a term, and the address of the page of an invoice.
  ...['days_left', 'hours_left', 'minutes_left', 'time_left_display'],
]);

/**
 * An answer without what changes: fields of that kind, and entries of users whose balances the load has changed. Entries that have a key, as settings,
 * become fields, since a later release has more of them.
 */
export function comparableAnswer(body: unknown, loaded: ReadonlySet<number>): unknown {
  if (isKeyed(body)) return comparableAnswer(Object.fromEntries(body.map((entry) => [entry.key, entry])), loaded);
  if (Array.isArray(body)) return body.filter((one) => !isLoaded(one, loaded)).map((one) => comparableAnswer(one, loaded));
  if (typeof body !== 'object' || body === null) return body;
  const fields = Object.entries(body).filter(([name]) => !CHANGING.has(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, comparableAnswer(value, loaded)]));
}

const isLoaded = (entry: unknown, loaded: ReadonlySet<number>): boolean =>
  typeof entry === 'object' && entry !== null && 'balance_kopeks' in entry && 'id' in entry && loaded.has(entry.id as number);

function isKeyed(body: unknown): body is { key: string }[] {
  return (
    Array.isArray(body) && body.length > 0 && body.every((entry) => typeof entry === 'object' && typeof entry?.key === 'string')
  );
}
