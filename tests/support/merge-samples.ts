import type { App } from '../../src/core/app.ts';
import type { Rows } from '../../src/core/db/columns.ts';
import { findUserById } from '../../src/domain/identity/find-user.ts';
import { createMergeToken } from '../../src/domain/identity/merge-tokens.ts';
import { mergeAccounts } from '../../src/domain/merge/merge-accounts.ts';
import { aUser } from './builders.ts';
import { rowOf } from './sale-samples.ts';

export interface Pair {
  primaryId: number;
  secondaryId: number;
}

/** Two active accounts with their messenger ids; columns overwrite what the builder wrote. */
export async function aPair(
  app: App,
  columns: { primary?: Record<string, unknown>; secondary?: Record<string, unknown> } = {},
): Promise<Pair> {
  const [primary, secondary] = [await aUser(app), await aUser(app)];
  await setUser(app, primary.id, columns.primary ?? {});
  await setUser(app, secondary.id, columns.secondary ?? {});
  return { primaryId: primary.id, secondaryId: secondary.id };
}

export async function setUser(app: App, id: number, columns: Record<string, unknown>): Promise<void> {
  for (const [name, value] of Object.entries(columns)) {
    await app.db.sql(`UPDATE users SET ${name} = $2 WHERE id = $1::int RETURNING id`, [id, value]);
  }
}

/** A merge token for an identity of the secondary. */
export async function tokenFor(app: App, pair: Pair): Promise<string> {
  const { primaryId: primaryUserId, secondaryId: secondaryUserId } = pair;
  const owner = await findUserById(app, secondaryUserId);
  const byMessenger = { provider: 'messenger', providerId: String(owner?.messengerId) } as const;
  const byGoogle = { provider: 'google', providerId: owner?.googleId ?? '' } as const;
  return createMergeToken(app, { primaryUserId, secondaryUserId, ...(owner?.googleId ? byGoogle : byMessenger) });
}

/** Merges, keeping the primary's subscription unless another is asked for. */
export async function merge(app: App, pair: Pair, keepSubscriptionFrom = pair.primaryId) {
  return mergeAccounts(app, { token: await tokenFor(app, pair), keepSubscriptionFrom });
}

export function userRow(app: App, id: number): Promise<Rows['User']> {
  return rowOf<Rows['User']>(app, 'SELECT * FROM users WHERE id = $1::int', [id]);
}
