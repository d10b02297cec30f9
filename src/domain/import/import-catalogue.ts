import { parkOrphanPairs } from './import-row-rules.ts';
import { applyRule, type ImportContext, type ImportStep, sourceTable, transfer } from './import-step.ts';

const TARIFFS = sourceTable('tariffs');
const SQUADS = sourceTable('server_squads');
const GROUPS = sourceTable('promo_groups');

/** Rules for tariffs, servers and the discounts of promo groups (spec 07 sections 3, 4.3 and 7). */
export const catalogueRulesStep: ImportStep = {
  name: 'rules of the catalogue',
  async prepare(context) {
    await repairTariffs(context);
    await repairPairs(context, 'tariffs', 'period_prices', { lowestKey: 1 });
    await repairPairs(context, 'tariffs', 'traffic_topup_packages', { lowestKey: 0 });
    await repairPairs(context, 'promo_groups', 'period_discounts', { lowestKey: 1 });
    await clampPeriodDiscounts(context);
    await applyRule(context, {
      ...{ code: 'unique_duplicate', table: 'promo_groups', detail: `jsonb_build_object('name', f.name)` },
      find: `SELECT id, name FROM (SELECT id, name, row_number() OVER (PARTITION BY left(name, 255) ORDER BY id) AS place FROM ${GROUPS}) r WHERE place > 1`,
      set: `name = left(s.name, 255 - length(' (' || s.id || ')')) || ' (' || s.id || ')'`,
    });
    await applyRule(context, {
      ...{ code: 'unique_duplicate', table: 'server_squads', isParked: true },
      find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY squad_uuid ORDER BY id) AS place FROM ${SQUADS}) r WHERE place > 1`,
    });
    const group = ['promo_group_id', 'promo_groups'] as const;
    await parkOrphanPairs(context, 'tariff_promo_groups', 'tariff_promo_group_orphan', [['tariff_id', 'tariffs'], group]);
    await parkOrphanPairs(context, 'server_squad_promo_groups', 'server_squad_promo_group_orphan', [
      ['server_squad_id', 'server_squads'],
      group,
    ]);
  },
};

/** Columns whose values our checks refuse, each with what is refused and what stands for it; `t` is the row. */
const TARIFF_BOUNDS: readonly (readonly [column: string, isRefused: string, value: string])[] = [
  ['device_limit', 't.device_limit IS NULL OR t.device_limit < 1', '1'],
  ['traffic_limit_gb', 't.traffic_limit_gb < 0', '0'],
  ...['device_price_kopeks', 'daily_price_kopeks', 'price_per_day_kopeks', 'traffic_price_per_gb_kopeks'].map(
    (column) => [column, `t.${column} < 0`, '0'] as const,
  ),
  [
    'external_squad_uuid',
    `trim(t.external_squad_uuid) <> '' AND t.external_squad_uuid !~* '^\\s*[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\s*$'`,
    'NULL',
  ],
  [
    'traffic_reset_mode',
    `trim(t.traffic_reset_mode) <> '' AND upper(trim(t.traffic_reset_mode)) NOT IN ('DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING', 'NO_RESET')`,
    'NULL',
  ],
];

async function repairTariffs(context: ImportContext): Promise<void> {
  const originals = TARIFF_BOUNDS.map(([column, isRefused]) => `'${column}', CASE WHEN ${isRefused} THEN t.${column} END`);
  const conditions = TARIFF_BOUNDS.map(([, isRefused]) => `(${isRefused})`);
  const repaired = TARIFF_BOUNDS.map(([column, isRefused, value]) => {
    const ofRow = isRefused.replaceAll('t.', 's.');
    return `${column} = CASE WHEN ${ofRow} THEN ${value} ELSE s.${column} END`;
  });
  await applyRule(context, {
    ...{ code: 'tariff_bounds', table: 'tariffs', set: repaired.join(', '), parks: 'f.originals', detail: 'f.originals' },
    find: `SELECT id, jsonb_strip_nulls(jsonb_build_object(${originals.join(', ')})) AS originals FROM ${TARIFFS} t WHERE ${conditions.join(' OR ')}`,
  });
  await applyRule(context, {
    ...{ code: 'trial_tariff_second', table: 'tariffs', set: 'is_trial_available = false' },
    find: `SELECT id FROM (SELECT id, row_number() OVER (ORDER BY display_order NULLS LAST, id) AS place FROM ${TARIFFS} WHERE is_trial_available) r WHERE place > 1`,
  });
  await applyRule(context, {
    ...{ code: 'squads_invalid', table: 'tariffs', set: `allowed_squads = '[]'` },
    parks: `jsonb_build_object('allowed_squads', s.allowed_squads)`,
    find: `SELECT id FROM ${TARIFFS} WHERE ${isNoTextArray('allowed_squads')}`,
  });
  await applyRule(context, {
    ...{ code: 'json_pair_invalid', table: 'tariffs', set: `server_traffic_limits = '{}'` },
    parks: `jsonb_build_object('server_traffic_limits', s.server_traffic_limits)`,
    detail: `jsonb_build_object('column', 'server_traffic_limits')`,
    find: `SELECT id FROM ${TARIFFS} WHERE json_typeof(server_traffic_limits) <> 'object'`,
  });
}

/** Whether a JSON column holds something, and that is no array of texts. */
export const isNoTextArray = (column: string): string =>
  `CASE json_typeof(${column}) WHEN 'array' THEN EXISTS (SELECT 1 FROM json_array_elements(${column}) e WHERE json_typeof(e.value) <> 'string')
     ELSE ${column} IS NOT NULL END`;

/**
 * Objects of whole numbers by whole numbers: other pairs are dropped, and the original is kept aside (spec 07 section 3). A number may
 * be a text in the source; here it is a number.
 */
async function repairPairs(
  context: ImportContext,
  table: string,
  column: string,
  { lowestKey }: { lowestKey: number },
): Promise<void> {
  // Of a repeated key jsonb keeps the last value, as the source's reader does.
  const pairs = `jsonb_each(CASE json_typeof(${column}) WHEN 'object' THEN ${column}::jsonb ELSE '{}' END) p`;
  const [key, value] = ['(trim(p.key))', `(trim(p.value #>> '{}'))`];
  const isWhole = `(CASE WHEN ${key} ~ '^\\d{1,9}$' AND jsonb_typeof(p.value) IN ('number', 'string') AND ${value} ~ '^\\d{1,12}$'
    THEN ${key}::bigint >= ${lowestKey} ELSE false END)`;
  await applyRule(context, {
    ...{ code: 'json_pair_invalid', table },
    find: `SELECT id FROM ${sourceTable(table)} WHERE ${column} IS NOT NULL
      AND (json_typeof(${column}) <> 'object' OR EXISTS (SELECT 1 FROM ${pairs} WHERE NOT ${isWhole}))`,
    parks: `jsonb_build_object('${column}', s.${column})`,
    detail: `jsonb_build_object('column', '${column}')`,
  });
  await context.sql(
    `UPDATE ${sourceTable(table)} SET ${column} = (SELECT coalesce(jsonb_object_agg(${key}::bigint, ${value}::bigint), '{}') FROM ${pairs} WHERE ${isWhole})::json
     WHERE ${column} IS NOT NULL`,
  );
}

/** After the pairs are whole numbers; one issue a value. */
async function clampPeriodDiscounts(context: ImportContext): Promise<void> {
  await applyRule(context, {
    ...{ code: 'percent_out_of_range', table: 'promo_groups', detail: `jsonb_build_object('period_days', f.days)` },
    find: `SELECT g.id, p.key AS days FROM ${GROUPS} g CROSS JOIN LATERAL jsonb_each_text(g.period_discounts::jsonb) p WHERE p.value::bigint > 100`,
  });
  await context.sql(
    `UPDATE ${GROUPS} SET period_discounts = (SELECT jsonb_object_agg(p.key, least(p.value::bigint, 100)) FROM jsonb_each_text(period_discounts::jsonb) p)::json
     WHERE period_discounts::text <> '{}'`,
  );
}

/** Tariffs and servers as they will be here; after their rules. */
export const catalogueRowsStep: ImportStep = {
  name: 'catalogue',
  async prepare(context) {
    await transfer(context, {
      table: 'tariffs',
      columns: {
        show_in_gift: 'coalesce(s.show_in_gift, true)',
        traffic_reset_mode: `nullif(upper(trim(s.traffic_reset_mode)), '')`,
        external_squad_uuid: `nullif(trim(s.external_squad_uuid), '')::uuid`,
      },
    });
    await transfer(context, { table: 'server_squads' });
    await transfer(context, { table: 'tariff_promo_groups' });
    await transfer(context, { table: 'server_squad_promo_groups' });
  },
};
