import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';
import {
  AMOUNT_AND_BALANCE_EXAMPLE,
  AMOUNT_EXAMPLE,
  AmountAndBalanceFields,
  AmountFields,
  NoFields,
  TimestampField,
} from '../../core/events/event-fields.ts';

export const SUBSCRIPTION_ACTIVATED = 'subscription.activated';
export const SUBSCRIPTION_RENEWED = 'subscription.renewed';
export const SUBSCRIPTION_EXPIRED = 'subscription.expired';
export const DEVICES_PURCHASED = 'subscription.devices_purchased';
export const TRAFFIC_PURCHASED = 'subscription.traffic_purchased';
export const DAILY_DEBIT = 'subscription.daily_debit';
export const TRAFFIC_RESET = 'subscription.traffic_reset';
export const AUTOPAY_SUCCESS = 'autopay.success';
export const AUTOPAY_FAILED = 'autopay.failed';
export const AUTOPAY_INSUFFICIENT_FUNDS = 'autopay.insufficient_funds';
export const SUBSCRIPTION_EXPIRING = 'subscription.expiring';

const TIMESTAMP = '2026-01-31T12:00:00.000Z';
const DAY = '31.01.2026';
const Day = z.string().describe('Date as `dd.mm.yyyy`.');
const Text = z.string().describe('Amount as text.');
const Rubles = z.number().describe('Amount in rubles.');
const TariffName = z.string().describe('Name of the tariff; empty without one.');
const Order = z.string().describe('The order, as in the list of transactions.');
const Reset = z.number().describe('Traffic that was removed, in GB.');
const DaysLeft = z.int().describe('Days until the end.');

const SaleNotice = z.object({
  ...{ expires_at: Day, new_expires_at: Day, traffic_limit_gb: z.number().describe('Traffic limit in GB; 0 = unlimited.') },
  ...{ device_limit: z.int().describe('Device limit.'), tariff_name: TariffName },
});
const SALE_EXAMPLE = { expires_at: DAY, new_expires_at: DAY, traffic_limit_gb: 100, device_limit: 3, tariff_name: 'Basic' };

export const SUBSCRIPTION_EVENTS = [
  defineEvent(SUBSCRIPTION_ACTIVATED, z.object({ expires_at: TimestampField, tariff_name: TariffName }), {
    audience: 'user',
    description: "The user's first subscription starts.",
    example: { expires_at: TIMESTAMP, tariff_name: 'Basic' },
  }),
  defineEvent(SUBSCRIPTION_RENEWED, z.object({ new_expires_at: TimestampField, ...AmountFields.shape }), {
    audience: 'user',
    description: 'A further period was paid for; the amounts are those charged.',
    example: { new_expires_at: TIMESTAMP, ...AMOUNT_EXAMPLE },
  }),
  defineEvent(SUBSCRIPTION_EXPIRED, NoFields, { audience: 'user', description: 'The subscription has ended.', example: {} }),
  defineEvent(
    DEVICES_PURCHASED,
    z.object({
      devices_added: z.int().describe('Devices that were purchased.'),
      new_device_limit: z.int().describe('Device limit after it.'),
      ...AmountFields.shape,
    }),
    {
      audience: 'user',
      description: 'Devices were purchased.',
      example: { devices_added: 1, new_device_limit: 4, ...AMOUNT_EXAMPLE },
    },
  ),
  defineEvent(
    TRAFFIC_PURCHASED,
    z.object({
      traffic_gb_added: z.number().describe('Traffic that was purchased, in GB.'),
      new_traffic_limit_gb: z.number().describe('Traffic limit after it, in GB.'),
      ...AmountFields.shape,
    }),
    {
      audience: 'user',
      description: 'Traffic was purchased.',
      example: { traffic_gb_added: 10, new_traffic_limit_gb: 110, ...AMOUNT_EXAMPLE },
    },
  ),
  defineEvent(SUBSCRIPTION_EXPIRING, z.object({ days_left: DaysLeft, expires_at: TimestampField }), {
    audience: 'user',
    description: 'The end is within the days of a warning.',
    example: { days_left: 3, expires_at: TIMESTAMP },
  }),
  defineEvent(TRAFFIC_RESET, NoFields, {
    audience: 'user',
    description: 'The traffic was reset, or purchased traffic expired and was removed from the limit.',
    example: {},
  }),
  defineEvent(DAILY_DEBIT, AmountAndBalanceFields, {
    audience: 'user',
    description: 'A day of a daily tariff was charged.',
    example: AMOUNT_AND_BALANCE_EXAMPLE,
  }),
  defineEvent(AUTOPAY_SUCCESS, z.object({ ...AmountFields.shape, new_expires_at: TimestampField }), {
    audience: 'user',
    description: 'Autopay renewed the subscription.',
    example: { ...AMOUNT_EXAMPLE, new_expires_at: TIMESTAMP },
  }),
  defineEvent(AUTOPAY_FAILED, z.object({ reason: z.enum(['insufficient_funds', 'period_unavailable']).describe('Why.') }), {
    audience: 'user',
    description:
      'Autopay did not renew: `insufficient_funds` (with `autopay.insufficient_funds` beside it), or `period_unavailable` when no period of the plan is for sale.',
    example: { reason: 'insufficient_funds' },
  }),
  defineEvent(
    AUTOPAY_INSUFFICIENT_FUNDS,
    z.object({
      required_kopeks: z.int().describe('Price in kopeks.'),
      required_rubles: z.number().describe('The same in rubles.'),
      balance_kopeks: z.int().describe('Balance in kopeks.'),
      balance_rubles: z.number().describe('The same in rubles.'),
    }),
    {
      audience: 'user',
      description: 'The balance does not suffice for autopay.',
      example: { required_kopeks: 50_000, required_rubles: 500, balance_kopeks: 1_000, balance_rubles: 10 },
    },
  ),
  defineEvent('notification.subscription_activated', SaleNotice, {
    audience: 'user',
    description: 'A first purchase, for a user without a messenger.',
    example: SALE_EXAMPLE,
  }),
  defineEvent('notification.subscription_renewed', SaleNotice, {
    audience: 'user',
    description: 'A renewal, for a user without a messenger.',
    example: SALE_EXAMPLE,
  }),
] as const;

