import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { ValidationError } from '../../../core/errors.ts';
import { type BoundField, checkBounds } from '../../../core/field-bounds.ts';
import { escapeHtml, fill } from '../../messaging/texts.ts';
import type { ClaimRefusal } from './errors.ts';
import { effectTypeEmpty, notificationTypeEmpty } from './errors.ts';
import type { Offer, OfferTemplateValues, OfferTerms } from './types.ts';

const MAX_TYPE_LENGTH = 50;
/** A hundred years; more hours lead to dates outside of the calendar. */
export const MAX_HOURS = 876_000;
const MAX_PERCENT = 100;
/** A broadcast stores this once per user. */
const MAX_EXTRA_DATA_LENGTH = 16_384;
/** The limit of the messenger. */
export const MAX_MESSAGE_LENGTH = 4_096;
export const MAX_BUTTON_LENGTH = 255;
const MAX_NAME_LENGTH = 255;
const MAX_SQUADS = 200;
const DEFAULT_TEST_HOURS = 24;
/** Source of discounts from promo codes, which users can deactivate; an offer must not have such a type. */
const PROMOCODE_SOURCE = /^promocode:/i;

export const TEST_ACCESS = 'test_access';

/** Whether the offer gives temporary access to servers. Every other effect is a discount (spec 04 section 9.1). */
export function givesTemporaryAccess(offer: Pick<OfferTerms, 'effectType'>): boolean {
  return offer.effectType === TEST_ACCESS;
}

/**
 * Terms as they are stored: types trimmed.
 * @throws AppError 400 for a blank type; ValidationError 422 for values out of bounds
 */
export function checkedTerms(terms: OfferTerms): OfferTerms {
  const notificationType = terms.notificationType.trim();
  const effectType = terms.effectType.trim();
  if (notificationType === '') throw notificationTypeEmpty();
  if (effectType === '') throw effectTypeEmpty();
  checkBounds([
    { name: 'notification_type', value: notificationType, maxLength: MAX_TYPE_LENGTH },
    { name: 'effect_type', value: effectType, maxLength: MAX_TYPE_LENGTH },
    { name: 'valid_hours', value: terms.validHours, max: MAX_HOURS },
    { name: 'discount_percent', value: terms.discountPercent, min: 0, max: MAX_PERCENT },
  ]);
  if (PROMOCODE_SOURCE.test(notificationType))
    throw fieldRefused('notification_type', 'must not begin with promocode:', terms.notificationType);
  if (JSON.stringify(terms.extraData).length > MAX_EXTRA_DATA_LENGTH)
    throw fieldRefused('extra_data', 'extra_data is too large', null);
  const { discountPercent, bonusAmountKopeks, validHours, extraData } = terms;
  return { notificationType, effectType, discountPercent, bonusAmountKopeks, validHours, extraData };
}

/** @throws ValidationError 422 for values out of bounds */
export function checkedTemplate(values: OfferTemplateValues): OfferTemplateValues {
  const testSquadUuids = unique(values.testSquadUuids.map((uuid) => uuid.trim()).filter((uuid) => uuid !== ''));
  const fields: BoundField[] = [
    { name: 'name', value: values.name, minLength: 1, maxLength: MAX_NAME_LENGTH },
    { name: 'message_text', value: values.messageText, minLength: 1, maxLength: MAX_MESSAGE_LENGTH },
    { name: 'button_text', value: values.buttonText, minLength: 1, maxLength: MAX_BUTTON_LENGTH },
    { name: 'valid_hours', value: values.validHours, max: MAX_HOURS },
    { name: 'discount_percent', value: values.discountPercent, min: 0, max: MAX_PERCENT },
    { name: 'active_discount_hours', value: values.activeDiscountHours, max: MAX_HOURS },
    { name: 'test_duration_hours', value: values.testDurationHours, max: MAX_HOURS },
  ];
  checkBounds(fields);
  if (testSquadUuids.length > MAX_SQUADS) throw fieldRefused('test_squad_uuids', `at most ${MAX_SQUADS} servers`, null);
  const { name, messageText, buttonText, validHours, discountPercent, bonusAmountKopeks } = values;
  const { activeDiscountHours, testDurationHours, isActive } = values;
  return {
    ...{ name, messageText, buttonText, validHours, discountPercent, bonusAmountKopeks },
    ...{ activeDiscountHours, testDurationHours, testSquadUuids, isActive },
  };
}

