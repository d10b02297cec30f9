import type { App } from '../../core/app.ts';
import type { LongSession } from '../../core/db/database.ts';
import type { Db, SqlRunner } from '../../core/db/db.ts';
import { parseConfigAdmins } from '../access/permissions.ts';
import { quote } from '../backups/row-format.ts';
import { type AppliedDelta, applyDelta, PREVIOUS_SCHEMA, USED_SCHEMA } from './apply-delta.ts';
import { applyImport, preparedTables, requireUnused } from './apply-import.ts';
import { checkSource, SEVERAL_SUBSCRIPTIONS_SINCE } from './check-source.ts';
import { type ComparedSum, compareSums } from './compare-sums.ts';
import { type ImportWatch, requireGoing } from './import-progress.ts';
import { ImportRefused, type ImportSource, rowsOf } from './import-source.ts';
import { type ImportContext, type ImportStep, NEXT_SCHEMA, nextTable, sourceTable } from './import-step.ts';
import { importSteps, PREPARED_TABLES } from './import-steps.ts';
import { CONTRA_COLUMNS } from './import-transactions.ts';
import { type LoadedTable, loadSource, SOURCE_SCHEMA } from './load-source.ts';
import { type LostSubscription, type ReportedDeviation, readDeviations, readLost } from './report-import.ts';
import { hasHome, NEWEST_REVISION, recogniseSource, tablesLeftOut } from './source-revision.ts';
import { requireLocks, requireSmall } from './target-limits.ts';

/** What the operator chooses; the same in every pass (spec 07 section 9). */
interface ImportOptions {
  /** Parks the technical logs of the source instead of leaving them out. */
  withLogs: boolean;
  /** Of several live subscriptions of a user: the one that ends last stays, or the import is refused. */
  subscriptions: 'refuse' | 'keep-latest';
  /** Subscriptions that a provider charges by itself are kept aside, or the import is refused. */
  providerSubscriptions: 'refuse' | 'leave';
  /** A balance below zero becomes 0 and is listed, or the import is refused. */
  negative: 'list' | 'refuse';
  /** A backup that leaves out tables was accepted. */
  acceptIncomplete: boolean;
}

export interface RunOptions extends ImportOptions, ImportWatch {
  /** Rows a second at most while the source is read; null = as fast as it goes. */
  throttle: number | null;
  /** The whole transformation with its report; nothing reaches the tables of the service. */
  isDryRun: boolean;
  /** A first pass must have been made; otherwise it is the first, or the next one. */
  isDelta: boolean;
  /** Begins again, whatever an interrupted run has loaded. */
  restarts: boolean;
  /** For the report. */
  serviceVersion: string;
}

export interface ImportResult {
  /** Null: nothing was imported. */
  runId: number | null;
  /** 1 for the first; each later one takes over what changed since. */
  pass: number;
  snapshotAt: Date;
  revision: string;
  /** Of the source, of the service, and the newest revision of a source that its rules know. */
  versions: { releases: string; service: string; rules: string };
  /** Tables that an incomplete source leaves out or has no row of. */
  leftOut: string[];
  /** What became of the rows of each table of the source: `read` is the sum of the others. */
  source: Record<string, RowFates>;
  /** Rows of each table of ours. */
  tables: Record<string, number>;
  /** Deviations by code. */
  issues: Record<string, number>;
  /** Counts and kopeks of the source before any rule, and of what it has become. */
  sums: ComparedSum[];
  /** What a later pass has changed, by table of ours; null for the first. */
  changes: AppliedDelta['changes'] | null;
}

/** What a pass has done, or a dry run would do, with what a person has to look at. */
export interface FinishedPass extends ImportResult {
  deviations: ReportedDeviation[];
  lost: LostSubscription[];
}

/** `merged`: another row stands for it. `dropped`: a technical log, or a session that has ended. */
interface RowFates {
  read: number;
  kept: number;
  merged: number;
  parked: number;
  dropped: number;
  /** Of rows that were kept: how often columns without a place were kept aside. */
  parkedColumns: number;
}

