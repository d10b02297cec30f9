/** Spec 07 section 9: rows stay as the first pass has made them while the source stays as it is, their ids too (hazards I13 and I26). */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { addGrowth } from '../../support/growth-imports.ts';
import { importFrom, SOURCE_TIME } from '../../support/import-sources.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

const later = new Date(SOURCE_TIME.getTime() + HOUR_MS);

/** What a later pass has changed, by table. */
async function changesOf({ app, url }: Pick<Imported, 'app' | 'url'>): Promise<[table: string, counts: object][]> {
  const { changes } = await importFrom(app, url, { isDelta: true }, later);
  return Object.entries(changes!).filter(([, { added, changed, removed }]) => added + changed + removed > 0);
}

// Raw SQL: rows of the other product's database, of which there is no builder.
const WITHOUT_PLACE_IN_TIME = `
  INSERT INTO button_click_logs (id, button_id, user_id) VALUES (1, 'connect', 21);
  INSERT INTO admin_roles (id, name, level, permissions, is_system, is_active) VALUES (9001, 'Night shift', 1, '["users:read"]', false, true);
  INSERT INTO user_roles (id, user_id, role_id, is_active) VALUES (9001, 21, 9001, true);
  INSERT INTO guest_purchases (id, token, tariff_id, period_days, amount_kopeks, currency, contact_type, contact_value, payment_method, status, is_gift)
    VALUES (9101, repeat('p', 64), 1, 30, 1000, 'RUB', 'email', 'paid@example.org', 'wata', 'paid', false)`;

const CLEAR_EVERY_TIME = `
  SET session_replication_role = replica;
  DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT a.attrelid::regclass AS of, a.attname FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid
      WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'timestamptz'::regtype
    LOOP
      EXECUTE format('ALTER TABLE %1$s ALTER %2$I DROP NOT NULL, ALTER %2$I DROP DEFAULT', c.of, c.attname);
      EXECUTE format('UPDATE %1$s SET %2$I = NULL', c.of, c.attname);
    END LOOP; END $$`;

test.skipIf(!serverUrl)('of an unchanged source whose rows have no times at all, a later pass changes none', async () => {
  const imported = await importedFrom(['--version', 'v4', '--users', '60'], async (source) => {
    await addGrowth(source);
    await source.query(WITHOUT_PLACE_IN_TIME);
    await source.query(CLEAR_EVERY_TIME);
  });
  onTestFinished(() => imported.drop());
  expect(await changesOf(imported)).toEqual([]);
});

test.skipIf(!serverUrl)('the sends of broadcasts keep their ids when one of them vanishes', async () => {
  const imported = await importedFrom(['--users', '40'], (source) =>
    // Raw SQL: rows of the other product's database.
    source.query(`INSERT INTO broadcast_history (id, target_type, message_text, total_count, sent_count, failed_count, status, channel)
      SELECT id, 'all', 'text', 10, 10, 0, 'completed', 'telegram' FROM generate_series(9001, 9003) id`),
  );
  onTestFinished(() => imported.drop());
  const sends = () =>
    imported.rows<{ id: number; sourceId: number }>('SELECT id, source_id FROM mass_sends WHERE source_id > 9000 ORDER BY 2');
  const before = await sends();
  expect(before.map(({ sourceId }) => sourceId)).toEqual([9001, 9002, 9003]);
  const old = new pg.Client({ connectionString: imported.url });
  await old.connect();
  await old.query('DELETE FROM broadcast_history WHERE id = 9001').finally(() => old.end());
  expect(await changesOf(imported)).toEqual([
    ['broadcast_history', { added: 0, changed: 0, removed: 1 }],
    ['mass_sends', { added: 0, changed: 0, removed: 1 }],
  ]);
  expect(await sends()).toEqual(before.slice(1));
});
