import { WEBHOOK_EVENT_TYPES } from '../webhooks/types.ts';
import { joined, parkRepeated, wordList, wordOf } from './import-row-rules.ts';
import {
  applyRule,
  cutTime,
  type ImportContext,
  type ImportStep,
  nextTable,
  parkOrphans,
  sourceTable,
  sqlTime,
  transfer,
} from './import-step.ts';

const TICKETS = sourceTable('tickets');
const MESSAGES = sourceTable('ticket_messages');
const NOTIFICATIONS = sourceTable('ticket_notifications');
const CHANNELS = sourceTable('required_channels');
const MEMBERSHIPS = sourceTable('user_channel_subscriptions');

/** Tickets, webhooks, channels and logs of actions (spec 07 sections 4.5 and 7). */
export const contactStep: ImportStep = {
  name: 'contact',
  async prepare(context) {
    await repairTickets(context);
    await repairMessages(context);
    await repairNotifications(context);
    await makeTicketRows(context);
    await importWebhooks(context);
    await importChannels(context);
    await importLogs(context);
  },
};

async function repairTickets(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  await parkOrphans(context, 'tickets', 'user_id', 'users', 'ticket_orphan');
  await applyRule(context, {
    ...{ code: 'ticket_status_unknown', table: 'tickets', set: `status = 'open'` },
    detail: `jsonb_build_object('status', f.status)`,
    find: `SELECT id, status FROM ${TICKETS} WHERE ${wordOf('status')} IN ('open', 'pending', 'answered', 'closed') IS NOT TRUE`,
  });
  await applyRule(context, {
    ...{ code: 'ticket_priority_unknown', table: 'tickets', set: `priority = 'normal'` },
    detail: `jsonb_build_object('priority', f.priority)`,
    find: `SELECT id, priority FROM ${TICKETS} WHERE ${wordOf('priority')} IN ('low', 'normal', 'high', 'urgent') IS NOT TRUE`,
  });
  await sql(
    `UPDATE ${TICKETS} SET status = ${wordOf('status')}, priority = ${wordOf('priority')}
     WHERE status <> ${wordOf('status')} OR priority <> ${wordOf('priority')}`,
  );
  await applyRule(context, {
    ...{ code: 'ticket_closed_at', table: 'tickets' },
    find: `SELECT id FROM ${TICKETS} WHERE (status = 'closed') <> (closed_at IS NOT NULL)`,
    set: `closed_at = CASE WHEN s.status = 'closed' THEN coalesce(s.updated_at, s.created_at, ${sqlTime(firstSnapshotAt)}) END`,
  });
}

/** Items of a message's list of files, as `item` with its place. */
const ITEMS = `jsonb_array_elements(CASE WHEN jsonb_typeof(s.media_items::jsonb) = 'array' THEN s.media_items::jsonb ELSE '[]' END)
  WITH ORDINALITY AS items (item, place)`;
const FILE_ID = "nullif(trim(item ->> 'file_id'), '')";

