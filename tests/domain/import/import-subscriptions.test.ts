/** Spec 07 sections 1.4, 4.3 and 4.6: what an import makes of subscriptions, the catalogue and links to the panel. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importFrom } from '../../support/import-sources.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

describe.skipIf(!serverUrl)('a database of v4 (left out without a server)', () => {
  let t: Imported;

  beforeAll(async () => {
    t = await importedFrom(['--version', 'v4', '--seed', '1']);
  });
  afterAll(() => t.drop());

  test('keeps the link of each user in the form in which the source had it', async () => {
    const [forms] = await t.app.db.sql(
      `SELECT count(*) FILTER (WHERE vpnpanel_uuid::text LIKE '00000000-0000-8000-8000-%') AS number,
         count(*) FILTER (WHERE vpnpanel_uuid::text NOT LIKE '00000000-0000-8000-8000-%') AS uuid, count(*) FILTER (WHERE vpnpanel_uuid IS NULL) AS none FROM users`,
    );
    expect(forms).toEqual(t.made.panel_links);
  });

  test('says of every subscription that is kept aside what its owner loses', async () => {
    const rows = await t.app.db.sql<{ userId: number; subscriptionId: number; days: number; kopeks: number | null }>(
      `SELECT (detail ->> 'user_id')::bigint AS user_id, subject::bigint AS subscription_id, (detail ->> 'days')::bigint AS days, (detail ->> 'kopeks')::bigint AS kopeks
       FROM import_issues WHERE code = 'subscription_parked' ORDER BY subject::bigint`,
    );
    const { list, ...totals } = t.made.several_subscriptions!;
    const listed = rows.map(({ userId, subscriptionId, days, kopeks }) => ({
      user_id: userId,
      subscription_id: subscriptionId,
      days,
      kopeks,
    }));
    expect(listed).toEqual([...list].sort((a, b) => a.subscription_id - b.subscription_id));
    expect({
      users: new Set(rows.map(({ userId }) => userId)).size,
      subscriptions: rows.length,
      days: rows.reduce((sum, { days }) => sum + days, 0),
      kopeks: rows.reduce((sum, { kopeks }) => sum + (kopeks ?? 0), 0),
      without_price: rows.filter(({ kopeks }) => kopeks === null).length,
    }).toEqual(totals);
  });

  test('is refused before anything is loaded when the operator has not chosen', async () => {
    for (const [choices, code] of [
      [{ subscriptions: 'refuse' }, 'source_has_multiple_subscriptions'],
      [{ providerSubscriptions: 'refuse' }, 'source_has_provider_subscriptions'],
    ] as const) {
      const dryRun = importFrom(t.app, t.url, { ...choices, isDryRun: true, restarts: true });
      await expect(dryRun).rejects.toMatchObject({ code });
    }
    const [schema] = await t.app.db.sql<{ found: string | null }>(`SELECT to_regnamespace('import_source')::text AS found`);
    expect(schema!.found).toBeNull();
  });

  test('is refused when a later pass chooses otherwise', async () => {
    const again = importFrom(t.app, t.url, { withLogs: true });
    await expect(again).rejects.toMatchObject({ code: 'options_changed' });
  });
});
