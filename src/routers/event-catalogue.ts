/** Every event that clients receive, from the definitions of the modules (spec 10 K3). */
import type { EventDefinition } from '../core/events/define-event.ts';
import { ACCESS_EVENTS } from '../domain/access/events.ts';
import { APPROVAL_EVENTS } from '../domain/approvals/events.ts';
import { BAN_EVENTS } from '../domain/ban-system/ban-notices.ts';
import { BROADCAST_EVENTS } from '../domain/broadcasts/events.ts';
import { IDENTITY_EVENTS } from '../domain/identity/events.ts';
import { SECOND_FACTOR_EVENTS } from '../domain/identity/second-factor/account-factors.ts';
import { LEDGER_EVENTS } from '../domain/ledger/events.ts';
import { PANEL_NOTICE_EVENTS } from '../domain/panel-events/notices.ts';
import { PERSONAL_DATA_EVENTS } from '../domain/personal-data/events.ts';
import { PINNED_MESSAGE_EVENTS } from '../domain/pinned-messages/events.ts';
import { REFERRAL_EVENTS } from '../domain/referrals/events.ts';
import { OWNER_NOTICE_EVENTS, SUBSCRIPTION_EVENTS } from '../domain/subscriptions/events.ts';
import { TICKET_EVENTS } from '../domain/tickets/events.ts';
import { ACCOUNT_STATUS_EVENTS } from '../domain/users/account/change-account.ts';
import { LOW_BALANCE_EVENTS } from '../domain/users/notifications/notify-low-balances.ts';

export const EVENT_CATALOGUE: readonly EventDefinition[] = [
  ...IDENTITY_EVENTS,
  ...SECOND_FACTOR_EVENTS,
  ...PERSONAL_DATA_EVENTS,
  ...LEDGER_EVENTS,
  ...TICKET_EVENTS,
  ...SUBSCRIPTION_EVENTS,
  ...ACCOUNT_STATUS_EVENTS,
  ...REFERRAL_EVENTS,
  ...BROADCAST_EVENTS,
  ...PINNED_MESSAGE_EVENTS,
  ...OWNER_NOTICE_EVENTS,
  ...LOW_BALANCE_EVENTS,
  ...BAN_EVENTS,
  ...PANEL_NOTICE_EVENTS,
  ...ACCESS_EVENTS,
  ...APPROVAL_EVENTS,
];
