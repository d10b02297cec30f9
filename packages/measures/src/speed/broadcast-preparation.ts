/**
 * Measures the preparation of a broadcast: how long it takes until each of a million users has a row, and how much memory the process
 * needs. Uses an empty database of the server that TEST_DATABASE_URL names, and drops it.
 *   node scripts/on-runtime.mjs packages/measures/src/speed/broadcast-preparation.ts [users]
 */

import { previewAudience } from '../../../../src/domain/broadcasts/audiences.ts';
import { createByToken } from '../../../../src/domain/broadcasts/broadcasts.ts';
import { readSends } from '../../../../src/domain/mass-sends/control-sends.ts';
import { testApp } from '../../../../tests/support/test-app.ts';
import { freshDatabase, prepareTemplate } from '../../../../tests/support/test-database.ts';
import { measurePreparation } from './measure-preparation.ts';

const users = Number(process.argv[2] ?? 1_000_000);

await prepareTemplate();
const database = await freshDatabase();
const { app } = await testApp({ database });
console.log(`adding ${users} users …`);
await app.db.sql('ALTER TABLE users DISABLE TRIGGER USER');
const STEP = 50_000;
for (let from = 1; from <= users; from += STEP) {
  await app.db.sql(
    `INSERT INTO users (messenger_id, referral_code, promo_group_id, created_at)
     SELECT 6000000000 + g, 'm' || g, (SELECT id FROM promo_groups WHERE is_default), now() - interval '1 day'
     FROM generate_series($1::int, $2::int) g RETURNING 1 AS added`,
    [from, Math.min(from + STEP - 1, users)],
  );
}
await app.db.sql('ANALYZE users');
const actor = { kind: 'token', tokenId: 1, name: 'measure' } as const;
const request = { target: 'all', messageText: 'Measured', selectedButtons: [], media: null };
const broadcast = await createByToken(app, actor, request, null);
const [part] = await readSends(app, 'broadcast', [broadcast.id]);

console.log(await measurePreparation(app, 'broadcast', part!.id));
for (const target of ['all', 'active', 'custom_month']) {
  const start = performance.now();
  const { count } = await previewAudience(app, 'messenger', target);
  console.log(`preview of ${target}: ${count} in ${Math.round(performance.now() - start)} ms`);
}
await database.drop();
process.exit(0);
