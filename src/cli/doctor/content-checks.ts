import type { App, SettingsReader } from '../../core/app.ts';
import { DAY_MS, MINUTE_MS, systemClock } from '../../core/clock.ts';
import type { Database } from '../../core/db/database.ts';
import { sqlState } from '../../core/db/db-errors.ts';
import { COMMAND_LINE } from '../../core/process-env.ts';
import { backupFolder, listBackupNames } from '../../domain/backups/backup-folder.ts';
import { readBackupHealth } from '../../domain/backups/backup-tasks.ts';
import { readLedgerHealth } from '../../domain/ledger/check-ledger.ts';
import { readLastOutage } from '../../domain/payments/heartbeat.ts';
import { readOpenCases } from '../../domain/payments/resolve-case.ts';
import { type OutageReason, readOutage } from '../../domain/provisioning/panel-access.ts';
import { IMPORT_UNSEEN } from '../../domain/provisioning/panel-user.ts';
import { listStaleExternalSquads } from '../../domain/provisioning/push-subscription.ts';
import { readReceiptHealth } from '../../domain/receipts/receipt-queue.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const STATEMENT_CANCELLED = '57014';
const LATE_MS = 10 * MINUTE_MS;
/** With more transactions the doctor reads what the last check found. */
const PROVED_AT_ONCE = 200_000;

/** Which administrators and tokens can sign in. */
export async function checkAccess({ db }: Pick<App, 'db'>): Promise<Finding[]> {
  const [facts] = await db.sql<{ admins: number; tokens: number }>(
    `SELECT (SELECT count(DISTINCT ur.user_id) FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id
        WHERE r.level >= 999 AND r.is_active AND ur.is_active AND (ur.expires_at IS NULL OR ur.expires_at > now()))::int AS admins,
      (SELECT count(*) FROM web_api_tokens WHERE is_active AND (expires_at IS NULL OR expires_at > now()))::int AS tokens`,
  );
  const { admins, tokens } = facts!;
  return [
    admins === 0
      ? warning('administrators', 'there is no superadmin', `${COMMAND_LINE} admin create you@example.com`)
      : ok('administrators', `${admins} superadmin${admins === 1 ? '' : 's'}`),
    tokens === 0
      ? warning('API tokens', 'there is no active one', `${COMMAND_LINE} token create NAME`)
      : ok('API tokens', `${tokens} active`),
  ];
}

/** Whether jobs run, and succeed. */
export async function checkJobs(database: Database): Promise<Finding> {
  const [table] = await database.db.sql<{ found: string | null }>("SELECT to_regclass('jobs.job')::text AS found");
  if (!table?.found)
    return warning('jobs', 'the job tables are not installed', `${COMMAND_LINE} migrate (or start the service, which does it).`);
  const rows = await database.db.sql<{ name: string; failed: number; late: number }>(
    `SELECT name, count(*) FILTER (WHERE state = 'failed')::int AS failed,
       count(*) FILTER (WHERE state IN ('created', 'retry') AND start_after < now() - $1::int * interval '1 millisecond')::int AS late
     FROM jobs.job WHERE name NOT LIKE '\\_\\_pgboss%' GROUP BY name ORDER BY name`,
    [LATE_MS],
  );
  const list = (key: 'failed' | 'late') => rows.filter((row) => row[key] > 0).map((row) => `${row.name} (${row[key]})`);
  const [failed, late] = [list('failed'), list('late')];
  if (late.length > 0) {
    return warning(
      'jobs',
      `waiting for more than 10 minutes: ${late.join(', ')}`,
      'Start the service; if it runs, look in its log for the name of the queue.',
    );
  }
  if (failed.length > 0) {
    return warning(
      'jobs',
      `given up after all attempts: ${failed.join(', ')}`,
      'The log says why, under the name of the queue. Provisioning is repeated by itself; the rest is kept in jobs.job for a person.',
    );
  }
  return ok('jobs', 'none failed, none late');
}

