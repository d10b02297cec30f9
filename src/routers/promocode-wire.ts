import { rublesOf } from '../core/money.ts';
import { isValid, usesLeft } from '../domain/promo/codes/rules.ts';
import type { Promocode, PromocodeDetails, PromocodeType, PromocodeUse, PromocodeValues } from '../domain/promo/codes/types.ts';
import { utcDate } from './shared.schemas.ts';

/** Names of promo codes on the wire, alike at both doors (spec 04 section 7). */

export function toPromocodeAnswer(promocode: Promocode, now: Date) {
  return {
    id: promocode.id,
    code: promocode.code,
    type: promocode.type,
    balance_bonus_kopeks: promocode.balanceBonusKopeks,
    balance_bonus_rubles: rublesOf(promocode.balanceBonusKopeks),
    subscription_days: promocode.subscriptionDays,
    max_uses: promocode.maxUses,
    current_uses: promocode.currentUses,
    uses_left: usesLeft(promocode),
    is_active: promocode.isActive,
    is_valid: isValid(promocode, now),
    valid_from: promocode.validFrom,
    valid_until: promocode.validUntil,
    created_by: promocode.createdBy,
    created_at: promocode.createdAt,
    updated_at: promocode.updatedAt,
  };
}

/** What administrators see besides. */
export function toAdminPromocode(promocode: Promocode, now: Date) {
  return {
    ...toPromocodeAnswer(promocode, now),
    first_purchase_only: promocode.firstPurchaseOnly,
    promo_group_id: promocode.promoGroupId,
  };
}

export function toUsesAnswer({ totalUses, todayUses, recentUses }: PromocodeDetails) {
  return { total_uses: totalUses, today_uses: todayUses, recent_uses: recentUses.map(toUse) };
}

function toUse(use: PromocodeUse) {
  return {
    id: use.id,
    user_id: use.userId,
    user_username: use.username,
    user_full_name: use.fullName,
    user_messenger_id: use.messengerId,
    used_at: use.usedAt,
  };
}

/** Fields that both doors take; a request without zone is UTC. */
interface PromocodeInput {
  code: string;
  type: PromocodeType;
  balance_bonus_kopeks: number;
  subscription_days: number;
  max_uses: number;
  valid_from?: string | null | undefined;
  valid_until?: string | null | undefined;
  is_active: boolean;
}

export function toNewPromocode(input: PromocodeInput) {
  return {
    code: input.code,
    type: input.type,
    balanceBonusKopeks: input.balance_bonus_kopeks,
    subscriptionDays: input.subscription_days,
    maxUses: input.max_uses,
    validFrom: input.valid_from ? utcDate(input.valid_from) : null,
    validUntil: input.valid_until ? utcDate(input.valid_until) : null,
    isActive: input.is_active,
  };
}

type Nullish<T> = { [K in keyof T]?: T[K] | null | undefined };

/** null and absent alike leave a field as it is. */
export function toPromocodeChanges(
  input: Nullish<PromocodeInput & { first_purchase_only: boolean; promo_group_id: number }>,
): Partial<PromocodeValues> {
  return {
    code: input.code ?? undefined,
    type: input.type ?? undefined,
    balanceBonusKopeks: input.balance_bonus_kopeks ?? undefined,
    subscriptionDays: input.subscription_days ?? undefined,
    maxUses: input.max_uses ?? undefined,
    validFrom: input.valid_from ? utcDate(input.valid_from) : undefined,
    validUntil: input.valid_until ? utcDate(input.valid_until) : undefined,
    isActive: input.is_active ?? undefined,
    firstPurchaseOnly: input.first_purchase_only ?? undefined,
    promoGroupId: input.promo_group_id ?? undefined,
  };
}
