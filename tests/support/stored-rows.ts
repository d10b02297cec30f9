import type { App } from '../../src/core/app.ts';
import type { Model, Rows } from '../../src/core/db/columns.ts';
import { TABLES } from '../../src/generated/rows.ts';
import { unique } from './builders.ts';

/** What the database requires and a test does not care about. */
const DEFAULTS: { [M in Model]?: () => Partial<Rows[M]> } = {
  AdminRole: () => ({ name: `Role ${unique()}` }),
  AdvertisingCampaign: () => ({ name: 'Campaign', startParameter: `campaign${unique()}`, bonusType: 'none' }),
  CampaignRegistration: () => ({ bonusType: 'none' }),
  PromoGroup: () => ({ name: `Group ${unique()}` }),
  Promocode: () => ({ code: `CODE${unique()}`, type: 'balance' }),
  Tariff: () => ({ name: `Tariff ${unique()}` }),
  Ticket: () => ({ title: 'Help' }),
  User: () => ({ referralCode: `ref${unique()}` }),
};

/**
 * Writes rows straight into a table: for states that no use case produces, such as those of an older version, an import or a process that
 * ended in the middle, and for many facts at once, which statistics then count.
 * @param rows fields by the names of the model; what a row does not name gets the default of the database
 * @returns the stored rows, in their order
 * @throws the error of the database where a row breaks a constraint
 */
export async function storeRows<M extends Model>(
  { db }: Pick<App, 'db'>,
  model: M,
  rows: readonly Partial<Rows[M]>[],
): Promise<Rows[M][]> {
  const { table, columns } = TABLES[model] as { table: string; columns: Record<string, string> };
  const stored: Rows[M][] = [];
  for (const group of withEqualFields(rows.map((row) => ({ ...DEFAULTS[model]?.(), ...row })))) {
    const names = Object.keys(group[0]!).map((field) => columns[field]);
    const records = group.map((row) => Object.fromEntries(Object.entries(row).map(([f, value]) => [columns[f], value])));
    const made = await db.sql<Rows[M]>(
      `INSERT INTO ${table} (${names.join(', ')})
       SELECT ${names.join(', ')} FROM json_populate_recordset(NULL::${table}, $1::json) RETURNING *`,
      [JSON.stringify(records)],
    );
    stored.push(...made);
  }
  return stored;
}

/** One row, see `storeRows`. */
export async function storeRow<M extends Model>(app: Pick<App, 'db'>, model: M, row: Partial<Rows[M]> = {}): Promise<Rows[M]> {
  const [stored] = await storeRows(app, model, [row]);
  return stored!;
}

/** Rows one after another that name the same fields, and so go into one statement. */
function withEqualFields<Row extends object>(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  let last = '';
  for (const row of rows) {
    const fields = Object.keys(row).sort().join();
    if (fields === last) groups.at(-1)!.push(row);
    else groups.push([row]);
    last = fields;
  }
  return groups;
}
