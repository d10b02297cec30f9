import { BRANDING_KEYS } from '../content/branding/branding-values.ts';
import { definitionOf, isSettingKey } from '../settings/catalogue/catalogue.ts';
import { type ImportContext, type ImportStep, nextTable, sourceTable } from './import-step.ts';
import { translateSetting } from './source-settings.ts';

/** What becomes of one stored setting of the source. */
type Fate =
  | { kind: 'setting'; key: string; text: string | null }
  | { kind: 'layout'; name: string; document: string }
  | { kind: 'cabinet'; part: CabinetPart; document: Readonly<Record<string, unknown>> }
  | {
      kind: 'parked';
      code: 'setting_unknown' | 'setting_refused' | 'setting_value_invalid' | 'unique_duplicate' | 'identifier_too_long';
    };

type CabinetPart = 'layout' | 'styles';

/** Two documents of the source that are one here. */
const CABINET_PARTS: Readonly<Record<string, CabinetPart>> = {
  CABINET_MENU_LAYOUT: 'layout',
  CABINET_BUTTON_STYLES: 'styles',
};

/** Rows of other features, which are no settings; their keys are the same here. */
const FEATURE_KEYS: ReadonlySet<string> = new Set([...Object.values(BRANDING_KEYS), 'CABINET_BRANDING_LOGO']);
const JSON_KEYS: ReadonlySet<string> = new Set([BRANDING_KEYS.colors, BRANDING_KEYS.themes, BRANDING_KEYS.animation]);

/** Defaults of the source that moved after v3.41 (spec 07 section 5). `until`: at this revision both occur. */
const MOVED_DEFAULTS: readonly { key: string; text: string; since: number; listedSince?: number }[] = [
  { key: 'TELEGRAM_STARS_RATE_RUB', text: '1.0', since: 85 },
  { key: 'INACTIVE_USER_DELETE_MONTHS', text: '12', since: 85 },
  { key: 'PLATEGA_ACTIVE_METHODS', text: '2,11,12,13', since: 53, listedSince: 52 },
  { key: 'SUPPORT_TICKET_SLA_ENABLED', text: 'false', since: 100 },
  { key: 'SUPPORT_TICKET_SLA_MINUTES', text: '60', since: 100 },
  { key: 'SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS', text: '300', since: 100 },
  { key: 'SUPPORT_TICKET_SLA_REMINDER_COOLDOWN_MINUTES', text: '30', since: 100 },
  { key: 'NALOGO_QUEUE_CHECK_INTERVAL', text: '600', since: 59 },
  { key: 'NALOGO_QUEUE_MAX_ATTEMPTS', text: '72', since: 59 },
];

/** Keys whose values may be credentials: the value of such a row is not kept aside (I21). */
const MAY_BE_SECRET = /(?:TOKEN|SECRET|PASS|KEY|AUTH|CREDENTIAL|DSN|URL|URI|LOGIN|HASH|SALT|CERT|SIGN|PROXY)/;

interface SourceSetting {
  id: number;
  key: string | null;
  value: string | null;
  description: string | null;
  createdAt: Date | null;
  updatedAt: Date | null;
}

const MAX_KEY = 100;

/** Stored settings and the menu layouts that the source keeps among them (spec 07 section 5). They are at most some hundreds. */
export const settingStep: ImportStep = {
  name: 'settings',
  async prepare(context) {
    const rows = await context.sql<SourceSetting>(
      `SELECT id, key, value, description, created_at, updated_at FROM ${sourceTable('system_settings')} ORDER BY id`,
    );
    const keys = new Set<string>();
    const cabinet: Partial<Record<CabinetPart, Readonly<Record<string, unknown>>>> = {};
    for (const row of rows) {
      const fate = fateOf(row, keys);
      switch (fate.kind) {
        case 'parked':
          await park(context, row, fate.code);
          break;
        case 'layout':
          await storeLayout(context, fate.name, fate.document, row.updatedAt);
          break;
        case 'cabinet':
          cabinet[fate.part] = fate.document;
          break;
        case 'setting':
          keys.add(fate.key);
          await store(context, { ...row, key: fate.key, value: fate.text });
          await listForReview(context, row.key!, fate.key);
          if (isAdapted(row.value, fate)) await list(context, 'setting_value_adapted', row.key!, { key: fate.key });
      }
    }
    // As it is stored here; an unknown part is left out when it is read.
    if (cabinet.layout || cabinet.styles)
      await storeLayout(context, 'cabinet', JSON.stringify({ ...cabinet.layout, styles: cabinet.styles ?? {} }), null);
    await writeMovedDefaults(context, new Set(rows.map(({ key }) => key?.trim() ?? '')));
  },
};

