import { camelCase, snakeCase } from '../../../core/camel-case.ts';
import { allColumns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import type { Landing, LandingContent, LandingMethod, NewLanding } from './types.ts';

const LANDING = allColumns('LandingPage');
type LandingRow = RowOf<typeof LANDING>;

/** JSON columns that may be null. */
const NULLABLE_JSON: ReadonlySet<string> = new Set<keyof LandingContent>([
  ...(['subtitle', 'footerText', 'metaTitle', 'metaDescription', 'discountBadgeText'] as const),
  ...(['discountOverrides', 'backgroundConfig'] as const),
]);

/** The keys of stored payment methods are in snake case. */
function renameKeys(value: object, rename: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), item]));
}

function toLanding(row: LandingRow): Landing {
  const methods = row.paymentMethods.map((method) => renameKeys(method, camelCase));
  return { ...row, paymentMethods: methods as unknown as LandingMethod[] };
}

const first = (rows: LandingRow[]): Landing | null => (rows[0] ? toLanding(rows[0]) : null);

/** Payment methods with the keys under which pages and audit rows store them: `method_id`, `display_name` … */
export function storedMethods(methods: readonly LandingMethod[]): Record<string, unknown>[] {
  return methods.map((method) => renameKeys(method, snakeCase));
}

/** As data of Prisma Client. Null leaves a JSON column empty; it is not stored as JSON's own null. */
function toData(content: Partial<LandingContent>): object {
  const { paymentMethods, ...fields } = content;
  const values = Object.entries(fields).map(([field, value]) => [
    field,
    value === null && NULLABLE_JSON.has(field) ? Prisma.DbNull : value,
  ]);
  return { ...Object.fromEntries(values), ...(paymentMethods && { paymentMethods: storedMethods(paymentMethods) }) };
}

export async function findBySlug(db: Db, slug: string): Promise<Landing | null> {
  const row = await db.prisma.landingPage.findUnique({ where: { slug } });
  return row && toLanding(row as LandingRow);
}

export async function findLanding(db: Db, id: number): Promise<Landing | null> {
  const row = isRowId(id) ? await db.prisma.landingPage.findUnique({ where: { id } }) : null;
  return row && toLanding(row as LandingRow);
}

export async function lockLanding(db: Db, id: number): Promise<Landing | null> {
  return first(await db.sql<LandingRow>(`SELECT ${LANDING.of()} FROM landing_pages WHERE id = $1::bigint FOR UPDATE`, [id]));
}

/** How many purchases of a page are in each state; states without purchases are absent. */
export type PurchaseCounts = Readonly<Record<string, number>>;

/** All pages in their order, with the purchases of each by state, in one statement. */
export async function listLandings(db: Db): Promise<(Landing & { purchases: PurchaseCounts })[]> {
  const rows = await db.sql<LandingRow & { counts: PurchaseCounts | null }>(
    `SELECT ${LANDING.of('l')}, c.counts FROM landing_pages l LEFT JOIN (
       SELECT landing_id, jsonb_object_agg(status, total) AS counts FROM (
         SELECT landing_id, status, count(*)::int AS total FROM guest_purchases WHERE landing_id IS NOT NULL GROUP BY landing_id, status
       ) s GROUP BY landing_id) c ON c.landing_id = l.id
     ORDER BY l.display_order, l.id`,
  );
  return rows.map(({ counts, ...row }) => ({ ...toLanding(row), purchases: counts ?? {} }));
}

/** Adds a page behind all others. @returns null when the slug is taken */
export async function insertLanding(db: Db, content: NewLanding, now: Date): Promise<Landing | null> {
  const { _max: last } = await db.prisma.landingPage.aggregate({ _max: { displayOrder: true } });
  const displayOrder = (last.displayOrder ?? -1) + 1;
  const data = { ...toData(content as LandingContent), displayOrder, createdAt: now, updatedAt: now };
  const rows = await db.prisma.landingPage.createManyAndReturn({
    data: [data as Prisma.LandingPageCreateManyInput],
    skipDuplicates: true,
  });
  return first(rows as LandingRow[]);
}

/** Is this slug another page's? */
export async function isSlugTaken(db: Db, slug: string, exceptId: number): Promise<boolean> {
  return (await db.prisma.landingPage.count({ where: { slug, id: { not: exceptId } } })) > 0;
}

/** Writes the given fields of a locked page. */
export async function updateLanding(db: Db, id: number, changes: Partial<LandingContent>, now: Date): Promise<Landing> {
  const data = { ...toData(changes), updatedAt: now };
  return toLanding((await db.prisma.landingPage.update({ where: { id }, data })) as LandingRow);
}

/** @returns the page as it is now; null when there is none */
export async function flipActive(db: Db, id: number, now: Date): Promise<Landing | null> {
  return first(
    await db.sql<LandingRow>(
      `UPDATE landing_pages SET is_active = NOT is_active, updated_at = $2::timestamptz WHERE id = $1::bigint
       RETURNING ${LANDING.of()}`,
      [id, now],
    ),
  );
}

export async function deleteLanding(db: Db, id: number): Promise<void> {
  await db.prisma.landingPage.delete({ where: { id }, select: { id: true } });
}

/** Ids in their order. */
export async function listOrder(db: Db): Promise<number[]> {
  const order = [{ displayOrder: 'asc' }, { id: 'asc' }] as const;
  const rows = await db.prisma.landingPage.findMany({ select: { id: true }, orderBy: [...order] });
  return rows.map((row) => row.id);
}

/** Display order = first place in the list; unknown ids are ignored, pages that are not named keep theirs. */
export async function orderLandings(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE landing_pages l SET display_order = p.place, updated_at = $2::timestamptz
     FROM (SELECT id, min(place)::int - 1 AS place FROM unnest($1::bigint[]) WITH ORDINALITY AS given (id, place) GROUP BY id) p
     WHERE l.id = p.id RETURNING l.id`,
    [ids, now],
  );
}
