import type { TokenActor, UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { createOffer, type NewOffer } from '../../src/domain/promo/offers/offers.ts';
import type { OfferDetails } from '../../src/domain/promo/offers/types.ts';
import { unique } from './builders.ts';

export const TOKEN: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };
export const userActor = (userId: number): UserActor => ({ kind: 'user', userId });

/** A discount of 20 % that can be claimed for a day, unless stated otherwise. */
export function someTerms(fields: Partial<NewOffer> = {}): NewOffer {
  return {
    notificationType: `type-${unique()}`,
    effectType: 'percent_discount',
    discountPercent: 20,
    bonusAmountKopeks: 0,
    validHours: 24,
    extraData: {},
    userId: null,
    messengerId: null,
    subscriptionId: null,
    ...fields,
  };
}

export function anOfferTo(app: App, userId: number, fields: Partial<NewOffer> = {}): Promise<OfferDetails> {
  return createOffer(app, TOKEN, someTerms({ userId, ...fields }));
}

export interface LogLine {
  action: string;
  source: string | null;
  percent: number | null;
  details: Record<string, unknown>;
}

/** What the log says of a user, oldest first. */
export function logOf(app: App, userId: number): Promise<LogLine[]> {
  return app.db.sql<LogLine>(
    'SELECT action, source, percent, details FROM promo_offer_logs WHERE user_id = $1::int ORDER BY id',
    [userId],
  );
}

export async function offersOf(app: App, userId: number) {
  return app.db.sql<{ id: number; percent: number; active: boolean; claimed: boolean; expiresAt: Date; type: string }>(
    `SELECT id, discount_percent AS percent, is_active AS active, claimed_at IS NOT NULL AS claimed, expires_at,
       notification_type AS type FROM discount_offers WHERE user_id = $1::int ORDER BY id`,
    [userId],
  );
}