function fateOf({ key, value }: SourceSetting, taken: ReadonlySet<string>): Fate {
  const name = key?.trim() ?? '';
  if (name.length > MAX_KEY) return { kind: 'parked', code: 'identifier_too_long' };
  if (name === 'menu_layout_config') {
    return parsedObject(value)
      ? { kind: 'layout', name: 'chat', document: value! }
      : { kind: 'parked', code: 'setting_value_invalid' };
  }
  const part = CABINET_PARTS[name];
  if (part) {
    const stored = parsedObject(value);
    const document = stored && part === 'layout' ? cabinetLayout(stored) : stored;
    return document ? { kind: 'cabinet', part, document } : { kind: 'parked', code: 'setting_value_invalid' };
  }
  if (FEATURE_KEYS.has(name)) {
    if (JSON_KEYS.has(name) && !parsedObject(value)) return { kind: 'parked', code: 'setting_value_invalid' };
    return taken.has(name) ? { kind: 'parked', code: 'unique_duplicate' } : { kind: 'setting', key: name, text: value };
  }
  const translated = translateSetting(name, value ?? '');
  if (translated.outcome !== 'kept') return { kind: 'parked', code: translated.outcome };
  if (taken.has(translated.key)) return { kind: 'parked', code: 'unique_duplicate' };
  return { kind: 'setting', key: translated.key, text: translated.text };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsedObject(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Rows by their key (`row_1` …), in the order of their numbers, and the buttons of the operator; none without a row (spec 05 section 8). */
function cabinetLayout(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  const { rows: nested, custom_buttons: custom = {}, ...flat } = document;
  const rows = isObject(nested) ? nested : flat;
  const numbered = Object.entries(rows)
    .filter(([key, row]) => /^row_\d+$/.test(key) && isObject(row))
    .map(([id, row]) => ({ ...(row as object), id }))
    .sort((one, other) => Number(one.id.slice(4)) - Number(other.id.slice(4)));
  const list = Array.isArray(nested) ? nested : numbered;
  return list.length === 0 ? null : { rows: list, custom };
}

async function store({ sql, firstSnapshotAt }: ImportContext, row: SourceSetting): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('system_settings')} (key, value, description, created_at, updated_at)
     VALUES ($1, $2, $3, $4::timestamptz, $5::timestamptz)`,
    [
      row.key,
      row.value,
      row.description,
      row.createdAt ?? row.updatedAt ?? firstSnapshotAt,
      row.updatedAt ?? row.createdAt ?? firstSnapshotAt,
    ],
  );
}

async function storeLayout(
  { sql, firstSnapshotAt }: ImportContext,
  name: string,
  document: string,
  updatedAt: Date | null,
): Promise<void> {
  const layouts = nextTable('menu_layouts');
  await sql(`DELETE FROM ${layouts} WHERE name = $1`, [name]);
  await sql(`INSERT INTO ${layouts} (name, document, updated_at) VALUES ($1, $2::json, $3::timestamptz)`, [
    ...[name, document, updatedAt ?? firstSnapshotAt],
  ]);
}

async function list(
  { sql }: ImportContext,
  code: string,
  key: string,
  detail: Readonly<Record<string, unknown>> | null,
): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject, detail) VALUES (0, $1, 'system_settings', $2, $3::jsonb)`,
    [code, key, detail && JSON.stringify(detail)],
  );
}

/** Keeps a row aside; never the value of what may be a credential. */
async function park(context: ImportContext, row: SourceSetting, code: string): Promise<void> {
  const { sql } = context;
  const key = row.key ?? '';
  const isSecret = MAY_BE_SECRET.test(key.toUpperCase()) || isSecretSetting(key);
  const value = isSecret ? {} : { value: row.value };
  await sql(
    `INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row) VALUES (0, 'system_settings', $1, $2, true, $3::jsonb)`,
    [
      String(row.id),
      code,
      JSON.stringify({
        id: row.id,
        key,
        ...value,
        description: row.description,
        created_at: row.createdAt,
        updated_at: row.updatedAt,
      }),
    ],
  );
  await sql(`DELETE FROM ${sourceTable('system_settings')} WHERE id = $1::bigint`, [row.id]);
  await list(context, code, key, null);
}

function isSecretSetting(sourceKey: string): boolean {
  const { key } = translateSetting(sourceKey, '');
  return isSettingKey(key) && definitionOf(key).secret === true;
}

/** Whether a number or a word became another one: it was out of its bounds, or a former spelling. */
function isAdapted(value: string | null, { key, text }: { key: string; text: string | null }): boolean {
  if (!isSettingKey(key) || value === null || text === null) return false;
  const { type, choices } = definitionOf(key);
  if (type === 'int' || type === 'float') return Number(value) !== Number(text);
  return choices !== undefined && value.trim().toLowerCase().replace('telegram', 'messenger') !== text.toLowerCase();
}

/** Credentials of other systems, and what decides who signs in and where money goes: to be looked at before the switch-over. */
async function listForReview(context: ImportContext, sourceKey: string, key: string): Promise<void> {
  if (!isSettingKey(key)) return;
  const { secret, guard } = definitionOf(key);
  if (secret || guard) await list(context, 'setting_to_review', sourceKey, { key, isSecret: secret === true });
}

/** Where the source says nothing it runs on a default that is another one here: the import writes that of the source. */
async function writeMovedDefaults(context: ImportContext, sourceKeys: ReadonlySet<string>): Promise<void> {
  const { revision, firstSnapshotAt } = context;
  for (const { key, text, since, listedSince = since } of MOVED_DEFAULTS) {
    if (revision < listedSince || sourceKeys.has(key)) continue;
    const translated = translateSetting(key, text);
    if (translated.outcome !== 'kept') throw new Error(`The default of ${key} is not valid here`);
    const isWritten = revision >= since;
    if (isWritten)
      await store(context, {
        id: 0,
        key: translated.key,
        value: translated.text,
        description: null,
        createdAt: firstSnapshotAt,
        updatedAt: firstSnapshotAt,
      });
    await list(context, 'setting_default_differs', key, { key: translated.key, value: text, isWritten });
  }
}
