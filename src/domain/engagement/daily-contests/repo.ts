import { allColumns, plainRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { ContestRound, ContestTemplate, NamedRound } from './types.ts';

const TEMPLATE = allColumns('ContestTemplate');

/** The columns that administrators change. */
export type TemplateValues = Omit<ContestTemplate, 'id' | 'slug' | 'createdAt' | 'updatedAt'>;

export function listTemplates(db: Db, enabledOnly: boolean): Promise<ContestTemplate[]> {
  return db.sql<ContestTemplate>(
    `SELECT ${TEMPLATE.of()} FROM contest_templates WHERE is_enabled OR NOT $1::boolean ORDER BY id`,
    [enabledOnly],
  );
}

export async function findTemplate(db: Db, id: number): Promise<ContestTemplate | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.contestTemplate.findUnique({ where: { id } });
  return row && plainRow('ContestTemplate', row);
}

/** Locks the template: rounds of it are started one after another. */
export async function lockTemplate(db: Db, id: number): Promise<ContestTemplate | null> {
  const [row] = await db.sql<ContestTemplate>(
    `SELECT ${TEMPLATE.of()} FROM contest_templates WHERE id = $1::bigint FOR NO KEY UPDATE`,
    [id],
  );
  return row ?? null;
}

export async function updateTemplate(db: Db, id: number, values: Partial<TemplateValues>, now: Date): Promise<ContestTemplate> {
  const { payload, ...others } = values;
  const data = { ...others, ...(payload === undefined ? {} : { payload: payload as object }), updatedAt: now };
  return plainRow('ContestTemplate', await db.prisma.contestTemplate.update({ where: { id }, data }));
}

const ROUND = allColumns('ContestRound');
const NAMED_ROUND = `SELECT ${ROUND.of('r')}, t.slug AS template_slug, t.name AS template_name
  FROM contest_rounds r JOIN contest_templates t ON t.id = r.template_id`;
/** $1 is the time. */
const LIVE = "r.status = 'active' AND r.starts_at <= $1::timestamptz AND r.ends_at >= $1::timestamptz";

export type NewRound = Pick<ContestRound, 'templateId' | 'startsAt' | 'endsAt' | 'payload' | 'isScheduled'> &
  Pick<ContestRound, 'maxWinners' | 'attemptsPerUser'>;

/** @returns null when the schedule has started a round in this slot already */
export async function insertRound(db: Db, round: NewRound, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO contest_rounds (template_id, starts_at, ends_at, payload, is_scheduled, max_winners, attempts_per_user, created_at, updated_at)
     VALUES ($1::int, $2::timestamptz, $3::timestamptz, $4::jsonb, $5::boolean, $6::int, $7::int, $8::timestamptz, $8::timestamptz)
     ON CONFLICT (template_id, starts_at) WHERE is_scheduled DO NOTHING RETURNING id`,
    [
      ...[round.templateId, round.startsAt, round.endsAt, JSON.stringify(round.payload), round.isScheduled],
      ...[round.maxWinners, round.attemptsPerUser, now],
    ],
  );
  return row?.id ?? null;
}

export async function findRound(db: Db, id: number): Promise<NamedRound | null> {
  const [row] = await db.sql<NamedRound>(`${NAMED_ROUND} WHERE r.id = $1::bigint`, [id]);
  return row ?? null;
}

/** The rounds of a template that are played at a given time, locked. */
export async function lockLiveRounds(db: Db, templateId: number, now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT r.id FROM contest_rounds r WHERE ${LIVE} AND r.template_id = $2::int ORDER BY r.id FOR NO KEY UPDATE`,
    [now, templateId],
  );
  return rows.map(({ id }) => id);
}

/** @returns the ids that were active */
export async function finishRounds(db: Db, ids: readonly number[], now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE contest_rounds SET status = 'finished', updated_at = $2::timestamptz
     WHERE id = ANY($1::bigint[]) AND status = 'active' RETURNING id`,
    [ids, now],
  );
  return rows.map(({ id }) => id);
}

/**
 * Finishes rounds that are over and those that have all their winners (spec 04 section 10.1).
 * @returns how many
 */
export async function closeRounds(db: Db, now: Date): Promise<number> {
  const rows = await db.sql(
    `UPDATE contest_rounds SET status = 'finished', updated_at = $1::timestamptz
     WHERE status = 'active' AND (ends_at < $1::timestamptz OR winners_count >= max_winners) RETURNING id`,
    [now],
  );
  return rows.length;
}

/** Ids of enabled templates without a round that is played now. */
export async function listIdleTemplates(db: Db, now: Date): Promise<ContestTemplate[]> {
  return db.sql<ContestTemplate>(
    `SELECT ${TEMPLATE.of('t')} FROM contest_templates t WHERE t.is_enabled AND t.schedule_times IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM contest_rounds r WHERE r.template_id = t.id AND ${LIVE}) ORDER BY t.id`,
    [now],
  );
}

export interface RoundFilter {
  status: 'active' | 'finished' | 'any';
  templateId: number | null;
}

/** `active` = those that are played now, the earliest first; else by the stored status, the latest first. */
export async function listRounds(
  db: Db,
  { status, templateId }: RoundFilter,
  page: { limit: number; offset: number },
  now: Date,
): Promise<{ items: NamedRound[]; total: number }> {
  const isActive = status === 'active';
  const condition = isActive ? LIVE : "$1::timestamptz IS NOT NULL AND ($2::text = 'any' OR r.status = $2::text)";
  const where = `WHERE $2::text IS NOT NULL AND ${condition} AND ($3::bigint IS NULL OR r.template_id = $3::bigint)`;
  const values = [now, status, templateId];
  const items = await db.sql<NamedRound>(
    `${NAMED_ROUND} ${where} ORDER BY r.starts_at ${isActive ? 'ASC' : 'DESC'}, r.id LIMIT $4::int OFFSET $5::bigint`,
    [...values, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(`SELECT count(*)::int AS n FROM contest_rounds r ${where}`, values);
  return { items, total: count!.n };
}
