import type { MigrationTarget, SqlFile } from './migrate.ts';

/** SQLSTATE of CREATE OR REPLACE FUNCTION with another return type or other parameter names: the old function must be dropped first. */
const CANNOT_REPLACE = '42P13';

interface AppliedTopic {
  checksum: string;
  /** What the topic created, as DROP names it: `ROUTINE public.f(integer)`, `TRIGGER t ON public.users`. */
  objects: string[];
}

/**
 * Applies the topics whose text changed, in the order of their names, and drops the functions and triggers that an earlier text created
 * and no topic creates any more (a removed one, a removed topic, a function with its former parameters). Objects that the topics never
 * created are left alone. Runs in the caller's transaction.
 * @param all applies the unchanged ones too
 * @returns names of the topics applied now
 */
export async function applyTopics(
  target: MigrationTarget,
  topics: readonly SqlFile[],
  { all }: { all: boolean },
): Promise<string[]> {
  await target.run(`CREATE TABLE IF NOT EXISTS schema_sql (
    name varchar(100) PRIMARY KEY, checksum varchar(64) NOT NULL, objects text[] NOT NULL DEFAULT '{}',
    applied_at timestamptz(3) NOT NULL DEFAULT now())`);
  const before = await readApplied(target);
  const stale = topics.filter((topic) => all || before.get(topic.name)?.checksum !== topic.checksum);
  const names = new Set(topics.map((topic) => topic.name));
  const removed = [...before.keys()].filter((name) => !names.has(name));
  if (stale.length === 0 && removed.length === 0) return [];
  for (const topic of stale) await applyOne(target, topic, before.get(topic.name)?.objects ?? []);
  await target.query('DELETE FROM schema_sql WHERE name = ANY($1::text[])', [removed]);
  const current = objectsOf(await readApplied(target));
  await drop(
    target,
    [...objectsOf(before)].filter((object) => !current.has(object)),
  );
  return stale.map((topic) => topic.name);
}

/** Names of the topics whose text differs from the database's. */
export async function findStaleTopics(
  query: (sql: string) => Promise<Record<string, unknown>[]>,
  topics: readonly SqlFile[],
): Promise<string[]> {
  const applied = new Map((await query('SELECT name, checksum FROM schema_sql')).map((row) => [row.name, row.checksum]));
  return topics.filter((topic) => applied.get(topic.name) !== topic.checksum).map((topic) => topic.name);
}

const objectsOf = (topics: ReadonlyMap<string, AppliedTopic>) => new Set([...topics.values()].flatMap((topic) => topic.objects));

async function readApplied(target: MigrationTarget): Promise<Map<string, AppliedTopic>> {
  const rows = await target.query('SELECT name, checksum, objects FROM schema_sql');
  return new Map(rows.map((row) => [String(row.name), { checksum: String(row.checksum), objects: row.objects as string[] }]));
}

/** @param existing what the topic created until now */
async function applyOne(target: MigrationTarget, topic: SqlFile, existing: readonly string[]): Promise<void> {
  try {
    await target.run('SAVEPOINT topic');
    try {
      await target.run(topic.sql);
    } catch (error) {
      if ((error as { code?: unknown }).code !== CANNOT_REPLACE) throw error;
      await target.run('ROLLBACK TO SAVEPOINT topic');
      await drop(target, existing);
      await target.run(topic.sql);
    }
    await record(target, topic);
    await target.run('RELEASE SAVEPOINT topic');
  } catch (error) {
    throw new Error(`Topic ${topic.name} of prisma/sql failed`, { cause: error });
  }
}

/** The savepoint is a transaction id of its own: the rows of the catalog that carry it are what the topic has created or replaced. */
async function record(target: MigrationTarget, topic: SqlFile): Promise<void> {
  await target.query(
    `INSERT INTO schema_sql (name, checksum) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET checksum = EXCLUDED.checksum, applied_at = now()`,
    [topic.name, topic.checksum],
  );
  await target.query(
    `UPDATE schema_sql s SET objects = ARRAY(
       SELECT format('ROUTINE %I.%I(%s)', p.pronamespace::regnamespace, p.proname, oidvectortypes(p.proargtypes)) FROM pg_proc p
       WHERE p.xmin = s.xmin AND p.pronamespace = 'public'::regnamespace
       UNION ALL
       SELECT format('TRIGGER %I ON %I.%I', t.tgname, c.relnamespace::regnamespace, c.relname)
       FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE t.xmin = s.xmin AND NOT t.tgisinternal AND t.tgparentid = 0
       ORDER BY 1)
     WHERE s.name = $1`,
    [topic.name],
  );
}

/** Triggers first, because they need their functions. */
async function drop(target: MigrationTarget, objects: readonly string[]): Promise<void> {
  const isTrigger = (object: string) => object.startsWith('TRIGGER ');
  for (const object of [...objects.filter(isTrigger), ...objects.filter((one) => !isTrigger(one))]) {
    await target.run(`DROP ${object.replace(' ', ' IF EXISTS ')}`);
  }
}
