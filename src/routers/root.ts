import { adminApiTokensRouter } from './admin/api-tokens.router.ts';
import { adminApprovalsRouter } from './admin/approvals.router.ts';
import { adminAppsRouter } from './admin/apps.router.ts';
import { adminAuditLogRouter } from './admin/audit-log.router.ts';
import { adminBackupsRouter } from './admin/backups.router.ts';
import { adminBanSystemRouter } from './admin/ban-system.router.ts';
import { brandingEditorRouter } from './admin/branding.router.ts';
import { adminBroadcastsRouter } from './admin/broadcasts.router.ts';
import { adminButtonStylesRouter } from './admin/button-styles.router.ts';
import { adminCampaignStatsRouter } from './admin/campaign-stats.router.ts';
import { adminCampaignsRouter } from './admin/campaigns.router.ts';
import { adminChannelsRouter } from './admin/channels.router.ts';
import { adminEmailTemplatesRouter } from './admin/email-templates.router.ts';
import { adminJobQueuesRouter } from './admin/job-queues.router.ts';
import { adminLandingsRouter } from './admin/landings.router.ts';
import { adminMenuLayoutRouter } from './admin/menu-layout.router.ts';
import { adminPartnersRouter } from './admin/partners.router.ts';
import { adminPaymentMethodsRouter } from './admin/payment-methods.router.ts';
import { adminPaymentsRouter } from './admin/payments.router.ts';
import { adminPersonalDataRouter } from './admin/personal-data.router.ts';
import { adminPinnedMessagesRouter } from './admin/pinned-messages.router.ts';
import { adminPoliciesRouter } from './admin/policies.router.ts';
import { adminPromoGroupsRouter } from './admin/promo-groups.router.ts';
import { adminPromoOffersRouter } from './admin/promo-offers.router.ts';
import { adminPromocodesRouter } from './admin/promocodes.router.ts';
import { adminRbacRouter } from './admin/rbac.router.ts';
import { adminReferralNetworkRouter } from './admin/referral-network.router.ts';
import { adminSalesStatsRouter } from './admin/sales-stats.router.ts';
import { adminServersRouter } from './admin/servers.router.ts';
import { adminSettingsRouter } from './admin/settings.router.ts';
import { adminStatsRouter } from './admin/stats.router.ts';
import { adminTariffsRouter } from './admin/tariffs.router.ts';
import { adminTicketNotificationsRouter } from './admin/ticket-notifications.router.ts';
import { adminTicketsRouter } from './admin/tickets.router.ts';
import { adminTrafficRouter } from './admin/traffic.router.ts';
import { adminUpdatesRouter } from './admin/updates.router.ts';
import { adminUsersRouter } from './admin/users.router.ts';
import { adminVpnpanelRouter } from './admin/vpnpanel.router.ts';
import { adminVpnpanelSyncRouter } from './admin/vpnpanel-sync.router.ts';
import { adminWheelRouter } from './admin/wheel.router.ts';
import { adminWithdrawalsRouter } from './admin/withdrawals.router.ts';
import { cabinetAuthRouter } from './cabinet/auth.router.ts';
import { balanceRouter } from './cabinet/balance.router.ts';
import { brandingRouter } from './cabinet/branding.router.ts';
import { cabinetContestsRouter } from './cabinet/contests.router.ts';
import { freshSignInRouter } from './cabinet/fresh-sign-in.router.ts';
import { giftRouter } from './cabinet/gift.router.ts';
import { infoRouter } from './cabinet/info.router.ts';
import { landingRouter } from './cabinet/landing.router.ts';
import { accountLinkingRouter } from './cabinet/linking.router.ts';
import { cabinetMediaRouter } from './cabinet/media.router.ts';
import { accountMergeRouter } from './cabinet/merge.router.ts';
import { cabinetNotificationsRouter } from './cabinet/notifications.router.ts';
import { oauthRouter } from './cabinet/oauth.router.ts';
import { partnerRouter } from './cabinet/partner.router.ts';
import { personalDataRouter } from './cabinet/personal-data.router.ts';
import { cabinetPollsRouter } from './cabinet/polls.router.ts';
import { cabinetPromoRouter } from './cabinet/promo.router.ts';
import { promocodeRouter } from './cabinet/promocode.router.ts';
import { referralRouter } from './cabinet/referral.router.ts';
import { secondFactorRouter } from './cabinet/second-factor.router.ts';
import { subscriptionRouter } from './cabinet/subscription.router.ts';
import { subscriptionAddonsRouter } from './cabinet/subscription-addons.router.ts';
import { subscriptionConnectionRouter } from './cabinet/subscription-connection.router.ts';
import { subscriptionPurchaseRouter } from './cabinet/subscription-purchase.router.ts';
import { ticketNotificationsRouter } from './cabinet/ticket-notifications.router.ts';
import { ticketsRouter } from './cabinet/tickets.router.ts';
import { wheelRouter } from './cabinet/wheel.router.ts';
import { withdrawalRouter } from './cabinet/withdrawal.router.ts';
import { miniappCardRouter } from './miniapp/card.router.ts';
import { miniappClassicRouter } from './miniapp/classic.router.ts';
import { miniappPaymentsRouter } from './miniapp/payments.router.ts';
import { miniappSettingsRouter } from './miniapp/settings.router.ts';
import { miniappSubscriptionRouter } from './miniapp/subscription.router.ts';
import { miniappTariffsRouter } from './miniapp/tariffs.router.ts';
import { router } from './trpc.ts';
import { apiTokenLimitsRouter, authRouter } from './web/auth.router.ts';
import { backupsRouter } from './web/backups.router.ts';
import { banNotificationsRouter } from './web/ban-notifications.router.ts';
import { broadcastsRouter } from './web/broadcasts.router.ts';
import { campaignsRouter } from './web/campaigns.router.ts';
import { contestsRouter } from './web/contests.router.ts';
import { healthRouter } from './web/health.router.ts';
import { logsRouter } from './web/logs.router.ts';
import { mainMenuRouter } from './web/main-menu.router.ts';
import { mediaRouter } from './web/media.router.ts';
import { menuLayoutRouter } from './web/menu-layout.router.ts';
import { menuLayoutPartsRouter } from './web/menu-layout-parts.router.ts';
import { menuLayoutStatsRouter } from './web/menu-layout-stats.router.ts';
import { notificationsRouter } from './web/notifications.router.ts';
import { pagesRouter } from './web/pages.router.ts';
import { partnersRouter } from './web/partners.router.ts';
import { pinnedMessagesRouter } from './web/pinned-messages.router.ts';
import { pollsRouter } from './web/polls.router.ts';
import { promoGroupsRouter } from './web/promo-groups.router.ts';
import { promoOffersRouter } from './web/promo-offers.router.ts';
import { promocodesRouter } from './web/promocodes.router.ts';
import { referralContestsRouter } from './web/referral-contests.router.ts';
import { serversRouter } from './web/servers.router.ts';
import { settingsRouter } from './web/settings.router.ts';
import { statsRouter } from './web/stats.router.ts';
import { subscriptionsRouter } from './web/subscriptions.router.ts';
import { supportRouter } from './web/support.router.ts';
import { transactionsRouter } from './web/transactions.router.ts';
import { usersRouter } from './web/users.router.ts';
import { vpnpanelRouter } from './web/vpnpanel.router.ts';
import { vpnpanelSyncRouter } from './web/vpnpanel-sync.router.ts';
import { webhooksRouter } from './web/webhooks.router.ts';
import { welcomeTextsRouter } from './web/welcome-texts.router.ts';

