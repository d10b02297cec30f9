import type { Db } from '../../../core/db/db.ts';
import type {
  Landing,
  LandingBackground,
  LandingChanges,
  LandingContent,
  LandingFeature,
  LandingMethod,
  LocaleTexts,
} from './types.ts';

interface LandingRow {
  id: number;
  slug: string;
  isActive: boolean;
  title: LocaleTexts;
  subtitle: LocaleTexts | null;
  footerText: LocaleTexts | null;
  metaTitle: LocaleTexts | null;
  metaDescription: LocaleTexts | null;
  discountBadgeText: LocaleTexts | null;
  features: LandingFeature[];
  allowedTariffIds: number[];
  allowedPeriods: Record<string, number[]>;
  paymentMethods: LandingMethod[];
  giftEnabled: boolean;
  customCss: string | null;
  displayOrder: number;
  discountPercent: number | null;
  discountOverrides: Record<string, number> | null;
  discountStartsAt: Date | null;
  discountEndsAt: Date | null;
  backgroundConfig: LandingBackground | null;
  createdAt: Date;
  updatedAt: Date;
}

function toLanding(row: LandingRow): Landing {
  return {
    id: row.id,
    slug: row.slug,
    isActive: row.isActive,
    title: row.title,
    subtitle: row.subtitle,
    footerText: row.footerText,
    metaTitle: row.metaTitle,
    metaDescription: row.metaDescription,
    discountBadgeText: row.discountBadgeText,
    features: row.features,
    allowedTariffIds: row.allowedTariffIds,
    allowedPeriods: row.allowedPeriods,
    paymentMethods: row.paymentMethods,
    giftEnabled: row.giftEnabled,
    customCss: row.customCss,
    displayOrder: row.displayOrder,
    discountPercent: row.discountPercent,
    discountOverrides: row.discountOverrides,
    discountStartsAt: row.discountStartsAt,
    discountEndsAt: row.discountEndsAt,
    backgroundConfig: row.backgroundConfig,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

const first = (rows: LandingRow[]): Landing | null => (rows[0] ? toLanding(rows[0]) : null);

export async function findBySlug(db: Db, slug: string): Promise<Landing | null> {
  return first(await db.sql<LandingRow>('SELECT * FROM landing_pages WHERE slug = $1', [slug]));
}

export async function findLanding(db: Db, id: number): Promise<Landing | null> {
  return first(await db.sql<LandingRow>('SELECT * FROM landing_pages WHERE id = $1::bigint', [id]));
}

export async function lockLanding(db: Db, id: number): Promise<Landing | null> {
  return first(await db.sql<LandingRow>('SELECT * FROM landing_pages WHERE id = $1::bigint FOR UPDATE', [id]));
}

/** How many purchases of a page stand in each state. */
export type PurchaseCounts = Readonly<Record<string, number>>;

/** All pages in their order, with the purchases of each by state, in one statement. */
export async function listLandings(db: Db): Promise<{ landing: Landing; purchases: PurchaseCounts }[]> {
  const rows = await db.sql<LandingRow & { counts: PurchaseCounts | null }>(
    `SELECT l.*, c.counts FROM landing_pages l LEFT JOIN (
       SELECT landing_id, jsonb_object_agg(status, total) AS counts FROM (
         SELECT landing_id, status, count(*)::int AS total FROM guest_purchases WHERE landing_id IS NOT NULL GROUP BY landing_id, status
       ) s GROUP BY landing_id) c ON c.landing_id = l.id
     ORDER BY l.display_order, l.id`,
  );
  return rows.map((row) => ({ landing: toLanding(row), purchases: row.counts ?? {} }));
}

const COLUMNS: Readonly<Record<keyof LandingContent, string>> = {
  slug: 'slug:text',
  isActive: 'is_active:boolean',
  title: 'title:jsonb',
  subtitle: 'subtitle:jsonb',
  footerText: 'footer_text:jsonb',
  metaTitle: 'meta_title:jsonb',
  metaDescription: 'meta_description:jsonb',
  features: 'features:jsonb',
  allowedTariffIds: 'allowed_tariff_ids:jsonb',
  allowedPeriods: 'allowed_periods:jsonb',
  paymentMethods: 'payment_methods:jsonb',
  giftEnabled: 'gift_enabled:boolean',
  customCss: 'custom_css:text',
  discountPercent: 'discount_percent:int',
  discountOverrides: 'discount_overrides:jsonb',
  discountStartsAt: 'discount_starts_at:timestamptz',
  discountEndsAt: 'discount_ends_at:timestamptz',
  discountBadgeText: 'discount_badge_text:jsonb',
  backgroundConfig: 'background_config:jsonb',
};

function assignments(changes: LandingChanges, values: unknown[]): { names: string[]; placeholders: string[] } {
  const names: string[] = [];
  const placeholders: string[] = [];
  for (const field of Object.keys(COLUMNS) as (keyof LandingContent)[]) {
    const value = changes[field];
    if (value === undefined) continue;
    const [name, cast] = COLUMNS[field].split(':') as [string, string];
    values.push(cast === 'jsonb' && value !== null ? JSON.stringify(value) : value);
    names.push(name);
    placeholders.push(`$${values.length}::${cast}`);
  }
  return { names, placeholders };
}

/** Adds a page behind all others. @returns null when the slug is taken */
export async function insertLanding(db: Db, content: LandingContent, now: Date): Promise<Landing | null> {
  const values: unknown[] = [now];
  const { names, placeholders } = assignments(content, values);
  return first(
    await db.sql<LandingRow>(
      `INSERT INTO landing_pages (${names.join(', ')}, display_order, created_at, updated_at)
       SELECT ${placeholders.join(', ')}, (SELECT coalesce(max(display_order) + 1, 0) FROM landing_pages), $1::timestamptz, $1::timestamptz
       ON CONFLICT (slug) DO NOTHING RETURNING *`,
      values,
    ),
  );
}

/** Is this slug another page's? */
export async function isSlugTaken(db: Db, slug: string, exceptId: number): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM landing_pages WHERE slug = $1 AND id <> $2::int', [slug, exceptId]);
  return rows.length > 0;
}

/** Writes the given fields of a locked page. */
export async function updateLanding(db: Db, id: number, changes: LandingChanges, now: Date): Promise<Landing> {
  const values: unknown[] = [id, now];
  const { names, placeholders } = assignments(changes, values);
  const sets = names.map((name, index) => `${name} = ${placeholders[index]}, `).join('');
  return first(
    await db.sql<LandingRow>(
      `UPDATE landing_pages SET ${sets}updated_at = $2::timestamptz WHERE id = $1::int RETURNING *`,
      values,
    ),
  )!;
}

/** @returns the page as it is now; null when there is none */
export async function flipActive(db: Db, id: number, now: Date): Promise<Landing | null> {
  return first(
    await db.sql<LandingRow>(
      'UPDATE landing_pages SET is_active = NOT is_active, updated_at = $2::timestamptz WHERE id = $1::bigint RETURNING *',
      [id, now],
    ),
  );
}

export async function deleteLanding(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM landing_pages WHERE id = $1::int RETURNING id', [id]);
}

/** Ids in their order. */
export async function listOrder(db: Db): Promise<number[]> {
  const rows = await db.sql<{ id: number }>('SELECT id FROM landing_pages ORDER BY display_order, id');
  return rows.map((row) => row.id);
}

/** Display order = first place in the list; unknown ids are ignored, pages that are not named stay where they are. */
export async function orderLandings(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE landing_pages l SET display_order = p.place, updated_at = $2::timestamptz
     FROM (SELECT id, min(place)::int - 1 AS place FROM unnest($1::bigint[]) WITH ORDINALITY AS given (id, place) GROUP BY id) p
     WHERE l.id = p.id RETURNING l.id`,
    [ids, now],
  );
}
