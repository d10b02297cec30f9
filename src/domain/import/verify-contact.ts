import { SOURCE_SCHEMA } from './load-source.ts';
import type { Comparison, SumComparison } from './verify-import.ts';

const there = (table: string) => `${SOURCE_SCHEMA}.${table}`;
const time = (column: string) => `date_trunc('milliseconds', ${column})`;
/** Whether there is a secret, which is compared by that alone. */
const isSet = (column: string) => `coalesce(${column}, '') <> ''`;
/** A number, also where there is none. */
const numberOr0 = (column: string) => `coalesce(${column}, 0)::bigint`;
const ORDINARY_TICKET = "lower(trim(coalesce(priority, 'normal')))";

/** What people wrote to the operator, and what the operator publishes, sends and lets in. */
export const CONTACT_COMPARISONS: readonly Comparison[] = [
  {
    table: 'tickets',
    source: `SELECT id, user_id, title, lower(trim(status)) AS status, ${ORDINARY_TICKET} AS priority, coalesce(user_reply_block_permanent, false) AS blocked,
        ${time('user_reply_block_until')} AS blocked_until, ${time('created_at')} AS created, ${time('closed_at')} AS closed FROM ${there('tickets')}`,
    target: `SELECT id::bigint, user_id::bigint, title::text, status::text, priority::text, user_reply_block_permanent, user_reply_block_until, created_at, closed_at
      FROM public.tickets`,
  },
  {
    table: 'ticket_messages',
    source: `SELECT id, ticket_id, user_id, message_text AS text, coalesce(is_from_admin, false) AS answer,
        coalesce(nullif(trim(media_file_id), ''), media_items -> 0 ->> 'file_id') AS file, ${time('created_at')} AS created FROM ${there('ticket_messages')}`,
    target: `SELECT id::bigint, ticket_id::bigint, user_id::bigint, message_text, is_from_admin, media_file_id::text, created_at FROM public.ticket_messages`,
  },
  {
    table: 'ticket_notifications',
    source: `SELECT id, ticket_id, user_id, notification_type AS type, message, coalesce(is_for_admin, false) AS for_admin, coalesce(is_read, false) AS is_read
      FROM ${there('ticket_notifications')}`,
    target: `SELECT id::bigint, ticket_id::bigint, user_id::bigint, notification_type::text, message, is_for_admin, is_read FROM public.ticket_notifications`,
  },
  {
    table: 'support_audit_logs',
    source: `SELECT l.id, u.id AS actor, l.actor_telegram_id AS messenger, l.action, ${time('l.created_at')} AS created
      FROM ${there('support_audit_logs')} l LEFT JOIN ${there('users')} u ON u.id = l.actor_user_id`,
    target: `SELECT id::bigint, actor_user_id::bigint, actor_messenger_id::bigint, action::text, created_at FROM public.support_audit_logs`,
  },
  {
    table: 'admin_audit_log',
    source: `SELECT l.id, u.id AS actor, l.action, l.resource_type, l.resource_id, l.status, l.request_path, ${time('l.created_at')} AS created
      FROM ${there('admin_audit_log')} l LEFT JOIN ${there('users')} u ON u.id = l.user_id`,
    target: `SELECT id::bigint, user_id::bigint, action::text, resource_type::text, resource_id::text, status::text, request_path, created_at FROM public.admin_audit_log`,
  },
  {
    table: 'button_click_logs',
    source: `SELECT id, button_id, callback_data, button_type, ${time('clicked_at')} AS clicked FROM ${there('button_click_logs')}`,
    target: `SELECT id::bigint, button_id::text, callback_data::text, button_type::text, clicked_at FROM public.button_click_logs`,
  },
  {
    table: 'webhooks',
    source: `SELECT id, name, url, lower(trim(event_type)) AS event, is_active AS active, ${isSet('secret')} AS signed, ${numberOr0('success_count')} AS successes,
        ${numberOr0('failure_count')} AS failures FROM ${there('webhooks')}`,
    target: `SELECT id::bigint, name::text, url, event_type::text, is_active, ${isSet('secret')}, success_count::bigint, failure_count::bigint FROM public.webhooks`,
  },
  {
    table: 'required_channels',
    source: `SELECT id, regexp_replace(trim(channel_id), '^(\\d+)$', '-100\\1') AS channel, channel_link AS link, title, coalesce(is_active, true) AS active,
        ${numberOr0('sort_order')} AS place, disable_trial_on_leave AS ends_trial, disable_paid_on_leave AS ends_paid FROM ${there('required_channels')}`,
    target: `SELECT id::bigint, channel_id::text, channel_link::text, title::text, is_active, sort_order::bigint, disable_trial_on_leave, disable_paid_on_leave
      FROM public.required_channels`,
  },
  {
    // The row is its user and its channel here; its number in the source names the deviations.
    table: 'user_channel_subscriptions',
    source: `SELECT id, telegram_id AS messenger, regexp_replace(trim(channel_id), '^(\\d+)$', '-100\\1') AS channel, coalesce(is_member, false) AS member
      FROM ${there('user_channel_subscriptions')}`,
    target: `SELECT coalesce(s.id, -t.messenger_id) AS id, t.messenger_id, t.channel_id::text, t.is_member FROM public.user_channel_subscriptions t
      LEFT JOIN ${there('user_channel_subscriptions')} s ON s.telegram_id = t.messenger_id
        AND t.channel_id IN (trim(s.channel_id), '-100' || trim(s.channel_id))`,
  },
  ...[
    { table: 'service_rules', columns: 'title, content' },
    { table: 'faq_pages', columns: 'title, content' },
  ].map(({ table, columns }) => ({
    table,
    source: `SELECT id, ${columns}, lower(trim(coalesce(language, 'ru'))) AS language, coalesce(is_active, true) AS active FROM ${there(table)}`,
    target: `SELECT id::bigint, title::text, content, language::text, is_active FROM public.${table}`,
  })),
  ...[
    { table: 'privacy_policies', kind: 'privacy_policy' },
    { table: 'public_offers', kind: 'public_offer' },
  ].map(({ table, kind }) => ({
    table,
    source: `SELECT id, lower(trim(language)) AS language, content, is_enabled AS enabled FROM ${there(table)}`,
    target: `SELECT coalesce(k.source_id, -d.id) AS id, d.language::text, d.content, d.is_enabled FROM public.legal_documents d
      LEFT JOIN public.import_map k ON k.target_table = 'legal_documents' AND k.target_id = d.id WHERE d.kind = '${kind}'
        AND coalesce(k.source_table, '${table}') = '${table}'`,
  })),
  {
    table: 'faq_settings',
    source: `SELECT id, lower(trim(language)) AS language, is_enabled AS enabled FROM ${there('faq_settings')}`,
    target: `SELECT coalesce((SELECT min(s.id) FROM ${there('faq_settings')} s WHERE lower(trim(s.language)) = t.language), 0) AS id, t.language::text, t.is_enabled
      FROM public.faq_settings t`,
  },
  {
    table: 'welcome_texts',
    source: `SELECT id, text_content AS text, coalesce(is_active, true) AS active, coalesce(is_enabled, true) AS enabled FROM ${there('welcome_texts')}`,
    target: 'SELECT id::bigint, text, is_active, is_enabled FROM public.welcome_texts',
  },
  {
    table: 'user_messages',
    source: `SELECT id, message_text AS text, coalesce(is_active, true) AS active FROM ${there('user_messages')}`,
    target: 'SELECT id::bigint, message_text, is_active FROM public.user_messages',
  },
  {
    table: 'pinned_messages',
    source: `SELECT id, content, media_file_id AS file, coalesce(is_active, true) AS active, send_before_menu, send_on_every_start FROM ${there('pinned_messages')}`,
    target: `SELECT id::bigint, content, media_file_id::text, is_active, send_before_menu, send_on_every_start FROM public.pinned_messages`,
  },
  {
    table: 'broadcast_history',
    source: `SELECT id, target_type AS audience, message_text AS text, media_file_id AS file, replace(channel, 'telegram', 'messenger') AS channel, email_subject AS title,
        ${numberOr0('sent_count')} AS sent, ${numberOr0('failed_count')} AS failed, ${numberOr0('blocked_count')} AS blocked FROM ${there('broadcast_history')}`,
    target: `SELECT b.id::bigint, b.target_type::text, b.message_text, b.media_file_id::text, b.channel::text, b.email_subject::text,
        (SELECT sum(sent) FROM public.mass_sends m WHERE m.kind = 'broadcast' AND m.source_id = b.id)::bigint,
        (SELECT sum(failed) FROM public.mass_sends m WHERE m.kind = 'broadcast' AND m.source_id = b.id)::bigint,
        (SELECT sum(blocked) FROM public.mass_sends m WHERE m.kind = 'broadcast' AND m.source_id = b.id)::bigint FROM public.broadcast_history b`,
  },
  {
    table: 'main_menu_buttons',
    source: `SELECT id, text, lower(trim(action_type)) AS type, trim(action_value) AS address, lower(trim(visibility)) AS visibility, coalesce(is_active, true) AS active
      FROM ${there('main_menu_buttons')}`,
    target: `SELECT id::bigint, text::text, action_type::text, action_value::text, visibility::text, is_active FROM public.main_menu_buttons`,
  },
  {
    table: 'email_templates',
    source: `SELECT id, trim(notification_type) AS type, lower(trim(language)) AS language, replace(subject, '{telegram_id}', '{messenger_id}') AS title,
        length(replace(replace(body_html, '{telegram_id}', '{messenger_id}'), '{remnawave_', '{vpnpanel_')) AS characters, coalesce(is_active, true) AS active
      FROM ${there('email_templates')}`,
    target: `SELECT id::bigint, notification_type::text, language::text, subject::text, length(body_html), is_active FROM public.email_templates`,
  },
  {
    table: 'menu_layout_history',
    source: `SELECT id, md5(config_json) AS document, ${time('created_at')} AS created FROM ${there('menu_layout_history')}`,
    target: 'SELECT id::bigint, md5(document::text), created_at FROM public.menu_layout_history',
  },
];