/**
 * All operations, by area and tag group. The name of a group is its tag in the contract without the area, in camel case, however many
 * files the group has: these names are what clients call and never change (tests/unit/routers/procedure-names.json). Eager and static:
 * a lazy router would be missing in REST and in the document. A group of several files is one router of their records, because the client's
 * declarations are read off one object type (scripts/client-declarations.ts).
 */
export const appRouter = router({
  web: router({
    health: healthRouter,
    auth: authRouter,
    apiTokenLimits: apiTokenLimitsRouter,
    users: usersRouter,
    transactions: transactionsRouter,
    subscriptions: subscriptionsRouter,
    servers: serversRouter,
    notifications: notificationsRouter,
    promoGroups: promoGroupsRouter,
    promoCodes: promocodesRouter,
    promoOffers: promoOffersRouter,
    campaigns: campaignsRouter,
    webhooks: webhooksRouter,
    support: supportRouter,
    media: mediaRouter,
    backups: backupsRouter,
    broadcasts: broadcastsRouter,
    pinnedMessages: pinnedMessagesRouter,
    polls: pollsRouter,
    contests: router({ ...contestsRouter._def.record, ...referralContestsRouter._def.record }),
    partners: partnersRouter,
    settings: settingsRouter,
    stats: statsRouter,
    logs: logsRouter,
    menuLayout: router({
      ...menuLayoutRouter._def.record,
      ...menuLayoutPartsRouter._def.record,
      ...menuLayoutStatsRouter._def.record,
    }),
    pages: pagesRouter,
    mainMenu: mainMenuRouter,
    welcomeTexts: welcomeTextsRouter,
    banNotifications: banNotificationsRouter,
    vpnpanel: router({ ...vpnpanelRouter._def.record, ...vpnpanelSyncRouter._def.record }),
  }),
  cabinet: router({
    auth: cabinetAuthRouter,
    oauth: oauthRouter,
    accountLinking: accountLinkingRouter,
    freshSignIn: freshSignInRouter,
    secondFactor: secondFactorRouter,
    personalData: personalDataRouter,
    accountMerge: accountMergeRouter,
    balance: balanceRouter,
    promocode: promocodeRouter,
    promo: cabinetPromoRouter,
    subscription: router({
      ...subscriptionRouter._def.record,
      ...subscriptionPurchaseRouter._def.record,
      ...subscriptionAddonsRouter._def.record,
      ...subscriptionConnectionRouter._def.record,
    }),
    tickets: ticketsRouter,
    ticketNotifications: ticketNotificationsRouter,
    notifications: cabinetNotificationsRouter,
    media: cabinetMediaRouter,
    polls: cabinetPollsRouter,
    contests: cabinetContestsRouter,
    fortuneWheel: wheelRouter,
    referral: referralRouter,
    partner: partnerRouter,
    withdrawal: withdrawalRouter,
    info: infoRouter,
    landingPages: landingRouter,
    gift: giftRouter,
    branding: router({ ...brandingRouter._def.record, ...brandingEditorRouter._def.record }),
  }),
  miniapp: router({
    ...miniappTariffsRouter._def.record,
    ...miniappSubscriptionRouter._def.record,
    ...miniappClassicRouter._def.record,
    ...miniappCardRouter._def.record,
    ...miniappSettingsRouter._def.record,
    ...miniappPaymentsRouter._def.record,
  }),
  admin: router({
    personalData: adminPersonalDataRouter,
    backups: adminBackupsRouter,
    jobQueues: adminJobQueuesRouter,
    users: adminUsersRouter,
    tariffs: adminTariffsRouter,
    servers: adminServersRouter,
    apps: adminAppsRouter,
    banSystem: adminBanSystemRouter,
    updates: adminUpdatesRouter,
    emailTemplates: adminEmailTemplatesRouter,
    traffic: adminTrafficRouter,
    stats: adminStatsRouter,
    salesStats: adminSalesStatsRouter,
    referralNetwork: adminReferralNetworkRouter,
    rbac: adminRbacRouter,
    rbacPolicies: adminPoliciesRouter,
    rbacAuditLog: adminAuditLogRouter,
    promoGroups: adminPromoGroupsRouter,
    promocodes: adminPromocodesRouter,
    promoOffers: adminPromoOffersRouter,
    campaigns: router({ ...adminCampaignsRouter._def.record, ...adminCampaignStatsRouter._def.record }),
    fortuneWheel: adminWheelRouter,
    partners: adminPartnersRouter,
    withdrawals: adminWithdrawalsRouter,
    approvals: adminApprovalsRouter,
    apiTokens: adminApiTokensRouter,
    tickets: adminTicketsRouter,
    ticketNotifications: adminTicketNotificationsRouter,
    settings: adminSettingsRouter,
    menuLayout: adminMenuLayoutRouter,
    buttonStyles: adminButtonStylesRouter,
    vpnpanel: router({ ...adminVpnpanelRouter._def.record, ...adminVpnpanelSyncRouter._def.record }),
    landings: adminLandingsRouter,
    channels: adminChannelsRouter,
    broadcasts: adminBroadcastsRouter,
    pinnedMessages: adminPinnedMessagesRouter,
    paymentMethods: adminPaymentMethodsRouter,
    payments: adminPaymentsRouter,
  }),
});

export type AppRouter = typeof appRouter;
