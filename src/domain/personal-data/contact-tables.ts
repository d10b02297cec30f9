import { type Erasure, MINE, OWNER, type PersonalTable, unexported } from './personal-table.ts';

const NAMED = (column: string) =>
  `(r.${column} ->> 'user_id' = $user::text OR r.${column} ->> 'messenger_id' = $messenger::text OR lower(r.${column} ->> 'email') = ANY($emails::text[]))`;
const namedToReferrer = (userId: string) => `(strpos(r.payload ->> 'description', $name::text) > 0
  AND ${userId} IN (SELECT e.user_id::text FROM referral_earnings e WHERE e.referral_id = $user))`;
const COPIED_REWARD = 'copies of rewards of the referrer, who is another person';
const COPIED_BEFORE: Erasure = { by: 'delete', when: 'afterwards', unless: 'r.created_at > $at' };
const OF_THE_SOURCE = `(r.source_table = 'users' AND %id% = $user::text)`;
const OF_MY_TICKET = 'r.ticket_id IN (SELECT k.id FROM tickets k WHERE k.user_id = $user)';
const COUNTER = 'a counter without names, maintained by triggers or a job';
const BRIEF = 'a copy for minutes to days';
const STAFF = 'what a member of the staff made stays without its author';

/** References of what the person made as a member of the staff. */
const byStaff = (table: string, column: string): PersonalTable =>
  unexported(table, `r.${column} = $user`, STAFF, { by: 'reference' });
const counter = (table: string, of = MINE): PersonalTable =>
  unexported(table, of, 'derived from other rows', { by: 'kept', why: COUNTER });

