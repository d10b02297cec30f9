import type { Random } from '../../core/random.ts';
import { sourceSumStep } from './compare-sums.ts';
import { accessStep } from './import-access.ts';
import { catalogueRowsStep, catalogueRulesStep } from './import-catalogue.ts';
import { contactStep } from './import-contact.ts';
import { contentStep } from './import-content.ts';
import { dailyContestStep, pollStep, referralContestStep, wheelStep } from './import-engagement.ts';
import { applicationStep, campaignStep, earningStep, offerStep, promocodeStep } from './import-growth.ts';
import { homelessStep, sourceColumnsStep } from './import-homeless.ts';
import { panelLinkStep } from './import-panel-links.ts';
import { paymentStep } from './import-payments.ts';
import { peopleStep, referralCodeStep, userRowsStep } from './import-people.ts';
import { guestPurchaseStep, landingStep, paymentMethodStep, withdrawalStep } from './import-sales.ts';
import { settingStep } from './import-settings.ts';
import type { ImportStep } from './import-step.ts';
import { subscriptionRowsStep, subscriptionRulesStep } from './import-subscriptions.ts';
import { textLengthStep } from './import-text-lengths.ts';
import { transactionRowsStep, transactionRulesStep } from './import-transactions.ts';
import { unfinishedStep } from './import-unfinished.ts';
import { repeatedIdStep, uniqueKeyStep } from './import-unique-keys.ts';
import { valueStep } from './import-values.ts';

/** The parts of an import in their order: rules for rows on which others depend come first. */
export function importSteps(random: Random): ImportStep[] {
  return [
    ...[sourceColumnsStep, sourceSumStep, repeatedIdStep, valueStep, textLengthStep],
    ...[peopleStep, referralCodeStep(random), transactionRulesStep],
    ...[catalogueRulesStep, subscriptionRulesStep, panelLinkStep, unfinishedStep],
    ...[userRowsStep, catalogueRowsStep, subscriptionRowsStep, transactionRowsStep, paymentStep],
    // Of tariffs and subscriptions only the kept rows are left by now.
    ...[promocodeStep, offerStep, campaignStep, earningStep, applicationStep],
    ...[pollStep, wheelStep, referralContestStep, dailyContestStep],
    ...[landingStep, guestPurchaseStep, paymentMethodStep, withdrawalStep],
    ...[settingStep, contactStep, contentStep, accessStep],
    // Over all prepared rows, and over all tables of the source.
    ...[uniqueKeyStep, homelessStep],
  ];
}

/** Tables of the service that the steps fill. */
export const PREPARED_TABLES: readonly string[] = `
  users promo_groups user_promo_groups transactions payments
  tariffs tariff_promo_groups server_squads server_squad_promo_groups
  subscriptions subscription_servers traffic_purchases sent_notifications subscription_events subscription_conversions
  promocodes promocode_uses promocode_activations discount_offers promo_offer_templates promo_offer_logs
  subscription_temporary_access advertising_campaigns advertising_campaign_registrations referral_earnings partner_applications
  polls poll_questions poll_options poll_responses poll_answers wheel_configs wheel_prizes wheel_spins
  referral_contests referral_contest_events referral_contest_virtual_participants
  contest_templates contest_rounds contest_attempts
  landing_pages guest_purchases payment_method_configs payment_method_promo_groups saved_payment_methods withdrawal_requests
  tickets ticket_messages ticket_notifications support_audit_logs admin_audit_log button_click_logs
  webhooks required_channels user_channel_subscriptions system_settings menu_layouts menu_layout_history
  welcome_texts user_messages service_rules faq_pages faq_settings legal_documents pinned_messages
  broadcast_history mass_sends main_menu_buttons email_templates media_files
  admin_roles user_roles access_policies web_api_tokens cabinet_refresh_tokens
`
  .trim()
  .split(/\s+/);
