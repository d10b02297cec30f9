import { rublesOf } from '../core/money.ts';
import { isValid, usesLeft } from '../domain/promo/codes/promocodes.ts';
import type { Promocode } from '../domain/promo/codes/types.ts';
import { utcDate } from './shared.schemas.ts';

/** A promo code as the Web API and administrators see it (spec 04 section 7); the schema of each selects its fields. */
export function promocodeAnswer(promocode: Promocode, now: Date) {
  return {
    ...promocode,
    balanceBonusRubles: rublesOf(promocode.balanceBonusKopeks),
    usesLeft: usesLeft(promocode),
    isValid: isValid(promocode, now),
  };
}

interface ValidityInput {
  validFrom?: string | null | undefined;
  validUntil?: string | null | undefined;
}

/** The request with its two times as `Date`; null for absent ones. */
export function withValidity<T extends ValidityInput>(input: T) {
  const { validFrom, validUntil } = input;
  return { ...input, validFrom: validFrom ? utcDate(validFrom) : null, validUntil: validUntil ? utcDate(validUntil) : null };
}