/** Messages, files, what other systems said, and what refers to a person without being the person's. */
export const CONTACT_TABLES: readonly PersonalTable[] = [
  // Support and files.
  {
    table: 'tickets',
    of: MINE,
    exports: 'id title status priority created_at updated_at closed_at',
    withheld: { internal: 'user_id user_reply_block_permanent user_reply_block_until last_user_message_at last_sla_reminder_at' },
    erasure: OWNER,
  },
  {
    table: 'ticket_messages',
    of: MINE,
    exports: 'id ticket_id message_text is_from_admin has_media media_type media_file_id media_caption created_at',
    ...{ withheld: { internal: 'user_id', ofOthers: 'admin_user_id' }, erasure: OWNER },
  },
  {
    table: 'ticket_notifications',
    of: `(r.user_id = $user AND NOT r.is_for_admin)`,
    exports: 'id ticket_id notification_type message is_read created_at read_at',
    ...{ withheld: { internal: 'user_id is_for_admin' }, erasure: OWNER },
  },
  {
    table: 'media_files',
    of: `(r.uploaded_by = $user OR r.file_id IN (SELECT m.media_file_id FROM ticket_messages m WHERE m.user_id = $user))`,
    key: 'file_id',
    exports: 'file_id media_type source file_name mime_type size_bytes is_private created_at',
    withheld: { internal: 'uploaded_by messenger_file_id storage_key' },
    erasure: {
      ...{ by: 'delete', when: 'before' },
      unless: `(EXISTS (SELECT 1 FROM broadcast_history b WHERE b.media_file_id = r.file_id) OR EXISTS (SELECT 1 FROM pinned_messages b WHERE b.media_file_id = r.file_id)
        OR EXISTS (SELECT 1 FROM ticket_messages m WHERE m.media_file_id = r.file_id AND m.user_id <> $user))`,
    },
  },
  {
    table: 'support_audit_logs',
    of: `(r.target_user_id = $user OR r.actor_user_id = $user OR r.actor_messenger_id = $messenger OR ${OF_MY_TICKET})`,
    notExported: 'what the support did',
    erasure: {
      ...{ by: 'clear', when: 'before', why: 'what the support did, without whom and without texts' },
      set: {
        details: `'{}'::jsonb`,
        actor_messenger_id:
          'CASE WHEN r.actor_user_id = $user OR r.actor_messenger_id = $messenger THEN NULL ELSE r.actor_messenger_id END',
      },
    },
  },

  // Messages and events.
  {
    ...{ table: 'messenger_blocks', of: MINE, key: 'user_id', exports: 'blocked_at' },
    ...{ withheld: { internal: 'user_id' }, erasure: OWNER },
  },
  unexported('pinned_deliveries', MINE, BRIEF, OWNER),
  unexported('panel_events', MINE, BRIEF, OWNER),
  unexported('mass_send_recipients', MINE, 'which broadcast was sent; it has no index by user and is deleted after 30 days', {
    ...{ by: 'kept', why: 'the number of the account, deleted 30 days after the broadcast' },
  }),
  unexported('outgoing_mails', 'lower(r.recipient) = ANY($emails::text[])', 'mails of a week, made of other rows', {
    ...{ by: 'delete', when: 'afterwards', unless: 'r.created_at > $at' },
  }),
  unexported('domain_events', `(r.user_id = $user OR ${NAMED('payload')})`, 'copies of other rows for a week', {
    ...{ by: 'delete', when: 'afterwards', unless: 'r.user_id <> $user AND r.created_at > $at' },
  }),
  unexported('webhook_deliveries', NAMED('payload'), 'copies of other rows for webhooks', {
    ...{ by: 'delete', when: 'afterwards', unless: "r.status = 'pending' OR r.created_at > $at" },
  }),
  unexported('monitoring_logs', NAMED('data'), 'what jobs did', {
    ...{ by: 'delete', when: 'afterwards', unless: 'r.created_at > $at' },
  }),
  {
    table: 'user_channel_subscriptions',
    ...{ of: 'r.messenger_id = $messenger', key: 'channel_id', exports: 'channel_id is_member checked_at' },
    withheld: { internal: 'messenger_id' },
    erasure: { by: 'delete', when: 'afterwards' },
  },
  unexported('blacklist_entries', 'r.messenger_id = $messenger', 'a list of the operator, from outside', {
    ...{ by: 'kept', why: 'who is refused must stay refused; the operator removes entries by hand' },
  }),

  // The panel.
  unexported('panel_sync_users', 'r.panel_uuid = $panel', BRIEF, { by: 'delete', when: 'afterwards' }),
  unexported('traffic_snapshots', 'r.panel_uuid = $panel', BRIEF, { by: 'delete', when: 'afterwards' }),
  unexported('traffic_violations', 'r.panel_uuid = $panel', BRIEF, { by: 'delete', when: 'afterwards' }),
  unexported('traffic_alarms', 'r.panel_uuid = $panel', BRIEF, { by: 'delete', when: 'afterwards' }),
  unexported('panel_traffic_users', MINE, BRIEF, { by: 'delete', when: 'afterwards' }),
  unexported('panel_user_details', MINE, BRIEF, { by: 'delete', when: 'afterwards' }),

  // An import from another product.
  {
    table: 'import_parked',
    of: `(${OF_THE_SOURCE.replace('%id%', 'r.source_id')} OR r.row ->> 'user_id' = $user::text OR r.row ->> 'telegram_id' = $messenger::text)`,
    exports: 'id source_table source_id reason row',
    withheld: { internal: 'run_id is_whole' },
    erasure: { by: 'delete', when: 'afterwards' },
  },
  unexported(
    'import_issues',
    `(${OF_THE_SOURCE.replace('%id%', 'r.subject')} OR r.detail ->> 'user_id' = $user::text OR r.detail ->> 'telegram_id' = $messenger::text
      OR EXISTS (SELECT 1 FROM unnest($emails::text[]) e WHERE strpos(lower(r.detail::text), e) > 0))`,
    'differences that an import found',
    { by: 'delete', when: 'afterwards' },
  ),

  // What the person was called in rows of others.
  unexported(
    'transactions',
    `(r.user_id IN (SELECT e.user_id FROM referral_earnings e WHERE e.referral_id = $user) AND r.type = 'referral_reward' AND strpos(r.description, $name::text) > 0)`,
    'rewards of the referrer, who is another person',
    {
      ...{ by: 'clear', when: 'afterwards', why: 'the books stay' },
      set: { description: `replace(r.description, $name::text, '—')` },
    },
  ),
  unexported(
    'domain_events',
    namedToReferrer("coalesce(r.user_id::text, r.payload ->> 'user_id')"),
    COPIED_REWARD,
    COPIED_BEFORE,
  ),
  unexported('webhook_deliveries', namedToReferrer("r.payload ->> 'user_id'"), COPIED_REWARD, COPIED_BEFORE),
  {
    ...{ table: 'users', name: 'referrals' },
    ...{ of: 'r.referred_by_id = $user', exports: 'id created_at' },
    erasure: { by: 'reference' },
  },
  // A merge clears the id of the author, not the name.
  unexported('broadcast_history', '(r.admin_id = $user OR (r.admin_id IS NULL AND r.admin_name = $name::text))', STAFF, {
    ...{ by: 'clear', when: 'before', set: { admin_name: 'NULL' }, why: STAFF },
  }),
  unexported('admin_audit_log', MINE, 'what an administrator did', {
    ...{ by: 'kept', why: 'chained by hashes; entries end with AUDIT_LOG_RETENTION_DAYS' },
  }),
  unexported('lifted_denials', MINE, 'what administrators decided about rights', OWNER),
  unexported('audit_links', MINE, 'what an administrator did', {
    by: 'kept',
    why: 'the hashes over the entries, with the number of the actor',
  }),
  ...[
    ...[byStaff('admin_roles', 'created_by'), byStaff('access_policies', 'created_by'), byStaff('user_roles', 'assigned_by')],
    ...[
      byStaff('advertising_campaigns', 'created_by'),
      byStaff('partner_applications', 'processed_by'),
      byStaff('polls', 'created_by'),
    ],
    ...[
      byStaff('promo_offer_broadcasts', 'created_by'),
      byStaff('promo_offer_templates', 'created_by'),
      byStaff('promocodes', 'created_by'),
    ],
    ...[
      byStaff('referral_contests', 'created_by'),
      byStaff('ticket_messages', 'admin_user_id'),
      byStaff('user_messages', 'created_by'),
    ],
    ...[byStaff('welcome_texts', 'created_by'), byStaff('pinned_messages', 'created_by')],
  ],
  unexported('withdrawal_requests', '(r.processed_by = $user OR r.first_approved_by = $user)', STAFF, {
    ...{ by: 'kept', why: 'who approved a payout, as a number' },
  }),
  unexported('approvals', '(r.requester_id = $user OR r.decided_by = $user)', STAFF, {
    ...{ by: 'kept', why: 'who asked for a change of money and who decided, as a number' },
  }),
  unexported('referral_earnings', 'r.referral_id = $user', 'earnings of the referrer, who is another person', {
    ...{ by: 'kept', why: 'the books stay' },
  }),
  unexported('referral_contest_events', 'r.referral_id = $user', 'points of the referrer, who is another person', OWNER),

  // Requests of this module, and counters.
  {
    table: 'data_requests',
    of: MINE,
    exports: 'id kind state due_at created_at finished_at expires_at size_bytes',
    withheld: { internal: 'user_id requested_by forfeits_kopeks ends_subscription run remains fingerprint' },
    erasure: { by: 'kept', why: 'proves what was asked for and done, without anything about the person' },
  },
  unexported(
    'data_archive_parts',
    'r.request_id IN (SELECT d.id FROM data_requests d WHERE d.user_id = $user)',
    'the archive itself',
    {
      ...{ by: 'delete', when: 'before' },
    },
  ),
  ...['user_stats', 'user_traffic', 'referrer_stats', 'referrer_days', 'payers', 'branch_sales'].map((table) => counter(table)),
  counter('referral_contest_scores', 'r.referrer_id = $user'),
];