/**
 * Imports a database of the existing product into an empty service (spec 07). Three parts: the source is loaded as it is; each step prepares rows of ours
 * and commits; all of them become the service's in one transaction. A process that is ended at any time leaves the service
 * empty, and the same command goes on where the last step ended.
 * @throws ImportRefused; ImportStopped when the signal ends it
 */
export async function runImport(
  app: Pick<App, 'db' | 'env' | 'random' | 'settings' | 'clock'>,
  source: ImportSource,
  options: RunOptions,
): Promise<FinishedPass> {
  const done = await app.db.long!.alone((session) => runAlone(app, session, source, options));
  if (done) return done.result;
  throw new ImportRefused('import_running', 'Another import, a backup or a restore is running. Wait until it has ended.');
}

/** The state of a pass that is not finished. */
interface OpenPass {
  number: number;
  snapshotAt: Date;
  cursor: { loaded: LoadedTable[]; steps: string[] };
}

async function runAlone(
  app: Pick<App, 'db' | 'env' | 'random' | 'settings' | 'clock'>,
  session: LongSession,
  source: ImportSource,
  options: RunOptions,
): Promise<FinishedPass> {
  const revision = await recogniseSource(source);
  if (app.db.long!.isEmbedded) await requireSmall(source);
  const earlier = await session.snapshot((sql) => readLastPass(sql));
  await session.snapshot(requireLocks);
  if (!options.isDryRun) await session.snapshot((sql) => requirePossible(sql, earlier, options));
  const number = (earlier?.pass ?? 0) + 1;
  const lastIds = await source.lastIds();
  let pass = options.restarts ? null : await session.snapshot((sql) => readOpenPass(sql, number, source, options));
  if (pass === null) {
    await requireChoices(source, revision.number, options);
    const begun: OpenPass = { number, snapshotAt: source.snapshotAt, cursor: { loaded: [], steps: [] } };
    pass = begun;
    await session.write(async (sql, copyIn) => {
      const { withLogs, throttle } = options;
      begun.cursor.loaded = await loadSource(sql, copyIn, source, { revision, withLogs, throttle, watch: options });
      await makeTables(sql);
      await storePass(sql, source, { pass: begun, revision: revision.text, options, now: app.clock.now() });
    });
  }
  const { cursor, snapshotAt } = pass;
  const steps = importSteps(app.random);
  for (const step of steps) {
    if (cursor.steps.includes(step.name)) continue;
    requireGoing(options.signal);
    options.progress(step.name);
    options.position({ phase: 'preparing', part: step.name, rows: 0, done: cursor.steps.length, all: steps.length });
    await session.write(async (sql) => {
      const context: ImportContext = {
        ...{ sql, snapshotAt, firstSnapshotAt: earlier?.firstSnapshotAt ?? snapshotAt, revision: revision.number },
        adminEmails: [...parseConfigAdmins('', app.settings.get('ADMIN_EMAILS')).emails],
        hasClientWords: app.env.interfaceWords !== null,
      };
      await prepare(step, context);
      cursor.steps.push(step.name);
      await sql(`UPDATE ${nextTable('import_runs')} SET state = 'preparing', cursor = $1::jsonb`, [JSON.stringify(cursor)]);
    });
  }
  requireGoing(options.signal);
  if (!options.isDryRun) options.progress('moving the rows into the service');
  const { isDryRun, serviceVersion } = options;
  const facts: PassFacts = {
    ...{ pass: number, snapshotAt, revision: revision.text, leftOut: tablesLeftOut(source) },
    versions: { releases: revision.releases, service: serviceVersion, rules: NEWEST_REVISION },
  };
  // Each in a transaction of its own: the one that moves the rows has thousands of locks already.
  const drop = (schema: string) => session.write((sql) => sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));
  await drop(USED_SCHEMA);
  const finished = await session.write((sql) =>
    finishPass(sql, cursor.loaded, facts, { now: app.clock.now(), isDryRun, lastIds, watch: options }),
  );
  for (const schema of [isDryRun ? NEXT_SCHEMA : USED_SCHEMA, SOURCE_SCHEMA]) await drop(schema);
  return finished;
}

