/**
 * A process that writes events in transactions of its own, some slow, some rolled back; it is killed at random and started again.
 *   node packages/measures/src/drills/event-writer.ts DATABASE_URL SEED USER_ID,USER_ID,…
 * Works until it is ended. Each event has the next number of its user, given under the lock of the user's row, as money operations do.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createRandom } from './seeded-random.ts';

const CONNECTIONS = 4;
const FEED_SHARE = 0.5;
/** Of the events of the feed: those that webhooks may subscribe to. */
const HOOKED_SHARE = 0.2;
const ROLLBACK_SHARE = 0.05;
/** Pauses between the event and its commit. */
const SLOW_SHARE = 0.01;
const MAX_SLOW_MS = 3_000;
const MAX_USUAL_MS = 8;

const [url = '', seed = '0', users = ''] = process.argv.slice(2);
const userIds = users.split(',').map(Number);
process.on('disconnect', () => process.exit(0));
await Promise.all(Array.from({ length: CONNECTIONS }, (_, lane) => write(Number(seed) + lane)));

async function write(laneSeed: number): Promise<never> {
  const random = createRandom(laneSeed);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (;;) {
    const userId = random.pick(userIds);
    const isFeed = random.next() < FEED_SHARE;
    const type = isFeed && random.next() < HOOKED_SHARE ? 'ticket.created' : 'drill.event';
    await client.query('BEGIN');
    await client.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    const { rows } = await client.query<{ number: number }>(
      'UPDATE drill_numbers SET number = number + 1 WHERE user_id = $1 RETURNING number',
      [userId],
    );
    await client.query('SELECT emit_event($1, $2::jsonb, $3, $4, now())', [
      type,
      JSON.stringify({ user_id: userId, number: rows[0]!.number, key: randomUUID() }),
      isFeed ? 'feed' : 'user',
      userId,
    ]);
    await wait(random.next() < SLOW_SHARE ? random.between(100, MAX_SLOW_MS) : random.between(0, MAX_USUAL_MS));
    await client.query(random.next() < ROLLBACK_SHARE ? 'ROLLBACK' : 'COMMIT');
  }
}
