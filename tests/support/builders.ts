import type { App } from '../../src/core/app.ts';

let counter = 0;

/** A number that no other builder of this process has used. */
export function unique(): number {
  counter += 1;
  return counter * 1000 + (process.pid % 1000);
}

/**
 * Lets the same be built in two databases: what `build` makes has numbers that follow `from`. They must not be in use in the database, and nothing
 * else may be built meanwhile.
 */
export async function numberedFrom<T>(from: number, build: () => Promise<T>): Promise<T> {
  const before = counter;
  counter = from;
  try {
    return await build();
  } finally {
    counter = before;
  }
}

export interface BuiltUser {
  id: number;
  messengerId: number;
}

/** Inserts an active user directly; use cases that create users have tests of their own. */
export async function aUser(app: App, fields: { language?: string; email?: string } = {}): Promise<BuiltUser> {
  const number = unique();
  const messengerId = 5_000_000_000 + number;
  const [row] = await app.db.sql<{ id: number }>(
    `INSERT INTO users (messenger_id, first_name, username, language, email, email_verified, referral_code, promo_group_id, created_at, updated_at)
     VALUES ($1::bigint, $2, $3, $4, $5::text, $5::text IS NOT NULL, $6, (SELECT id FROM promo_groups WHERE is_default), $7::timestamptz, $7::timestamptz)
     RETURNING id`,
    [
      messengerId,
      `User ${number}`,
      `user${number}`,
      fields.language ?? 'ru',
      fields.email ?? null,
      `ref${number}`,
      app.clock.now(),
    ],
  );
  return { id: row!.id, messengerId };
}

/** Id of the promo group of users for whom none was chosen. */
export async function defaultGroupId(app: Pick<App, 'db'>): Promise<number> {
  const [group] = await app.db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
  return group!.id;
}