type PassFacts = Pick<ImportResult, 'pass' | 'snapshotAt' | 'revision' | 'versions' | 'leftOut'>;

interface FinishOptions {
  now: Date;
  isDryRun: boolean;
  lastIds: ReadonlyMap<string, number>;
  watch: ImportWatch;
}

async function finishPass(
  sql: SqlRunner,
  loaded: readonly LoadedTable[],
  facts: PassFacts,
  { now, isDryRun, lastIds, watch }: FinishOptions,
): Promise<FinishedPass> {
  const { pass: number, snapshotAt } = facts;
  const source = await countFates(sql, loaded);
  const lost = await readLost(sql, nextTable('import_issues'));
  if (isDryRun) {
    const prepared = [...(await preparedTables(sql))].filter(([name]) => !name.startsWith('import_'));
    const result = {
      ...facts,
      source,
      issues: await countIssues(sql),
      sums: await compareSums(sql, 'stored', 'prepared'),
      tables: Object.fromEntries(prepared),
    };
    const deviations = await readDeviations(sql, nextTable('import_issues'));
    return { ...result, lost, deviations, runId: null, changes: null };
  }
  await sql(`UPDATE ${nextTable('import_runs')} SET state = 'finished', cursor = '{}', finished_at = $1::timestamptz`, [now]);
  const isFirst = number === 1;
  const applied = isFirst
    ? { ...(await applyImport(sql, { snapshotAt, lastIds, watch })), changes: null }
    : await applyDelta(sql, { number, snapshotAt, lastIds, watch });
  const [issues, sums] = [await countIssues(sql), await compareSums(sql, 'stored', 'service')];
  const result: ImportResult = { ...applied, ...facts, source, issues, sums };
  await sql('UPDATE import_runs SET report = $2::jsonb WHERE id = $1::int RETURNING id', [applied.runId, JSON.stringify(result)]);
  if (!isFirst) await sql(`ALTER SCHEMA ${PREVIOUS_SCHEMA} RENAME TO ${USED_SCHEMA}`);
  const deviations = await readDeviations(sql, nextTable('import_issues'));
  await sql(`ALTER SCHEMA ${NEXT_SCHEMA} RENAME TO ${PREVIOUS_SCHEMA}`);
  return { ...result, lost, deviations };
}

interface LastPass {
  pass: number;
  options: ImportOptions;
  servedAt: Date | null;
  firstSnapshotAt: Date;
  users: number;
}

async function readLastPass(sql: SqlRunner): Promise<LastPass | null> {
  const [last] = await sql<LastPass>(
    `SELECT pass, options, served_at, (SELECT min(snapshot_at) FROM import_runs) AS first_snapshot_at, (report -> 'tables' ->> 'users')::int AS users FROM import_runs ORDER BY pass DESC LIMIT 1`,
  );
  return last ?? null;
}

/** Before anything is read: into a service that nobody uses, and by the options of the passes before. @throws ImportRefused */
async function requirePossible(sql: SqlRunner, earlier: LastPass | null, options: RunOptions): Promise<void> {
  if (earlier === null) {
    if (options.isDelta)
      throw new ImportRefused('no_earlier_pass', 'Nothing was imported into this service yet. Begin with import run.');
    await requireUnused(sql);
    return;
  }
  if (earlier.servedAt !== null)
    throw new ImportRefused(
      'target_changed',
      `The service was started at ${earlier.servedAt.toISOString()}, after the last pass. No pass can follow; import again into a new, empty database.`,
    );
  if (storedOptions(options) !== storedOptions(earlier.options))
    throw new ImportRefused('options_changed', 'The passes of an import have the same options. Give those of the first one.', {
      details: { options: earlier.options },
    });
  const [left] = await sql<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [`${PREVIOUS_SCHEMA}.users`]);
  const [rows] = left!.found ? await sql<{ users: number }>(`SELECT count(*) AS users FROM ${PREVIOUS_SCHEMA}.users`) : [];
  // They are written without a log, so that a server that crashed has emptied them.
  if (rows?.users !== earlier.users)
    throw new ImportRefused(
      'target_changed',
      'The rows that the last pass has prepared are lost, as after a crash of the database server. Import again into a new, empty database.',
    );
}