/** Notifications of what the service did without a request, with the values of their texts (spec 05 section 11.2), for users without a messenger. */
export const OWNER_NOTICE_EVENTS = [
  defineEvent('notification.subscription_expired', NoFields, {
    ...{ audience: 'user', description: 'The subscription has ended.', example: {} },
  }),
  defineEvent('notification.subscription_expiring', z.object({ days_left: DaysLeft, expires_at: Day }), {
    ...{ audience: 'user', description: 'The subscription ends soon.', example: { days_left: 3, expires_at: DAY } },
  }),
  defineEvent('notification.subscription_ended', NoFields, {
    ...{ audience: 'user', description: 'The subscription ended some days ago.', example: {} },
  }),
  defineEvent('notification.trial_ending', NoFields, {
    ...{ audience: 'user', description: 'The trial ends soon.', example: {} },
  }),
  defineEvent(
    'notification.daily_debit',
    z.object({ formatted_amount: Text, formatted_balance: Text, amount_rubles: Rubles, new_balance_rubles: Rubles }),
    {
      audience: 'user',
      description: 'A day of a daily tariff was charged.',
      example: { formatted_amount: '10 ₽', formatted_balance: '90 ₽', amount_rubles: 10, new_balance_rubles: 90 },
    },
  ),
  defineEvent('notification.daily_insufficient_funds', z.object({ required_amount: Text, current_balance: Text }), {
    audience: 'user',
    description: 'The balance does not suffice for a day of a daily tariff.',
    example: { required_amount: '10 ₽', current_balance: '3 ₽' },
  }),
  defineEvent('notification.autopay_success', z.object({ formatted_amount: Text, amount_rubles: Rubles, new_expires_at: Day }), {
    audience: 'user',
    description: 'Autopay renewed the subscription.',
    example: { formatted_amount: '500 ₽', amount_rubles: 500, new_expires_at: DAY },
  }),
  defineEvent('notification.autopay_insufficient_funds', z.object({ required_amount: Text, current_balance: Text }), {
    audience: 'user',
    description: 'The balance does not suffice for autopay.',
    example: { required_amount: '500 ₽', current_balance: '3 ₽' },
  }),
  defineEvent('notification.autopay_failed', z.object({ reason: z.string().describe('A sentence.') }), {
    audience: 'user',
    description: 'Autopay did not renew.',
    example: { reason: 'The period is no longer for sale' },
  }),
  defineEvent(
    'notification.traffic_reset',
    z.object({ reset_gb: Reset, current_limit_gb: z.number().describe('Traffic limit after it, in GB.') }),
    {
      audience: 'user',
      description: 'Purchased traffic expired.',
      example: { reset_gb: 10, current_limit_gb: 100 },
    },
  ),
  defineEvent('notification.order_bought', z.object({ description: Order, formatted_amount: Text, formatted_balance: Text }), {
    audience: 'user',
    description: 'A saved order was purchased after a top-up.',
    example: { description: 'Basic, 30 days', formatted_amount: '500 ₽', formatted_balance: '3 ₽' },
  }),
  defineEvent('notification.order_refused', z.object({ description: Order, formatted_balance: Text }), {
    audience: 'user',
    description: 'A saved order was refused after a top-up and deleted; the money stays on the balance.',
    example: { description: 'Basic, 30 days', formatted_balance: '3 ₽' },
  }),
] as const;

type OwnerNoticeEvents = EventsOf<typeof OWNER_NOTICE_EVENTS>;

/** Values of the notices by the name behind `notification.`. */
export type OwnerNotices = {
  [Type in keyof OwnerNoticeEvents as Type extends `notification.${infer Name}`
    ? Name
    : never]: OwnerNoticeEvents[Type]['payload'];
};

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof SUBSCRIPTION_EVENTS>, OwnerNoticeEvents {}
}
