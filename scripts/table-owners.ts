/**
 * The module that owns each table: only its files insert, update and delete rows there; other modules call its functions
 * (docs/architecture.md). `core` is `src/core`. Every table of prisma/models has exactly one entry; `check-table-owners` compares the list
 * with the schema and with the writes in src.
 */
export const TABLE_OWNERS: Readonly<Record<string, string | readonly string[]>> = {
  domain_events: 'core',
  rate_limit_windows: 'core',
  schema_migrations: 'core',
  schema_sql: 'core',
  service_state: 'core',
  short_lived_entries: 'core',

  backup_tasks: 'backups',

  data_archive_parts: 'personal-data',
  data_requests: 'personal-data',

  import_runs: 'import',
  import_parked: 'import',
  import_issues: 'import',
  import_map: 'import',

  system_settings: 'settings',

  subscription_events: 'activity',

  monitoring_logs: 'monitoring',

  email_templates: 'messaging',
  outgoing_mails: 'messaging',

  idempotency_keys: 'ledger',
  ledger_accounts: 'ledger',
  ledger_checked_balances: 'ledger',
  ledger_entries: 'ledger',
  ledger_problems: 'ledger',
  transaction_count_mark: 'ledger',
  transaction_day_counts: 'ledger',
  transactions: 'ledger',

  access_policies: 'access',
  admin_audit_log: 'access',
  admin_roles: 'access',
  audit_days: 'access',
  audit_links: 'access',
  lifted_denials: 'access',

  approvals: 'approvals',

  user_roles: 'access',
  web_api_tokens: 'access',

  cabinet_refresh_tokens: 'identity',
  recovery_codes: 'identity',
  second_factors: 'identity',
  disposable_email_domains: 'identity',
  // An account (identity) and its administration (users) are two modules over one row.
  users: ['identity', 'users'],
  user_day_counters: 'users',
  user_stats: 'users',
  user_counters: 'users',
  user_traffic: 'users',
  low_balance_notices: 'users',
  account_merges: 'merge',

  promo_groups: 'promo-groups',
  user_promo_groups: 'promo-groups',

  server_squad_promo_groups: 'catalog',
  server_squads: 'catalog',
  squad_counters: 'catalog',
  tariff_promo_groups: 'catalog',
  tariffs: 'catalog',

  panel_sync_runs: 'provisioning',
  panel_sync_users: 'provisioning',
  squad_migration_items: 'provisioning',
  squad_migration_runs: 'provisioning',
  subscription_servers: 'provisioning',

  panel_events: 'panel-events',

  sent_notifications: 'subscriptions',
  subscription_conversions: 'subscriptions',

  paid_trials: 'subscriptions',
  subscription_counters: 'subscriptions',
  // Catalog and provisioning come before `subscriptions` in the order of modules; what they change of its rows is `subscription-state`.
  subscriptions: ['subscription-state', 'subscriptions'],
  traffic_purchases: 'subscriptions',
  trial_day_counters: 'subscriptions',

  payment_cases: 'payments',
  payment_day_counters: 'payments',
  payment_method_configs: 'payments',
  payment_method_promo_groups: 'payments',
  payment_reversals: 'payments',
  payments: 'payments',
  provider_callbacks: 'payments',
  recurrent_attempts: 'payments',
  recurrent_charges: 'payments',
  provider_nonces: 'payments',
  saved_payment_methods: 'payments',

  discount_offers: 'promo',
  promo_offer_broadcasts: 'promo',
  promo_offer_deliveries: 'promo',
  promo_offer_logs: 'promo',
  promo_offer_templates: 'promo',
  promocode_activations: 'promo',
  promocode_uses: 'promo',
  promocodes: 'promo',
  subscription_temporary_access: 'promo',

  guest_purchases: 'storefront',
  landing_pages: 'storefront',

  receipts: 'receipts',
  exchange_rates: 'exchange-rate',

  partner_applications: 'referrals',
  referral_bonuses: 'referrals',
  referral_debts: 'referrals',
  referral_earnings: 'referrals',
  reward_reversals: 'referrals',
  referral_day_counters: 'referrals',
  referrer_days: 'referrals',
  referrer_stats: 'referrals',
  withdrawal_counters: 'referrals',
  withdrawal_requests: 'referrals',

  advertising_campaign_registrations: 'campaigns',
  advertising_campaigns: 'campaigns',
  campaign_day_counters: 'campaigns',
  campaign_counters: 'campaigns',

  contest_attempts: 'engagement',
  contest_rounds: 'engagement',
  contest_templates: 'engagement',
  poll_answers: 'engagement',
  poll_options: 'engagement',
  poll_questions: 'engagement',
  poll_responses: 'engagement',
  poll_sends: 'engagement',
  polls: 'engagement',
  referral_contest_events: 'engagement',
  referral_contest_scores: 'engagement',
  referral_contest_summaries: 'engagement',
  referral_contest_virtual_participants: 'engagement',
  referral_contests: 'engagement',
  wheel_configs: 'engagement',
  wheel_prizes: 'engagement',
  wheel_spins: 'engagement',

  media_files: 'media',

  mass_sends: 'mass-sends',
  mass_send_recipients: 'mass-sends',
  messenger_blocks: 'mass-sends',
  send_paces: 'mass-sends',
  broadcast_history: 'broadcasts',
  pinned_messages: 'pinned-messages',
  pinned_deliveries: 'pinned-messages',

  support_audit_logs: 'tickets',
  ticket_messages: 'tickets',
  ticket_notifications: 'tickets',
  tickets: 'tickets',

  branding_images: 'content',
  button_click_logs: 'content',
  faq_pages: 'content',
  faq_settings: 'content',
  legal_documents: 'content',
  main_menu_buttons: 'content',
  menu_layout_history: 'content',
  menu_layouts: 'content',
  service_rules: 'content',
  user_messages: 'content',
  welcome_texts: 'content',

  webhook_attempts: 'webhooks',
  webhook_deliveries: 'webhooks',
  webhooks: 'webhooks',

  panel_traffic_fills: 'insight',
  panel_traffic_users: 'insight',
  branch_sales: 'insight',
  payer_cohort_days: 'insight',
  payer_cohort_months: 'insight',
  payers: 'insight',
  sales_days: 'insight',
  single_payment_days: 'insight',
  statistics_days: 'insight',
  statistics_mark: 'insight',
  trial_origins: 'insight',
  panel_user_details: 'insight',

  release_notices: 'updates',

  traffic_alarms: 'traffic-alarms',
  traffic_snapshots: 'traffic-alarms',
  traffic_violations: 'traffic-alarms',

  blacklist_entries: 'safety',
  required_channels: 'safety',
  user_channel_subscriptions: 'safety',
};

/** Tables without a Prisma model. */
export const TABLES_WITHOUT_MODEL: readonly string[] = ['schema_migrations', 'schema_sql'];

/** They copy whole databases into a new one: as it is, and from another product. */
export const EXEMPT_FOLDERS: readonly string[] = ['src/cli/move/', 'src/domain/import/'];

/** The module of a file of src; outside of the domain the layer, of which only `core` owns tables. */
export function moduleOfFile(path: string): string {
  const parts = path.split('/');
  return parts[1] === 'domain' ? parts[2]! : parts[1]!;
}

export function ownersOf(table: string): readonly string[] {
  const owners = TABLE_OWNERS[table] ?? [];
  return typeof owners === 'string' ? [owners] : owners;
}
