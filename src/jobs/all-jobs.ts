import { accessJobs } from '../domain/access/jobs.ts';
import { approvalJobs } from '../domain/approvals/jobs.ts';
import { backupJobs } from '../domain/backups/jobs.ts';
import { banSystemJobs } from '../domain/ban-system/jobs.ts';
import { broadcastKind } from '../domain/broadcasts/broadcast-kind.ts';
import { contestRoundKind } from '../domain/engagement/daily-contests/rounds.ts';
import { engagementJobs } from '../domain/engagement/jobs.ts';
import { wheelStars } from '../domain/engagement/wheel/stars-spin.ts';
import { exchangeRateJobs } from '../domain/exchange-rate/jobs.ts';
import { identityJobs } from '../domain/identity/jobs.ts';
import { insightJobs } from '../domain/insight/jobs.ts';
import { ledgerJobs } from '../domain/ledger/jobs.ts';
import { massSendJobs } from '../domain/mass-sends/jobs.ts';
import { mediaJobs } from '../domain/media/jobs.ts';
import { mergeJobs } from '../domain/merge/jobs.ts';
import { messagingJobs } from '../domain/messaging/jobs.ts';
import { opsJobs } from '../domain/ops/jobs.ts';
import { panelEventJobs } from '../domain/panel-events/jobs.ts';
import { paymentJobs } from '../domain/payments/jobs.ts';
import { personalDataJobs } from '../domain/personal-data/jobs.ts';
import { pinnedKind, unpinKind } from '../domain/pinned-messages/deliver.ts';
import { pinnedMessageJobs } from '../domain/pinned-messages/jobs.ts';
import { promoJobs } from '../domain/promo/jobs.ts';
import { promoGroupJobs } from '../domain/promo-groups/jobs.ts';
import { provisioningJobs } from '../domain/provisioning/jobs.ts';
import { receiptJobs } from '../domain/receipts/jobs.ts';
import { referralJobs } from '../domain/referrals/jobs.ts';
import { safetyJobs } from '../domain/safety/jobs.ts';
import { giftStars } from '../domain/storefront/gifts/gift-stars.ts';
import { storefrontJobs } from '../domain/storefront/jobs.ts';
import { deliverWaiting } from '../domain/storefront/purchases/fulfil-purchase.ts';
import { guestPurchases } from '../domain/storefront/purchases/purpose.ts';

import { subscriptionJobs } from '../domain/subscriptions/jobs.ts';
import { ticketJobs } from '../domain/tickets/jobs.ts';
import { trafficAlarmJobs } from '../domain/traffic-alarms/jobs.ts';
import { updateJobs } from '../domain/updates/jobs.ts';
import { userJobs } from '../domain/users/jobs.ts';
import { webhookJobs } from '../domain/webhooks/jobs.ts';

/**
 * The jobs of all modules, and what later modules add to the jobs of earlier ones. The return type is inferred: it has the name and
 * the payload of every job, by which a test compares the list with `JobTypes`.
 */
export function allJobs() {
  return [
    ...messagingJobs,
    ...ledgerJobs,
    ...identityJobs,
    ...accessJobs,
    ...approvalJobs,
    ...promoGroupJobs,
    // A guest purchase may be waiting for the links that the panel returns with a push.
    ...provisioningJobs((app, subscriptionId) => deliverWaiting(app, { subscriptionId })),
    ...subscriptionJobs,
    ...panelEventJobs,
    ...paymentJobs({ stars: [wheelStars, giftStars], invoices: [guestPurchases] }),
    ...promoJobs,
    ...storefrontJobs,
    ...receiptJobs,
    ...exchangeRateJobs,
    ...userJobs,
    ...referralJobs,
    ...engagementJobs,
    ...mergeJobs,
    ...massSendJobs({ broadcast: broadcastKind, contest_round: contestRoundKind, pinned: pinnedKind, unpin: unpinKind }),
    ...pinnedMessageJobs,
    ...mediaJobs,
    ...ticketJobs,
    ...webhookJobs(),
    ...safetyJobs,
    ...banSystemJobs,
    ...updateJobs,
    ...trafficAlarmJobs,
    ...insightJobs,
    ...opsJobs,
    ...personalDataJobs,
    ...backupJobs,
  ];
}