async function repairMessages(context: ImportContext): Promise<void> {
  const { sql } = context;
  await parkOrphans(context, 'ticket_messages', 'ticket_id', 'tickets', 'ticket_message_orphan');
  // Who has answered: the source names an author only where it is another user than the ticket's.
  await sql(`ALTER TABLE ${MESSAGES} ADD COLUMN admin_user_id bigint`);
  await applyRule(context, {
    ...{ code: 'ticket_message_owner', table: 'ticket_messages', detail: `jsonb_build_object('user_id', f.author)` },
    find: `SELECT m.id, m.user_id AS author, t.user_id AS owner, u.id AS present FROM ${MESSAGES} m JOIN ${TICKETS} t ON t.id = m.ticket_id
      LEFT JOIN ${sourceTable('users')} u ON u.id = m.user_id WHERE m.user_id IS DISTINCT FROM t.user_id`,
    set: 'user_id = f.owner, admin_user_id = CASE WHEN s.is_from_admin THEN f.present END',
  });
  await sql(
    `UPDATE ${MESSAGES} SET media_type = nullif(trim(media_type), ''), media_file_id = nullif(trim(media_file_id), '')
     WHERE trim(media_type) = '' OR trim(media_file_id) = '' OR media_type <> trim(media_type) OR media_file_id <> trim(media_file_id)`,
  );
  // A message has one file here: the first of a list.
  await sql(
    `UPDATE ${MESSAGES} m SET media_type = f.type, media_file_id = f.file_id, media_caption = coalesce(m.media_caption, f.caption)
     FROM (SELECT DISTINCT ON (s.id) s.id, coalesce(nullif(trim(item ->> 'type'), ''), 'document') AS type, ${FILE_ID} AS file_id, item ->> 'caption' AS caption
       FROM ${MESSAGES} s CROSS JOIN LATERAL ${ITEMS}
       WHERE s.media_items IS NOT NULL AND s.media_type IS NULL AND s.media_file_id IS NULL AND ${FILE_ID} IS NOT NULL ORDER BY s.id, place) f
     WHERE f.id = m.id`,
  );
  await applyRule(context, {
    ...{ code: 'ticket_message_media', table: 'ticket_messages' },
    parks: `jsonb_build_object('id', s.id, 'media_type', s.media_type, 'media_file_id', s.media_file_id, 'has_media', s.has_media)`,
    find: `SELECT id FROM ${MESSAGES} WHERE (media_type IS NULL) <> (media_file_id IS NULL) OR coalesce(has_media, false) <> (media_file_id IS NOT NULL)`,
    set: `has_media = (s.media_type IS NOT NULL AND s.media_file_id IS NOT NULL), media_type = CASE WHEN s.media_file_id IS NOT NULL THEN s.media_type END,
      media_file_id = CASE WHEN s.media_type IS NOT NULL THEN s.media_file_id END`,
  });
  await applyRule(context, {
    ...{ code: 'ticket_media_extra', table: 'ticket_messages', detail: `jsonb_build_object('files', f.files)` },
    find: `SELECT s.id, count(*) AS files FROM ${MESSAGES} s CROSS JOIN LATERAL ${ITEMS} WHERE s.media_items IS NOT NULL
      AND ${FILE_ID} IS DISTINCT FROM s.media_file_id GROUP BY s.id`,
  });
}

async function repairNotifications(context: ImportContext): Promise<void> {
  await parkOrphans(context, 'ticket_notifications', 'ticket_id', 'tickets', 'ticket_notification_orphan');
  await applyRule(context, {
    ...{ code: 'ticket_message_owner', table: 'ticket_notifications', set: 'user_id = f.owner' },
    detail: `jsonb_build_object('user_id', f.user_id)`,
    find: `SELECT n.id, n.user_id, t.user_id AS owner FROM ${NOTIFICATIONS} n JOIN ${TICKETS} t ON t.id = n.ticket_id WHERE n.user_id IS DISTINCT FROM t.user_id`,
  });
  await applyRule(context, {
    ...{ code: 'ticket_notification_unknown', table: 'ticket_notifications', isParked: true },
    detail: `jsonb_build_object('notification_type', f.notification_type)`,
    find: `SELECT id, notification_type FROM ${NOTIFICATIONS}
      WHERE ${wordOf('notification_type')} IN ('new_ticket', 'admin_reply', 'user_reply') IS NOT TRUE`,
  });
}

async function makeTicketRows(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  // The time of an answer runs from the last message of the owner, until somebody answers.
  const waiting = sourceTable('~waiting_tickets');
  await sql(
    `CREATE UNLOGGED TABLE ${waiting} AS SELECT ticket_id, created_at FROM (
       SELECT DISTINCT ON (ticket_id) ticket_id, created_at, coalesce(is_from_admin, false) AS is_answer FROM ${MESSAGES}
       ORDER BY ticket_id, created_at DESC NULLS LAST, id DESC) m WHERE NOT is_answer`,
  );
  await transfer(context, {
    table: 'tickets',
    rest: `${joined('users', 'u', 'user_id')} LEFT JOIN ${waiting} w ON w.ticket_id = s.id`,
    columns: {
      title: "coalesce(s.title, '')",
      last_user_message_at: cutTime(
        "CASE WHEN s.status <> 'closed' AND w.ticket_id IS NOT NULL THEN coalesce(w.created_at, s.created_at) END",
      ),
    },
    createdFrom: ['s.updated_at', 's.closed_at', 'u.created_at'],
  });
  await transfer(context, {
    table: 'ticket_messages',
    rest: `JOIN ${TICKETS} t ON t.id = s.ticket_id`,
    columns: { message_text: "coalesce(s.message_text, '')", admin_user_id: 's.admin_user_id' },
    createdFrom: ['t.created_at'],
  });
  const created = `coalesce(s.created_at, s.read_at, t.created_at, ${sqlTime(firstSnapshotAt)})`;
  await transfer(context, {
    table: 'ticket_notifications',
    rest: `JOIN ${TICKETS} t ON t.id = s.ticket_id`,
    columns: {
      notification_type: wordOf('s.notification_type'),
      is_read: 'coalesce(s.is_read, false) OR s.read_at IS NOT NULL',
      read_at: cutTime(`coalesce(s.read_at, CASE WHEN s.is_read THEN ${created} END)`),
      created_at: cutTime(created),
    },
  });
}