const isLayout = (column: string) => `${column} IN ('menu_layout_config', 'CABINET_MENU_LAYOUT', 'CABINET_BUTTON_STYLES')`;
/** A value of a setting, equal for all spellings of it, as a hash. */
const valueMark = (column: string) => `md5(CASE WHEN lower(trim(${column})) IN ('true', '1', 'yes', 'on', 'да') THEN 'true'
  WHEN lower(trim(${column})) IN ('false', '0', 'no', 'off', 'нет') THEN 'false' WHEN trim(${column}) ~ '^[+-]?\\d{1,18}([.]\\d{1,9})?$' THEN (trim(${column})::numeric + 0.000000000)::text
  ELSE replace(replace(lower(trim(coalesce(${column}, ''))), 'telegram', 'messenger'), 'remnawave', 'vpnpanel') END)`;

/** A number that stands for a file, which has none. */
const fileNumber = (column: string) => `('x' || left(md5(${column}), 15))::bit(60)::bigint`;
/** Files in rows that are here. */
const FILES = ['ticket_messages', 'broadcast_history', 'pinned_messages']
  .map(
    (table) =>
      `SELECT p.media_file_id AS file FROM ${there(table)} p JOIN public.${table} t ON t.id = p.id AND t.media_file_id IS NOT NULL`,
  )
  .concat(
    `SELECT f ->> 'file_id' FROM ${there('ticket_messages')} m JOIN public.ticket_messages t ON t.id = m.id
       CROSS JOIN LATERAL json_array_elements(CASE WHEN json_typeof(m.media_items) = 'array' THEN m.media_items ELSE '[]' END) f`,
  )
  .join(' UNION ');

