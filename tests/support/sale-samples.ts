import type { UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { aUser, unique } from './builders.ts';

/** A buyer with money on the balance; kopeks. */
export async function aBuyer(app: App, balanceKopeks = 0): Promise<UserActor> {
  const user = await aUser(app, { language: 'en' });
  if (balanceKopeks > 0) await topUp(app, user.id, balanceKopeks);
  return { kind: 'user', userId: user.id };
}

export async function topUp(app: App, userId: number, kopeks: number): Promise<void> {
  await postMovement(app, {
    userId,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'provider_clearing', provider: 'test' },
    paymentMethod: 'test',
    description: 'top-up',
  });
}

/** A squad of the fake panel, for a tariff that a test gave none while no server is available: without any server nothing can be sold (08 P5). */
const SOLD_SQUAD = '5a11ad00-0000-4000-8000-000000000001';

/** Inserts a tariff directly; columns by their names in the table, jsonb as values. */
export async function aTariff(app: App, columns: Record<string, unknown> = {}): Promise<number> {
  const isEmpty = (await app.db.sql('SELECT 1 AS found FROM server_squads WHERE is_available LIMIT 1')).length === 0;
  return insertRow(app, 'tariffs', {
    name: `Tariff ${unique()}`,
    period_prices: { 30: 30_000, 90: 80_000 },
    ...(isEmpty && { allowed_squads: [SOLD_SQUAD] }),
    ...columns,
  });
}

export async function aServer(app: App, columns: Record<string, unknown> = {}): Promise<{ id: number; uuid: string }> {
  const uuid = `squad-${unique()}`;
  const id = await insertRow(app, 'server_squads', { squad_uuid: uuid, display_name: uuid, price_kopeks: 1_000, ...columns });
  return { id, uuid };
}

/** A promo group, and the user in it. */
export async function aMembership(app: App, userId: number, columns: Record<string, unknown>): Promise<number> {
  const id = await insertRow(app, 'promo_groups', { name: `Group ${unique()}`, priority: 10, ...columns });
  await app.db.sql('INSERT INTO user_promo_groups (user_id, promo_group_id) VALUES ($1::int, $2::int) RETURNING user_id', [
    userId,
    id,
  ]);
  return id;
}

export async function anOffer(app: App, userId: number, percent: number): Promise<void> {
  await app.db.sql(
    `UPDATE users SET promo_offer_discount_percent = $2::int, promo_offer_discount_source = 'test',
       promo_offer_discount_expires_at = $3::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, percent, new Date(app.clock.now().getTime() + 3_600_000)],
  );
}

/** Inserts a subscription directly, for states that no sale produces. */
export async function aStoredSubscription(app: App, userId: number, columns: Record<string, unknown> = {}): Promise<number> {
  const now = app.clock.now().getTime();
  return insertRow(app, 'subscriptions', {
    user_id: userId,
    status: 'active',
    is_trial: false,
    start_date: new Date(now - 20 * 86_400_000),
    end_date: new Date(now + 10 * 86_400_000),
    traffic_limit_gb: 100,
    ...columns,
  });
}

export async function rowOf<T extends object>(app: App, sql: string, values: unknown[] = []): Promise<T> {
  const [row] = await app.db.sql<T>(sql, values);
  return row!;
}

async function insertRow(app: App, table: string, columns: Record<string, unknown>): Promise<number> {
  const names = Object.keys(columns);
  const values = Object.values(columns).map((value) =>
    value !== null && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value,
  );
  const [row] = await app.db.sql<{ id: number }>(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING id`,
    values,
  );
  return row!.id;
}
