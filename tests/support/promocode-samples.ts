import type { UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { createPromocode, type NewPromocode } from '../../src/domain/promo/codes/promocodes.ts';
import type { Promocode } from '../../src/domain/promo/codes/types.ts';
import { aUser, unique } from './builders.ts';

/** A code worth 100 rubles that one user may activate, unless stated otherwise. */
export function aPromocode(app: App, fields: Partial<NewPromocode> = {}): Promise<Promocode> {
  return createPromocode(
    app,
    { kind: 'system', name: 'test' },
    {
      code: `CODE-${unique()}`,
      type: 'balance',
      balanceBonusKopeks: 10_000,
      subscriptionDays: 0,
      maxUses: 1,
      validFrom: null,
      validUntil: null,
      isActive: true,
      firstPurchaseOnly: false,
      promoGroupId: null,
      createdBy: null,
      ...fields,
    },
  );
}

export function aDiscountCode(app: App, fields: Partial<NewPromocode> = {}): Promise<Promocode> {
  return aPromocode(app, { type: 'discount', balanceBonusKopeks: 20, subscriptionDays: 24, maxUses: 10, ...fields });
}

/** As older installations have them: until the first purchase. No such code is made any more (spec 10 X15). */
export async function anEndlessDiscountCode(app: App, fields: Partial<NewPromocode> = {}): Promise<Promocode> {
  const code = await aDiscountCode(app, fields);
  await app.db.sql('UPDATE promocodes SET subscription_days = 0 WHERE id = $1::int RETURNING id', [code.id]);
  return { ...code, subscriptionDays: 0 };
}

export async function aRedeemer(app: App): Promise<UserActor> {
  return { kind: 'user', userId: (await aUser(app, { language: 'en' })).id };
}

/** What the tables say about a code, and about a user of it. */
export async function redemptionCounts(app: App, promocodeId: number, userId: number) {
  const [row] = await app.db.sql<{ uses: number; rows: number; balance: number; deposits: number; log: number }>(
    `SELECT (SELECT current_uses FROM promocodes WHERE id = $1::int) AS uses,
       (SELECT count(*)::int FROM promocode_uses WHERE promocode_id = $1::int) AS rows,
       (SELECT balance_kopeks FROM users WHERE id = $2::int) AS balance,
       (SELECT count(*)::int FROM transactions WHERE user_id = $2::int AND type = 'deposit' AND payment_method IS NULL) AS deposits,
       (SELECT count(*)::int FROM promocode_activations WHERE user_id = $2::int) AS log`,
    [promocodeId, userId],
  );
  return row!;
}

export async function discountOf(app: App, userId: number) {
  const [row] = await app.db.sql<{ percent: number; source: string | null; expiresAt: Date | null }>(
    `SELECT promo_offer_discount_percent AS percent, promo_offer_discount_source AS source,
       promo_offer_discount_expires_at AS expires_at FROM users WHERE id = $1::int`,
    [userId],
  );
  return row!;
}

export async function aGroup(app: App, priority = 10): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>('INSERT INTO promo_groups (name, priority) VALUES ($1, $2::int) RETURNING id', [
    `Group ${unique()}`,
    priority,
  ]);
  return row!.id;
}

export async function groupsOf(app: App, userId: number) {
  const [user] = await app.db.sql<{ primary: number | null }>('SELECT promo_group_id AS primary FROM users WHERE id = $1::int', [
    userId,
  ]);
  const members = await app.db.sql<{ id: number; by: string }>(
    'SELECT promo_group_id AS id, assigned_by AS by FROM user_promo_groups WHERE user_id = $1::int ORDER BY 1',
    [userId],
  );
  return { primary: user!.primary, members };
}