async function importWebhooks(context: ImportContext): Promise<void> {
  const { hasClientWords } = context;
  await applyRule(context, {
    ...{ code: 'webhook_event_unknown', table: 'webhooks', set: 'is_active = false' },
    detail: `jsonb_build_object('event_type', f.event_type)`,
    find: `SELECT id, event_type FROM ${sourceTable('webhooks')} WHERE ${wordOf('event_type')} IN ${wordList(WEBHOOK_EVENT_TYPES)} IS NOT TRUE`,
  });
  const count = (column: string) => `greatest(coalesce(s.${column}, 0), 0)`;
  await transfer(context, {
    table: 'webhooks',
    columns: {
      ...{ name: "coalesce(s.name, '')", url: "coalesce(s.url, '')", event_type: `coalesce(${wordOf('s.event_type')}, '')` },
      ...{ failure_count: count('failure_count'), success_count: count('success_count') },
      secret: "nullif(s.secret, '')",
      // Their receivers know the words of the other product (spec 09 section 3).
      has_client_words: String(hasClientWords),
    },
  });
}

/** Identifiers of channels are numbers behind -100; a name says nothing of the number. */
async function importChannels(context: ImportContext): Promise<void> {
  const { sql } = context;
  for (const table of [CHANNELS, MEMBERSHIPS])
    await sql(
      `UPDATE ${table} SET channel_id = CASE WHEN trim(channel_id) ~ '^\\d+$' THEN '-100' || trim(channel_id) ELSE trim(channel_id) END
       WHERE channel_id ~ '^\\s*\\d+\\s*$' OR channel_id <> trim(channel_id)`,
    );
  await applyRule(context, {
    ...{ code: 'channel_id_invalid', table: 'required_channels', isParked: true },
    detail: `jsonb_build_object('channel_id', f.channel_id)`,
    find: `SELECT id, channel_id FROM ${CHANNELS} WHERE channel_id ~ '^-100\\d{10,13}$' IS NOT TRUE`,
  });
  await applyRule(context, {
    ...{ code: 'channel_membership_orphan', table: 'user_channel_subscriptions', isParked: true },
    find: `SELECT id FROM ${MEMBERSHIPS} m WHERE telegram_id IS NULL OR NOT EXISTS (SELECT 1 FROM ${CHANNELS} c WHERE c.channel_id = m.channel_id)`,
  });
  await parkRepeated(context, { table: 'user_channel_subscriptions', columns: 'telegram_id, channel_id' });
  await transfer(context, { table: 'required_channels' });
  await transfer(context, {
    table: 'user_channel_subscriptions',
    columns: { checked_at: cutTime(`coalesce(s.checked_at, ${sqlTime(context.firstSnapshotAt)})`) },
  });
}

/** Records of what was done: they stay as they are, with the present name of who did it. */
async function importLogs(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  const now = sqlTime(firstSnapshotAt);
  await transfer(context, {
    table: 'support_audit_logs',
    rest: `${joined('users', 'a', 'actor_user_id')} ${joined('users', 'u', 'target_user_id')} ${joined('tickets', 't', 'ticket_id')}`,
    columns: { actor_user_id: 'a.id', target_user_id: 'u.id', ticket_id: 't.id', action: "coalesce(s.action, '')" },
  });
  const name = (alias: string) =>
    `left(coalesce(nullif(concat_ws(' ', nullif(${alias}.first_name, ''), nullif(${alias}.last_name, '')), ''), ${alias}.username, ${alias}.email, 'User' || ${alias}.id), 255)`;
  await transfer(context, {
    table: 'admin_audit_log',
    rest: joined('users', 'u', 'user_id'),
    columns: {
      ...{ user_id: 'u.id', actor_name: name('u'), action: "coalesce(s.action, '')", status: "coalesce(s.status, 'success')" },
    },
  });
  await transfer(context, {
    table: 'button_click_logs',
    rest: joined('users', 'u', 'user_id'),
    columns: {
      user_id: 'u.id',
      button_id: "coalesce(s.button_id, '')",
      clicked_at: cutTime(`coalesce(s.clicked_at, ${now})`),
    },
  });
  await sql(`ANALYZE ${nextTable('tickets')}, ${nextTable('ticket_messages')}`);
}