export const MENU_AND_FILE_COMPARISONS: readonly Comparison[] = [
  {
    table: 'system_settings',
    subject: `'menu_layout_config'`,
    source: `SELECT id, md5(value) AS document FROM ${there('system_settings')} WHERE key = 'menu_layout_config'`,
    target: `SELECT coalesce((SELECT id FROM ${there('system_settings')} WHERE key = 'menu_layout_config'), 0) AS id, md5(document::text) FROM public.menu_layouts
      WHERE name = 'chat' AND document::text <> '{}'`,
  },
  {
    table: 'media_files',
    source: `SELECT DISTINCT ${fileNumber('trim(file)')} AS id, trim(file) AS file, true AS hidden FROM (${FILES}) f WHERE trim(file) <> ''`,
    target: `SELECT ${fileNumber('file_id')} AS id, file_id::text, is_private FROM public.media_files WHERE source <> 'upload'`,
  },
];

/** Who may do what, and by which credentials. */
export const ACCESS_COMPARISONS: readonly Comparison[] = [
  {
    table: 'admin_roles',
    source: `SELECT id, name, coalesce(level, 0) AS level, coalesce(is_active, true) AS active,
        (SELECT count(DISTINCT p) FROM json_array_elements_text(CASE WHEN json_typeof(permissions) = 'array' THEN permissions ELSE '[]' END) p) AS permissions FROM ${there('admin_roles')} WHERE NOT is_system`,
    target: `SELECT id::bigint, name::text, level::bigint, is_active, (SELECT count(DISTINCT p) FROM jsonb_array_elements_text(permissions) p) FROM public.admin_roles
      WHERE EXISTS (SELECT 1 FROM ${there('admin_roles')} s WHERE s.id = admin_roles.id AND NOT s.is_system)`,
  },
  {
    table: 'user_roles',
    source: `SELECT id, user_id, role_id, coalesce(is_active, true) AS active, ${time('expires_at')} AS expires FROM ${there('user_roles')}`,
    target: 'SELECT id::bigint, user_id::bigint, role_id::bigint, is_active, expires_at FROM public.user_roles',
  },
  {
    table: 'access_policies',
    source: `SELECT id, name, role_id, lower(trim(effect)) AS effect, regexp_replace(resource, '^remnawave', 'vpnpanel') AS resource, coalesce(is_active, true) AS active,
        coalesce(conditions::jsonb, '{}') AS conditions FROM ${there('access_policies')}`,
    target: `SELECT id::bigint, name::text, role_id::bigint, effect::text, resource::text, is_active, conditions FROM public.access_policies`,
  },
  {
    table: 'web_api_tokens',
    source: `SELECT id, name, md5(token_hash) AS token, token_prefix AS prefix, coalesce(is_active, true) AS active, ${time('expires_at')} AS expires FROM ${there('web_api_tokens')}`,
    target:
      'SELECT id::bigint, name::text, md5(token_hash), token_prefix::text, is_active, expires_at FROM public.web_api_tokens WHERE imported_at IS NOT NULL',
  },
  {
    // Of the sessions only those that may go on.
    table: 'cabinet_refresh_tokens',
    source: `SELECT t.id, t.user_id, md5(lower(t.token_hash)) AS token, ${time('t.expires_at')} AS expires FROM ${there('cabinet_refresh_tokens')} t
      JOIN ${there('users')} u ON u.id = t.user_id AND lower(trim(coalesce(u.status, 'active'))) = 'active'
      WHERE t.revoked_at IS NULL AND t.expires_at > (SELECT snapshot_at FROM public.import_runs ORDER BY pass DESC LIMIT 1)`,
    target:
      'SELECT id::bigint, user_id::bigint, md5(token_hash), expires_at FROM public.cabinet_refresh_tokens WHERE imported_at IS NOT NULL AND revoked_at IS NULL',
  },
  {
    // By key: values are in our words, and compared without being shown.
    table: 'system_settings',
    subject: "coalesce(source, target) ->> 'source_key'",
    source: `SELECT id, key AS source_key, ${valueMark('value')} AS value FROM ${there('system_settings')} WHERE NOT ${isLayout('key')}`,
    target: `SELECT coalesce(s.id, -row_number() OVER (ORDER BY t.key)) AS id,
        coalesce(s.key, replace(replace(t.key, 'VPNPANEL', 'REMNAWAVE'), 'MESSENGER', 'TELEGRAM')), ${valueMark('t.value')} FROM public.system_settings t
      LEFT JOIN ${there('system_settings')} s ON t.key IN (s.key, replace(replace(s.key, 'REMNAWAVE', 'VPNPANEL'), 'TELEGRAM', 'MESSENGER'))
        OR (t.key = 'CABINET_VPNPANEL_SUB_CONFIG' AND s.key = 'CABINET_REMNA_SUB_CONFIG')`,
  },
];

