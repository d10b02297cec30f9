/**
 * Measures how long it takes until each of a million users has a row of a pinned message that is sent, and of its unpinning, and how much memory the
 * process needs; and the administrators' report on the same users. Uses an empty database of the server that TEST_DATABASE_URL names, and
 * drops it.
 *   node scripts/on-runtime.mjs packages/measures/src/speed/pinned-preparation.ts [users]
 */
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { dayBefore, readReport, reportPeriod } from '../../../../src/domain/insight/report/report.ts';
import { startSend } from '../../../../src/domain/mass-sends/control-sends.ts';
import { testApp } from '../../../../tests/support/test-app.ts';
import { freshDatabase, prepareTemplate } from '../../../../tests/support/test-database.ts';
import { measurePreparation } from './measure-preparation.ts';

const users = Number(process.argv[2] ?? 1_000_000);

await prepareTemplate();
const database = await freshDatabase();
const { app } = await testApp({ database });
console.log(`adding ${users} users, each with a subscription and a pinned message …`);
for (const table of ['users', 'subscriptions', 'pinned_deliveries']) {
  await app.db.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
}
const STEP = 50_000;
for (let from = 1; from <= users; from += STEP) {
  const range = [from, Math.min(from + STEP - 1, users)];
  await app.db.sql(
    `WITH added AS (INSERT INTO users (messenger_id, referral_code, promo_group_id, created_at, referred_by_id)
       SELECT 6000000000 + g, 'm' || g, (SELECT id FROM promo_groups WHERE is_default), now() - g % 720 * interval '1 hour',
         CASE WHEN g > 1000 AND g % 3 = 0 THEN (SELECT min(id) FROM users) + g % 1000 END
       FROM generate_series($1::int, $2::int) g RETURNING id, messenger_id, created_at),
     subscribed AS (INSERT INTO subscriptions (user_id, status, is_trial, end_date, connected_squads, created_at)
       SELECT id, CASE WHEN id % 4 = 0 THEN 'expired' ELSE 'active' END, id % 5 = 0, now() + (id % 60 - 20) * interval '1 day',
         CASE WHEN id % 20 = 0 THEN '[]' ELSE '["5a11ad00-0000-4000-8000-000000000001"]' END::jsonb, created_at FROM added)
     INSERT INTO pinned_deliveries (user_id, chat_id, message_id, is_pinned, sent_at)
     SELECT id, messenger_id, id, true, now() FROM added RETURNING 1 AS added`,
    range,
  );
}
for (const recount of ['recount_users()', 'recount_user_days()', 'recount_subscriptions()', `recount_statistics('UTC')`]) {
  await app.db.sql(`SELECT ${recount}::text AS done`);
}
await app.db.sql('ANALYZE users, subscriptions, pinned_deliveries');

for (const kind of ['pinned', 'unpin'] as const) {
  const send = await inTransaction(app, (t) => startSend(t, { kind, sourceId: 1, channel: 'messenger', audience: 'all' }));
  console.log(`${kind}: ${await measurePreparation(app, kind, send.id)}`);
}
for (const kind of ['day', 'month'] as const) {
  const from = performance.now();
  await readReport(app, reportPeriod(kind, dayBefore(app.clock.now())));
  console.log(`report of a ${kind}: ${Math.round(performance.now() - from)} ms`);
}
await database.drop();
process.exit(0);