/** Whether the ledger is balanced and is checked in time. A small ledger is checked now; of a large one the stored result is shown. */
export async function checkMoney({ db }: Database): Promise<Finding> {
  const health = await readLedgerHealth({ db, clock: systemClock });
  const proved = health.highestTransactionId <= PROVED_AT_ONCE ? await findProblems(db) : null;
  const found = proved ?? health.problemKinds;
  if (found.length > 0) return problem('ledger', found.join(', '), `${COMMAND_LINE} ledger check lists every difference.`);
  if (health.isLate || (proved === null && health.checkedAt === null)) {
    const last = health.checkedAt === null ? 'no check has ended' : `the last check ended at ${health.checkedAt.toISOString()}`;
    const advice = `Start the service, which checks every hour, or run ${COMMAND_LINE} ledger check`;
    return warning('ledger', proved === null ? last : `clean, but ${last}`, advice);
  }
  return ok('ledger', proved === null ? `clean at ${health.checkedAt!.toISOString()}` : 'clean');
}

/** The kinds of problems of the whole ledger; null when they cannot be found within DATABASE_STATEMENT_TIMEOUT_MS. */
async function findProblems(db: Database['db']): Promise<string[] | null> {
  try {
    const rows = await db.sql<{ problem: string }>(
      'SELECT DISTINCT problem FROM (SELECT problem FROM ledger_check() LIMIT 100) AS found',
    );
    return rows.map((row) => row.problem);
  } catch (error) {
    if (sqlState(error) !== STATEMENT_CANCELLED) throw error;
    return null;
  }
}

/** What finds payments whose callbacks were lost, and whether some may have been (spec 10 F2). */
export async function checkMissedCallbacks({ db }: Pick<App, 'db'>, settings: SettingsReader): Promise<Finding> {
  const isOn = settings.get('PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED');
  const outage = await readLastOutage({ db });
  const last = outage === null ? 'there was none' : `the last one was from ${outage.from} to ${outage.to} (${outage.reason})`;
  return ok(
    'lost callbacks',
    `the periodic check is ${isOn ? 'on' : 'off'} (PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED); invoices are asked for at their end and after an outage; ${last}`,
  );
}

/** Payments that wait for a decision of an administrator (03a section 0.5). */
export async function checkPaymentCases({ db }: Database): Promise<Finding> {
  const { open, oldest } = await readOpenCases({ db });
  if (open === 0) return ok('payment cases', 'none is open');
  const detail = `${open} ${open === 1 ? 'payment needs' : 'payments need'} a decision, the oldest since ${oldest!.toISOString()}`;
  return warning('payment cases', detail, `${COMMAND_LINE} cases list`);
}