export const CONTACT_SUMS: readonly SumComparison[] = [
  {
    name: 'tickets by status',
    source: `SELECT lower(coalesce(status, 'open')) AS key, count(*) AS rows, 0 AS kopeks FROM ${there('tickets')} GROUP BY 1`,
    target: 'SELECT status::text AS key, count(*) AS rows, 0 AS kopeks FROM public.tickets GROUP BY 1',
  },
  {
    name: 'messages of tickets',
    source: `SELECT CASE WHEN is_from_admin THEN 'answers' ELSE 'questions' END AS key, count(*) AS rows, 0 AS kopeks FROM ${there('ticket_messages')} GROUP BY 1`,
    target: `SELECT CASE WHEN is_from_admin THEN 'answers' ELSE 'questions' END AS key, count(*) AS rows, 0 AS kopeks FROM public.ticket_messages GROUP BY 1`,
  },
  {
    name: 'credentials and rights',
    source: ['web_api_tokens', 'webhooks', 'admin_roles', 'user_roles', 'access_policies']
      .map(
        (table) => `SELECT '${table}' AS key, count(*) AS rows, 0 AS kopeks FROM ${there(table)} WHERE coalesce(is_active, true)`,
      )
      .join(' UNION ALL '),
    target: ['web_api_tokens', 'webhooks', 'admin_roles', 'user_roles', 'access_policies']
      .map((table) => `SELECT '${table}' AS key, count(*) AS rows, 0 AS kopeks FROM public.${table} WHERE is_active`)
      .join(' UNION ALL '),
  },
  {
    name: 'stored settings',
    source: `SELECT 'all' AS key, count(*) AS rows, 0 AS kopeks FROM ${there('system_settings')}`,
    target: `SELECT 'all' AS key, (SELECT count(*) FROM public.system_settings) + (SELECT count(*) FROM public.menu_layouts WHERE name = 'chat') AS rows, 0 AS kopeks`,
  },
];
