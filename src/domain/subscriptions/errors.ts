import { refusal, ValidationError } from '../../core/errors.ts';

export const invalidPeriod = refusal('invalid_period', 400, 'Invalid renewal period');
export const invalidServers = refusal('invalid_servers', 400, 'Some selected servers are not available');
export const tariffNotFound = refusal('tariff_not_found', 404, 'Tariff not found');
export const subscriptionExists = refusal('subscription_exists', 400, 'User already has a subscription');
export const dailyPriceInvalid = refusal('daily_price_invalid', 400, 'Daily tariff has invalid price');
export const noTariff = refusal('no_tariff', 400, 'Subscription has no tariff');

/** Cabinet: the user has none. */
export const noSubscription = refusal('no_subscription', 404, 'No subscription found');
/** Web API: no such id. */
export const subscriptionNotFound = refusal('subscription_not_found', 404, 'Subscription not found');
export const tariffNotOffered = refusal('tariff_not_found', 404, 'Tariff not found or inactive');
export const tariffsModeOff = refusal('tariffs_mode_disabled', 400, 'Tariffs mode is not enabled');

/** One field of a body that breaks a bound which the contract's schema does not name; 422 like any other bad field. */
export function outOfBounds(
  field: string,
  input: unknown,
  bound: { gt: number } | { ge: number } | { le: number },
): ValidationError {
  const [name, value] = Object.entries(bound)[0]!;
  const words: Record<string, { type: string; text: string }> = {
    gt: { type: 'greater_than', text: 'greater than' },
    ge: { type: 'greater_than_equal', text: 'greater than or equal to' },
    le: { type: 'less_than_equal', text: 'less than or equal to' },
  };
  const { type, text } = words[name]!;
  return new ValidationError([
    { loc: ['body', field], type, msg: `Input should be ${text} ${value}`, input, ctx: { [name]: value } },
  ]);
}