/** What keeps subscriptions from being provisioned as sold: an outage of the panel, squads that it no longer has (08 P3, P12). */
export async function checkProvisioning({ db }: Database): Promise<Finding[]> {
  const outage = await readOutage({ db });
  const stale = await listStaleExternalSquads(db);
  const [unseen] = await db.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM subscriptions WHERE provision_state = 'failed' AND provision_error = $1`,
    [IMPORT_UNSEEN],
  );
  const names = stale.map(({ tariffId, tariffName, squadUuid }) => `tariff ${tariffId} "${tariffName}": ${squadUuid}`);
  return [
    outage === null
      ? ok('provisioning', 'no outage of the panel is recorded')
      : warning('provisioning', OUTAGES[outage], 'Correct the settings VPNPANEL_*; waiting pushes go within a minute.'),
    names.length === 0
      ? ok('external squads', 'none is known to be missing at the panel')
      : warning(
          'external squads',
          `missing at the panel: ${names.join(', ')}`,
          'Choose another external squad in the tariff, or none.',
        ),
    ...(unseen!.count === 0
      ? []
      : [problem('imported people', `${unseen!.count} pushes wait: the panel knows nobody of the import`, UNSEEN_NEXT)]),
  ];
}

const UNSEEN_NEXT = `Set VPNPANEL_API_URL and VPNPANEL_API_KEY to the panel of the former bot. Where its users are lost: ${COMMAND_LINE} import check-panel --create-unknown`;

const OUTAGES: Record<OutageReason, string> = {
  refused_key: 'the panel refuses the key; pushes wait',
  not_configured: 'pushes were given up because the panel is not configured',
  unavailable: 'pushes were given up because the panel does not answer',
};

/** Webhooks whose endpoints no longer answer. */
export async function checkWebhooks(database: Database): Promise<Finding> {
  const rows = await database.db.sql<{ id: number; name: string; isActive: boolean }>(
    'SELECT id, name, is_active FROM webhooks WHERE failing_since IS NOT NULL ORDER BY id LIMIT 20',
  );
  if (rows.length === 0) return ok('webhooks', 'none is failing');
  const list = (isActive: boolean) => rows.filter((row) => row.isActive === isActive).map((row) => `${row.id} "${row.name}"`);
  const [disabled, failing] = [list(false), list(true)];
  const parts = [
    ...(disabled.length > 0 ? [`switched off after failures: ${disabled.join(', ')}`] : []),
    ...(failing.length > 0 ? [`failing now: ${failing.join(', ')}`] : []),
  ];
  return warning(
    'webhooks',
    parts.join('\n'),
    'GET /webhooks/{id}/deliveries shows the answers; PATCH /webhooks/{id} with {"is_active": true} switches one on again.',
  );
}

/** Tax receipts that wait: none may be later than the 9th of the month after its payment (spec 03a section 15). */
export async function checkReceipts({ db }: Pick<App, 'db'>, settings: SettingsReader): Promise<Finding> {
  const isEnabled = settings.get('NALOGO_ENABLED');
  if (isEnabled && !(settings.get('NALOGO_INN') && settings.get('NALOGO_PASSWORD')))
    return warning(
      'receipts',
      'on, but without an account: none is made',
      'Set NALOGO_INN and NALOGO_PASSWORD, or NALOGO_ENABLED=false.',
    );
  const { waiting, needPerson, oldestAt, isLate } = await readReceiptHealth({ db, clock: systemClock });
  if (waiting === 0) return ok('receipts', isEnabled ? 'none is waiting' : 'off');
  const detail = `${waiting} waiting${oldestAt === null ? '' : `, the oldest for a payment of ${oldestAt.toISOString()}`}`;
  if (isLate) return problem('receipts', `${detail}: its last day has passed`, 'Create it in the app of the tax service today.');
  if (needPerson > 0)
    return warning(
      'receipts',
      `${detail}; ${needPerson} of them refused or made twice`,
      'docs/operations.md, Tax receipts, says what to do.',
    );
  if (!isEnabled) return warning('receipts', detail, 'NALOGO_ENABLED is off: switch it on until they are made.');
  const isOld = oldestAt !== null && systemClock.now().getTime() - oldestAt.getTime() > DAY_MS;
  return isOld
    ? warning('receipts', detail, 'Look in the log for "receipts wait"; NALOGO_PROXY_URL may be needed.')
    : ok('receipts', detail);
}

/** Whether there is a recent backup in the folder, and whether the last drill could restore one (spec 06 section 7). */
export async function checkBackups({ db, env, settings }: Pick<App, 'db' | 'env' | 'settings'>): Promise<Finding[]> {
  const { last, drill } = await readBackupHealth({ db, clock: systemClock });
  const lateSeconds = (settings.get('BACKUP_INTERVAL_HOURS') + 2) * 3_600;
  // Without any, the first one is still to come: its failure is announced.
  const isLate = settings.get('BACKUP_AUTO_ENABLED') && last !== null && last.ageSeconds > lateSeconds;
  const newest = last === null ? 'there is none' : `the newest is of ${last.at.toISOString()}`;
  // A folder that cannot be read shows none.
  const isSeen = last === null || (await listBackupNames({ env, settings }).catch((): string[] => [])).includes(last.name);
  const drilled =
    drill === null
      ? []
      : [
          drill.isOk
            ? ok('restore drill', drill.message)
            : problem('restore drill', drill.message, `${COMMAND_LINE} backup drill`),
        ];
  const found = isLate
    ? warning('backups', newest, `${COMMAND_LINE} backup create`)
    : isSeen
      ? ok('backups', newest)
      : warning(
          'backups',
          `${newest}, but ${last!.name} is not seen in ${backupFolder({ env, settings })}`,
          'All instances need the same folder (BACKUP_LOCATION), which this one can read, unless somebody deleted the file.',
        );
  return [found, ...drilled];
}
