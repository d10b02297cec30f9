import type { App } from '../../src/core/app.ts';
import { unique } from './builders.ts';

/** A campaign straight in the table; columns by their names there, jsonb as values. */
export async function aCampaign(app: App, columns: Record<string, unknown> = {}): Promise<{ id: number; slug: string }> {
  const slug = `Slug-${unique()}`;
  const row = { name: `Campaign ${slug}`, start_parameter: slug, bonus_type: 'balance', ...columns };
  const names = Object.keys(row);
  const values = Object.values(row).map((value) => (Array.isArray(value) ? JSON.stringify(value) : value));
  const [made] = await app.db.sql<{ id: number }>(
    `INSERT INTO advertising_campaigns (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING id`,
    values,
  );
  return { id: made!.id, slug };
}
