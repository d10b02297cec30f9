/**
 * Measures the preparation of a broadcast: how long it takes until each of a million users has a row, and how much memory the process
 * needs. Uses an empty database of the server that TEST_DATABASE_URL names, and drops it.
 *   node scripts/on-runtime.mjs scripts/measure/broadcast-preparation.ts [users]
 */

import { previewAudience } from '../../src/domain/broadcasts/audiences.ts';
import { createByToken } from '../../src/domain/broadcasts/create-broadcast.ts';
import { readSends } from '../../src/domain/mass-sends/control-sends.ts';
import { runSend } from '../../src/domain/mass-sends/run-send.ts';
import { KINDS } from '../../tests/support/broadcast-samples.ts';
import { testApp } from '../../tests/support/test-app.ts';
import { freshDatabase, prepareTemplate } from '../../tests/support/test-database.ts';

const users = Number(process.argv[2] ?? 1_000_000);
const megabytes = () => Math.round(process.memoryUsage.rss() / 1_048_576);

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

let peak = megabytes();
const before = peak;
const watch = setInterval(() => {
  peak = Math.max(peak, megabytes());
}, 50);
// It stops at the first message.
const stop = new AbortController();
const kinds = {
  ...KINDS,
  broadcast: {
    ...KINDS.broadcast,
    announce: async () => undefined,
    open: async () => async () => ({ state: 'failed' as const }),
  },
};
const from = performance.now();
let isPrepared = false;
const poll = setInterval(async () => {
  if (isPrepared) return;
  const [send] = await readSends(app, 'broadcast', [broadcast.id]);
  if (send!.state !== 'sending') return;
  isPrepared = true;
  stop.abort();
}, 100);
await runSend(app, kinds, part!.id, { signal: stop.signal });
clearInterval(poll);
clearInterval(watch);
const seconds = (performance.now() - from) / 1_000;
const [after] = await readSends(app, 'broadcast', [broadcast.id]);
console.log(`${after!.total} recipients in ${seconds.toFixed(1)} s; memory ${before} MiB before, ${peak} MiB at most`);
for (const target of ['all', 'active', 'custom_month']) {
  const start = performance.now();
  const { count } = await previewAudience(app, 'messenger', target);
  console.log(`preview of ${target}: ${count} in ${Math.round(performance.now() - start)} ms`);
}
await database.drop();
process.exit(0);
