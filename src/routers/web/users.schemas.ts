import { z } from 'zod';
import { PromoGroupSummary, Timestamp } from '../shared.schemas.ts';

/** Contract group `users`. */

const UserStatusName = z.enum(['active', 'blocked', 'deleted']);

export const UserListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  /** `page` and `per_page` replace `limit` and `offset` and have priority over them (spec 00, Credentials). */
  page: z.int().min(1).nullish().describe('Number of the page, from 1; another way to give `offset`.'),
  per_page: z.int().min(1).max(200).nullish().describe('Number of records per page; another way to give `limit`.'),
  status: UserStatusName.nullish().describe('Only accounts with this status: `active`, `blocked` or `deleted`; null for all.'),
  promo_group_id: z.int().nullish().describe('Only users with this primary promo group; 0 for all.'),
  search: z
    .string()
    .nullish()
    .describe('Text in user name, first or last name or referral code; digits also match the messenger id or the id.'),
});

/** A messenger id, else an internal id. */
export const UserPath = z.object({
  user_id: z.int().describe('Messenger id of the user, else the internal id: the messenger id is looked up first.'),
});

export const MessengerIdPath = z.object({ messenger_id: z.int().describe('Id of the user in the messenger.') });

export const SubscriptionSummary = z
  .object({
    id: z.int().describe('Id of the subscription.'),
    status: z
      .string()
      .describe(
        'Stored status of the subscription: `active` (trials included), `pending` (ordered, not paid), `expired` (the end has passed), `limited` (traffic used up), `disabled` (access withdrawn) or `trial` (older trials).',
      ),
    actual_status: z.string().describe('Effective status: the stored one, but `expired` once the end has passed.'),
    is_trial: z.boolean().describe('Whether the subscription is a trial.'),
    start_date: Timestamp.describe('Start of the subscription (UTC).'),
    end_date: Timestamp.describe('End of the subscription (UTC).'),
    traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    traffic_used_gb: z.number().describe('Traffic used since the last reset in GB, as the panel reports it.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    autopay_enabled: z.boolean().describe('Whether the subscription is renewed automatically from the balance.'),
    autopay_days_before: z.int().nullish().describe('Days before the end at which automatic renewal starts.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    subscription_crypto_link: z
      .string()
      .nullish()
      .describe('Encrypted form of the link for the Happ app; null when the panel gives none.'),
    connected_squads: z
      .array(z.string())
      .default([])
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription.'),
  })
  .meta({ id: 'SubscriptionSummary' });

export const UserResponse = z
  .object({
    id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    status: z
      .string()
      .describe(
        'Status of the account: `active`, `blocked` or `deleted`. Users with any other status than `active` are refused in the cabinet.',
      ),
    language: z.string().describe('Two-letter language code, for example `ru` or `en`.'),
    balance_kopeks: z.int().describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().describe('Balance in rubles: kopeks / 100.'),
    referral_code: z.string().nullish().describe('Code of the account for invitations; null while it has none.'),
    referred_by_id: z.int().nullish().describe('Internal id of the user who invited this one; null for none.'),
    has_had_paid_subscription: z.boolean().describe('Whether the user ever paid for a subscription.'),
    has_made_first_topup: z.boolean().describe('Whether the user ever topped up the balance.'),
    created_at: Timestamp.describe('When the account was created (UTC).'),
    updated_at: Timestamp.describe('When the account was last changed (UTC).'),
    last_activity: Timestamp.nullish().describe('When the user last used the service (UTC); null when never.'),
    promo_group: PromoGroupSummary.nullish().describe('Primary promo group of the user; null for none.'),
    subscription: SubscriptionSummary.nullish().describe('The subscription; null when there is none.'),
  })
  .meta({ id: 'UserResponse' });

export const UserListResponse = z
  .object({
    items: z.array(UserResponse).describe('A page of users, newest first.'),
    total: z.int().describe('Number of users that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'UserListResponse' });

export const UserCreateRequest = z
  .object({
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    language: z.string().default('ru').describe('Two-letter language code, for example `ru` or `en`.'),
    referred_by_id: z.int().nullish().describe('Internal id of the user who invited this one; null for none.'),
    promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
  })
  .meta({
    id: 'UserCreateRequest',
    example: { messenger_id: 100200300, username: 'anna_k', first_name: 'Anna', language: 'en' },
  });

export const UserUpdateRequest = z
  .object({
    username: z
      .string()
      .nullish()
      .describe('User name in the messenger, without `@`; an empty text removes it, null leaves it unchanged.'),
    first_name: z.string().nullish().describe('New first name; an empty text removes it, null leaves it unchanged.'),
    last_name: z.string().nullish().describe('New last name; an empty text removes it, null leaves it unchanged.'),
    language: z.string().nullish().describe('Two-letter language code, for example `ru` or `en`; null leaves it unchanged.'),
    status: z
      .string()
      .nullish()
      .describe('New status of the account: `active`, `blocked` or `deleted`; null leaves it unchanged.'),
    promo_group_id: z.int().nullish().describe('Promo group that replaces all groups of the user; null leaves them unchanged.'),
    referral_code: z.string().nullish().describe('New referral code, unique; null leaves it unchanged.'),
    has_had_paid_subscription: z
      .boolean()
      .nullish()
      .describe('Whether the user ever paid for a subscription. In an update null leaves it unchanged.'),
    has_made_first_topup: z
      .boolean()
      .nullish()
      .describe('Whether the user ever topped up the balance. In an update null leaves it unchanged.'),
  })
  .meta({ id: 'UserUpdateRequest', example: { first_name: 'Anna', language: 'en', promo_group_id: 1 } });

export const BalanceUpdateRequest = z
  .object({
    amount_kopeks: z.int().describe('Kopeks to add; negative to deduct. Not 0. The balance cannot become negative.'),
    description: z
      .string()
      .nullable()
      .default('Корректировка через веб-API')
      .describe('Reason of the change, stored with the movement.'),
    create_transaction: z
      .boolean()
      .default(true)
      .describe('Whether a movement is recorded. False changes the balance without a row in the history of the user.'),
  })
  .meta({ id: 'BalanceUpdateRequest' });

export const UserSubscriptionCreateRequest = z
  .object({
    is_trial: z.boolean().default(false).describe('Whether the subscription is a trial.'),
    duration_days: z.int().nullish().describe('Length in days; null for the default.'),
    traffic_limit_gb: z
      .int()
      .nullish()
      .describe('Traffic limit in GB (1024³ bytes); 0 = unlimited. Null in a request for the default.'),
    device_limit: z.int().nullish().describe('Number of devices that may be connected; null in a request for the default.'),
    squad_uuid: z.string().nullish().describe('UUID of the server (internal squad of the panel); null for none.'),
    connected_squads: z
      .array(z.string())
      .nullish()
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription; null in a request for the default.'),
    replace_existing: z
      .boolean()
      .default(false)
      .describe('Whether an existing subscription is overwritten. False refuses where there is one.'),
  })
  .meta({
    id: 'UserSubscriptionCreateRequest',
    example: { duration_days: 30, traffic_limit_gb: 100, device_limit: 2, squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' },
  });
