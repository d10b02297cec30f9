import type { z } from 'zod';
import type { Changes } from '../../core/changes.ts';
import { ValidationError } from '../../core/errors.ts';
import { readBackground } from '../../domain/storefront/landings/landings.ts';
import type { LandingBackground, LandingContent, LandingMethod, NewLanding } from '../../domain/storefront/landings/types.ts';
import { utcDate } from '../shared.schemas.ts';
import type { Domain } from '../wire.ts';
import { type LandingPaymentMethodInput, tariffIds } from './landing-fields.schemas.ts';
import type { LandingCreateRequest, LandingUpdateRequest } from './landings.schemas.ts';

/** What the schemas of sales pages cannot express: times, defaults of payment methods, and fields that depend on each other. */

type CreateInput = Domain<z.output<typeof LandingCreateRequest>>;
type UpdateInput = Domain<z.output<typeof LandingUpdateRequest>>;

/** @throws ValidationError 422 for a discount that is incomplete, reversed, or of tariffs that the page does not sell */
export function toNewLanding(input: CreateInput): NewLanding {
  checkNewDiscount(input);
  return {
    ...input,
    ...parsedFields(input),
    allowedTariffIds: tariffIds(input.allowedTariffIds),
    paymentMethods: methodsOf(input),
  };
}

/** @throws ValidationError 422 for reversed dates */
export function toLandingChanges(input: UpdateInput): Changes<LandingContent> {
  checkDates(input);
  return {
    ...input,
    ...parsedFields(input),
    allowedTariffIds: input.allowedTariffIds && tariffIds(input.allowedTariffIds),
    paymentMethods: input.paymentMethods && methodsOf(input),
  };
}

function parsedFields(input: UpdateInput) {
  return {
    discountStartsAt: dateOf(input.discountStartsAt),
    discountEndsAt: dateOf(input.discountEndsAt),
    backgroundConfig: backgroundOf(input.backgroundConfig),
  };
}

function methodsOf({ paymentMethods }: UpdateInput): LandingMethod[] {
  return (paymentMethods ?? []).map(toMethod);
}

function toMethod(input: Domain<z.output<typeof LandingPaymentMethodInput>>): LandingMethod {
  const { description = null, minAmountKopeks = null, maxAmountKopeks = null, subOptions } = input;
  return {
    ...input,
    description,
    minAmountKopeks,
    maxAmountKopeks,
    iconUrl: input.iconUrl || null,
    returnUrl: input.returnUrl || null,
    currency: input.currency ? input.currency.toUpperCase() : null,
    subOptions: subOptions && Object.keys(subOptions).length > 0 ? subOptions : null,
  };
}

function dateOf(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? utcDate(text) : text;
}

/** The schema has accepted it; reading it again drops unknown keys. */
function backgroundOf(value: Record<string, unknown> | null | undefined): LandingBackground | null | undefined {
  if (!value) return value;
  const read = readBackground(value);
  return 'problem' in read ? null : read;
}

function checkNewDiscount(input: CreateInput): void {
  const { discountPercent: percent, discountStartsAt: start, discountEndsAt: end, discountOverrides: overrides } = input;
  if (!percent && (start || end)) refuseField('discount_percent', percent, 'discount dates need discount_percent');
  if (percent && !(start && end)) {
    // The whole body is named, because any of the three may be meant (spec 10 X24).
    refuseAt(['body'], null, 'discount_percent needs discount_starts_at and discount_ends_at');
  }
  checkDates(input);
  const allowed = new Set(input.allowedTariffIds.map(String));
  const isForeign = allowed.size > 0 && Object.keys(overrides ?? {}).some((id) => !allowed.has(String(Number(id))));
  if (isForeign) {
    refuseField('discount_overrides', overrides, 'discount_overrides names tariffs that are not in allowed_tariff_ids');
  }
}

function checkDates({ discountStartsAt, discountEndsAt }: UpdateInput): void {
  const [start, end] = [dateOf(discountStartsAt), dateOf(discountEndsAt)];
  if (start && end && start >= end) {
    refuseField('discount_starts_at', discountStartsAt, 'discount_starts_at must be before discount_ends_at');
  }
}

function refuseField(field: keyof z.output<typeof LandingUpdateRequest>, value: unknown, problem: string): never {
  refuseAt(['body', field], value ?? null, problem);
}

function refuseAt(loc: string[], input: unknown, problem: string): never {
  const msg = `Value error, ${problem}`;
  throw new ValidationError([{ loc, type: 'value_error', msg, input, ctx: { error: problem } }]);
}