const storedOptions = ({ withLogs, subscriptions, providerSubscriptions, negative, acceptIncomplete }: ImportOptions): string =>
  JSON.stringify({ withLogs, subscriptions, providerSubscriptions, negative, acceptIncomplete });

/** What has to be chosen is refused before anything is loaded. Older revisions can hold none of it. */
async function requireChoices(source: ImportSource, revision: number, options: ImportOptions): Promise<void> {
  if (options.negative === 'refuse') await requireNoDebts(source);
  if (revision < SEVERAL_SUBSCRIPTIONS_SINCE) return;
  const chosen = new Set<string>();
  if (options.subscriptions === 'keep-latest') chosen.add('source_has_multiple_subscriptions');
  if (options.providerSubscriptions === 'leave') chosen.add('source_has_provider_subscriptions');
  const refusal = (await checkSource(source)).refusals.find(({ code }) => !chosen.has(code));
  if (refusal) throw refusal;
}

/** Ids that a refusal names. */
const NAMED = 20;

/** @throws ImportRefused `source_has_negative_balances` */
async function requireNoDebts(source: ImportSource): Promise<void> {
  let [users, kopeks] = [0, 0];
  const ids: number[] = [];
  for await (const content of source.contents())
    if (content.table.name === 'users')
      for await (const { id, balance_kopeks: balance } of rowsOf(content, ['id', 'balance_kopeks'])) {
        const debt = -Number(balance ?? 0);
        if (!(debt > 0)) continue;
        users += 1;
        kopeks += debt;
        if (ids.length < NAMED) ids.push(Number(id));
      }
  if (users === 0) return;
  throw new ImportRefused(
    'source_has_negative_balances',
    `${users} users have a balance below zero, ${kopeks} kopeks in all. Correct these balances in the bot, or leave --negative refuse out: they become 0 then, and are listed.`,
    { details: { users, kopeks, user_ids: ids } },
  );
}

/** Whether an import was interrupted, which the same command would go on with. */
export async function isUnderWay({ sql }: Pick<Db, 'sql'>): Promise<boolean> {
  const [schema] = await sql<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [`${NEXT_SCHEMA}.import_runs`]);
  return schema!.found;
}

async function prepare(step: ImportStep, context: ImportContext): Promise<void> {
  await context.sql("SET LOCAL TIME ZONE 'UTC'");
  // Tables of the source have no indexes: joins are by hash and sort, for which the server's default memory is small.
  await context.sql("SET LOCAL work_mem = '64MB'");
  await step.prepare(context);
}

/**
 * The pass that was interrupted, if it was of such a source.
 * @throws ImportRefused `options_changed`
 */
async function readOpenPass(
  sql: SqlRunner,
  number: number,
  source: ImportSource,
  options: ImportOptions,
): Promise<OpenPass | null> {
  if (!(await isUnderWay({ sql }))) return null;
  const [found] = await sql<Omit<OpenPass, 'number'> & { isSame: boolean }>(
    `SELECT snapshot_at, cursor, options = $3::jsonb AS is_same FROM ${nextTable('import_runs')} WHERE pass = $1::int AND source_kind = $2`,
    [number, source.kind, storedOptions(options)],
  );
  if (found && !found.isSame) {
    const what = 'The run that was interrupted had other options.';
    throw new ImportRefused('options_changed', `${what} Give the same ones, or begin again with --restart.`);
  }
  return found ? { number, snapshotAt: found.snapshotAt, cursor: found.cursor } : null;
}