/** @throws ValidationError 422 */
export function fieldRefused(field: string, why: string, input: unknown): ValidationError {
  return new ValidationError([{ loc: ['body', field], type: 'value_error', msg: `Value error, ${why}`, input }]);
}

/** Why this offer cannot be claimed now, in the documented order; null = it can (spec 04 section 9.5). */
export function claimRefusal(
  offer: Pick<Offer, 'claimedAt' | 'isActive' | 'expiresAt' | 'discountPercent' | 'effectType'>,
  now: Date,
): ClaimRefusal | null {
  if (offer.claimedAt !== null) return 'already_claimed';
  if (!offer.isActive || offer.expiresAt <= now) return 'expired';
  return !givesTemporaryAccess(offer) && offer.discountPercent <= 0 ? 'invalid' : null;
}

/** Whole hours above 0 and within the calendar, also as text; null for anything else. */
export function hoursOf(value: unknown): number | null {
  const hours = typeof value === 'string' && /^\s*\d{1,7}\s*$/.test(value) ? Number(value) : value;
  return typeof hours === 'number' && Number.isInteger(hours) && hours > 0 ? Math.min(hours, MAX_HOURS) : null;
}

/** The template that an offer was made from; null when it names none. */
export function templateIdOf(extraData: Readonly<Record<string, unknown>>): number | null {
  const id = Number(extraData.template_id);
  return Number.isInteger(id) && id > 0 && id <= 2_147_483_647 ? id : null;
}

/** When a discount claimed now expires: by the hours of the offer, else of its template; null = with the first purchase. */
export function discountEnd(extraData: Readonly<Record<string, unknown>>, templateHours: number | null, now: Date): Date | null {
  const offerHours = extraData.active_discount_hours ?? null;
  const hours = offerHours === null ? templateHours : hoursOf(offerHours);
  return hours === null ? null : addMs(now, hours * HOUR_MS);
}

/** The servers of temporary access, each once, and the hours. */
export function temporaryAccessOf(extraData: Readonly<Record<string, unknown>>): { squads: string[]; hours: number } {
  const named = [extraData.test_squad_uuids, extraData.squads].find((list) => Array.isArray(list) && list.length > 0);
  const squads = Array.isArray(named) ? named.filter((uuid) => typeof uuid === 'string') : [];
  return {
    squads: unique(squads.map((uuid) => uuid.trim()).filter((uuid) => uuid !== '')).slice(0, MAX_SQUADS),
    hours: hoursOf(extraData.test_duration_hours) ?? hoursOf(extraData.duration_hours) ?? DEFAULT_TEST_HOURS,
  };
}

/** The values of the five placeholders of a message. */
export interface MessageFacts {
  discountPercent: number;
  validHours: number;
  extraData: Readonly<Record<string, unknown>>;
  /** Names of the servers of temporary access. */
  serverNames: readonly string[];
}

/**
 * An administrator's text with its placeholders filled: the five known names only, values escaped for HTML (spec 04
 * section 9.6). Other text in braces stays unchanged.
 */
export function fillMessage(pattern: string, facts: MessageFacts): string {
  return fill(pattern, placeholdersOf(facts), (value) => escapeHtml(String(value)));
}

export function placeholdersOf({
  discountPercent,
  validHours,
  extraData,
  serverNames,
}: MessageFacts): Record<string, string | number> {
  return {
    discount_percent: discountPercent,
    valid_hours: validHours,
    active_discount_hours: hoursOf(extraData.active_discount_hours) ?? validHours,
    test_duration_hours: temporaryAccessOf(extraData).hours,
    server_name: serverNames.join(', '),
  };
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
