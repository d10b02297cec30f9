import type { BackupScope } from './types.ts';

/**
 * What becomes of each table (spec 06 section 7): every table of the schema is backed up except the ones named here. A table that a later
 * release adds is part of the backup without any change.
 */

/** State of the schema, which each database has by itself, and the tasks of this installation: neither backed up nor changed by a restore. */
const LOCAL = new Set(['schema_migrations', 'schema_sql', 'backup_tasks']);

/** Rate counters, readings of the panel that last for minutes, and what the ledger check derives: not backed up, and emptied by a restore. */
const DERIVED = new Set([
  ...['rate_limit_windows', 'panel_traffic_fills', 'panel_traffic_users', 'panel_user_details'],
  ...['ledger_checked_balances', 'ledger_problems'],
]);

const SESSIONS = 'cabinet_refresh_tokens';

/** Rows that exist stay as they are, whatever an archive says (ledger, audit, domain events). */
const APPEND_ONLY = new Set(['ledger_accounts', 'ledger_entries', 'transactions', 'admin_audit_log', 'domain_events']);

/**
 * Rows of `service_state` that belong to the running installation and not to its data: rounds of schedules, leases, the sandbox, and the
 * progress of the ledger check, which refers to transactions of one database server.
 */
const LOCAL_STATE =
  "(key LIKE 'schedule:%' OR key LIKE 'sandbox%' OR key LIKE 'backups:%' OR key IN ('receipts:worker', 'ledger:check'))";
/** Secrets that the service made for itself, and the session at the tax service. */
const SECRET_STATE = "(value ->> 'secret' IS NOT NULL OR key LIKE 'receipts:%')";

export type TableFate = 'local' | 'derived' | 'sessions' | 'append-only' | 'ordinary';

export function fateOf(table: string): TableFate {
  if (LOCAL.has(table)) return 'local';
  if (DERIVED.has(table)) return 'derived';
  if (table === SESSIONS) return 'sessions';
  return APPEND_ONLY.has(table) ? 'append-only' : 'ordinary';
}

/** Whether a backup of this scope has the table. */
export function isBackedUp(table: string, scope: Pick<BackupScope, 'sessions'>): boolean {
  const fate = fateOf(table);
  return fate === 'ordinary' || fate === 'append-only' || (fate === 'sessions' && scope.sessions);
}

/**
 * The rows of a table that a backup has, as a condition: those are also the only ones that a restore removes.
 * @param secretKeys keys of settings whose values are secret
 */
export function rowsOf(table: string, { secrets }: Pick<BackupScope, 'secrets'>, secretKeys: readonly string[]): string {
  switch (table) {
    case 'service_state':
      return secrets ? `NOT ${LOCAL_STATE}` : `NOT ${LOCAL_STATE} AND NOT ${SECRET_STATE}`;
    case 'short_lived_entries':
      // Saved carts. The others are proofs and tokens of minutes, which must not come back to life.
      return "key LIKE 'user_cart:%'";
    case 'system_settings':
      return secrets ? 'true' : `key NOT IN (${secretKeys.map((key) => `'${key}'`).join(', ')})`;
    default:
      return 'true';
  }
}