interface NewPass {
  pass: OpenPass;
  revision: string;
  options: ImportOptions;
  now: Date;
}

async function storePass(sql: SqlRunner, { kind }: ImportSource, { pass, revision, options, now }: NewPass): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_runs')} (id, pass, state, source_kind, source_revision, snapshot_at, options, cursor, started_at)
     VALUES (0, $1::int, 'loading', $2, $3, $4::timestamptz, $5::jsonb, $6::jsonb, $7::timestamptz)`,
    [pass.number, kind, revision, pass.snapshotAt, storedOptions(options), JSON.stringify(pass.cursor), now],
  );
}

/** Tables for the prepared rows: those of the service with their types and checks, without keys. */
async function makeTables(sql: SqlRunner): Promise<void> {
  await sql(`DROP SCHEMA IF EXISTS ${NEXT_SCHEMA} CASCADE`);
  await sql(`CREATE SCHEMA ${NEXT_SCHEMA}`);
  for (const table of [...PREPARED_TABLES, 'import_runs', 'import_issues', 'import_parked', 'import_map'])
    await sql(`CREATE UNLOGGED TABLE ${nextTable(table)} (LIKE public.${quote(table)} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
  await sql(`INSERT INTO ${nextTable('import_map')} SELECT * FROM public.import_map`);
  for (const column of CONTRA_COLUMNS) await sql(`ALTER TABLE ${nextTable('transactions')} ADD COLUMN ${column}`);
}

async function countIssues(sql: SqlRunner): Promise<Record<string, number>> {
  const rows = await sql<{ code: string; rows: number }>(
    `SELECT code, count(*) AS rows FROM ${nextTable('import_issues')} GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ code, rows: count }) => [code, count]));
}

/** Rows that the rules left in the loaded source became ours; what they took out is parked or was merged. */
async function countFates(sql: SqlRunner, loaded: readonly LoadedTable[]): Promise<Record<string, RowFates>> {
  const parked = await sql<{ name: string; rows: number; columns: number }>(
    `SELECT source_table AS name, count(*) FILTER (WHERE is_whole) AS rows, count(*) FILTER (WHERE reason = 'column_unknown') AS columns
     FROM ${nextTable('import_parked')} GROUP BY 1`,
  );
  const parkedOf = new Map(parked.map(({ name, ...counts }) => [name, counts]));
  const dropped = await sql<{ name: string; rows: number }>(`SELECT source_table AS name, rows FROM ${sourceTable('~dropped')}`);
  const droppedOf = new Map(dropped.map(({ name, rows }) => [name, rows]));
  const fates: Record<string, RowFates> = {};
  for (const { name, rows: read, isDropped } of loaded) {
    const { rows, columns: parkedColumns } = parkedOf.get(name) ?? { rows: 0, columns: 0 };
    if (isDropped || !hasHome(name)) {
      fates[name] = { read, kept: 0, merged: 0, parked: isDropped ? 0 : read, dropped: isDropped ? read : 0, parkedColumns: 0 };
      continue;
    }
    const [left] = await sql<{ rows: number }>(
      `SELECT count(*) AS rows FROM ${sourceTable(name)} WHERE NOT ${MADE_HERE[name] ?? 'false'}`,
    );
    const kept = left!.rows;
    const dropped = droppedOf.get(name) ?? 0;
    fates[name] = { read, kept, merged: read - kept - rows - dropped, parked: rows, dropped, parkedColumns };
  }
  return fates;
}

/** Loaded rows that the rules have added, by table. */
const MADE_HERE: Readonly<Record<string, string>> = { user_promo_groups: "coalesce(assigned_by = 'import', false)" };