/** Tables with nothing about a person: what the service sells and says, its state, sums and lists. */
export const IMPERSONAL_TABLES: readonly string[] = [
  ...['schema_migrations', 'schema_sql', 'service_state', 'system_settings', 'backup_tasks', 'rate_limit_windows', 'send_paces'],
  ...['email_templates', 'legal_documents', 'faq_pages', 'faq_settings', 'service_rules', 'main_menu_buttons', 'branding_images'],
  ...[
    'menu_layouts',
    'menu_layout_history',
    'required_channels',
    'disposable_email_domains',
    'release_notices',
    'exchange_rates',
  ],
  ...[
    'server_squads',
    'server_squad_promo_groups',
    'squad_counters',
    'tariffs',
    'tariff_promo_groups',
    'promo_groups',
    'landing_pages',
  ],
  ...[
    'payment_method_configs',
    'payment_method_promo_groups',
    'provider_nonces',
    'web_api_tokens',
    'webhooks',
    'webhook_attempts',
  ],
  ...['poll_questions', 'poll_options', 'poll_sends', 'wheel_configs', 'wheel_prizes', 'contest_templates', 'contest_rounds'],
  ...[
    'referral_contest_virtual_participants',
    'referral_contest_summaries',
    'mass_sends',
    'promo_offer_deliveries',
    'audit_days',
  ],
  // Numbers of movements and of the wallets, which stay.
  ...['ledger_entries', 'ledger_checked_balances', 'ledger_problems', 'referral_bonuses', 'reward_reversals'],
  ...['panel_sync_runs', 'squad_migration_runs', 'panel_traffic_fills', 'import_runs', 'import_map'],
  ...[
    'campaign_counters',
    'campaign_day_counters',
    'user_counters',
    'user_day_counters',
    'subscription_counters',
    'withdrawal_counters',
  ],
  ...['trial_day_counters', 'payment_day_counters', 'transaction_day_counts', 'transaction_count_mark', 'referral_day_counters'],
  ...['statistics_mark', 'statistics_days', 'sales_days', 'payer_cohort_days', 'payer_cohort_months', 'single_payment_days'],
];
