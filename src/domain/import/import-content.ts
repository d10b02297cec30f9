import { assignIds, isIdOf, joined, wordList, wordOf } from './import-row-rules.ts';
import {
  applyRule,
  cutTime,
  type ImportContext,
  type ImportStep,
  nextTable,
  sourceTable,
  sqlTime,
  transfer,
} from './import-step.ts';

const PINNED = sourceTable('pinned_messages');
const BROADCASTS = sourceTable('broadcast_history');
const BUTTONS = sourceTable('main_menu_buttons');
const HISTORY = sourceTable('menu_layout_history');

/** Pages, texts, broadcasts, pinned messages, buttons, templates of mails and the files in them (spec 07 sections 4.5 and 7). */
export const contentStep: ImportStep = {
  name: 'content',
  async prepare(context) {
    await importTexts(context);
    await importPages(context);
    await importPinned(context);
    await importBroadcasts(context);
    await importButtons(context);
    await importTemplates(context);
    await importMenuHistory(context);
    await collectFiles(context);
  },
};

/** Where one text may be active here, the one that was changed last stays; the others are kept and switched off. */
function keepOneActive(context: ImportContext, table: string, within = 'true'): Promise<number> {
  return applyRule(context, {
    ...{ code: 'unique_duplicate', table, set: 'is_active = false' },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY ${within} ORDER BY updated_at DESC NULLS LAST, id DESC) AS place
      FROM ${sourceTable(table)} WHERE coalesce(is_active, true)) r WHERE place > 1`,
  });
}

async function importTexts(context: ImportContext): Promise<void> {
  await keepOneActive(context, 'welcome_texts');
  const author = { rest: joined('users', 'u', 'created_by') };
  await transfer(context, {
    ...{ table: 'welcome_texts', ...author },
    columns: { text: "coalesce(s.text_content, '')", created_by: 'u.id' },
  });
  await transfer(context, {
    ...{ table: 'user_messages', ...author },
    columns: {
      message_text: "coalesce(s.message_text, '')",
      sort_order: 'greatest(coalesce(s.sort_order, 0), 0)',
      created_by: 'u.id',
    },
  });
}

const LANGUAGE = `coalesce(${wordOf('s.language')}, 'ru')`;
const LANGUAGES = ['service_rules', 'privacy_policies', 'public_offers', 'faq_settings', 'faq_pages'];
/** Documents of which there is one in a language, by the kind that they are here. */
const DOCUMENTS = { public_offers: 'public_offer', privacy_policies: 'privacy_policy' };

async function importPages(context: ImportContext): Promise<void> {
  const { sql } = context;
  for (const table of LANGUAGES)
    await sql(`UPDATE ${sourceTable(table)} s SET language = ${LANGUAGE} WHERE language IS DISTINCT FROM ${LANGUAGE}`);
  await keepOneActive(context, 'service_rules', 'language');
  const text = { title: "coalesce(s.title, '')", content: "coalesce(s.content, '')" };
  await transfer(context, { table: 'service_rules', columns: text });
  await transfer(context, {
    table: 'faq_pages',
    columns: { ...text, display_order: 'greatest(coalesce(s.display_order, 0), 0)' },
  });
  for (const table of [...Object.keys(DOCUMENTS), 'faq_settings'])
    await applyRule(context, {
      ...{ code: 'unique_duplicate', table, isParked: true, detail: `jsonb_build_object('language', f.language)` },
      find: `SELECT id, language FROM (SELECT id, language, row_number() OVER (PARTITION BY language ORDER BY id) AS place FROM ${sourceTable(table)}) r WHERE place > 1`,
    });
  await transfer(context, { table: 'faq_settings' });
  for (const [table, kind] of Object.entries(DOCUMENTS)) {
    // Two tables become one, so that their rows have new ids.
    const row = { target: 'legal_documents', sourceName: `'${table}'`, sourceId: 's.id' };
    await assignIds(context, { ...row, from: `${sourceTable(table)} s`, order: 's.id' });
    await transfer(context, {
      ...{ table: 'legal_documents', from: table },
      rest: `JOIN ${nextTable('import_map')} k ON ${isIdOf(row)}`,
      columns: { id: 'k.target_id', kind: `'${kind}'`, content: "coalesce(s.content, '')" },
    });
  }
}

const hasMedia = (types: string) => `(media_file_id IS NOT NULL AND media_type IN ${types})`;
const trimMedia = (table: string) =>
  `UPDATE ${table} SET media_type = ${wordOf('media_type')}, media_file_id = nullif(trim(media_file_id), '')
   WHERE media_type IS NOT NULL OR media_file_id IS NOT NULL`;

async function importPinned(context: ImportContext): Promise<void> {
  const { sql } = context;
  await sql(trimMedia(PINNED));
  const isKept = hasMedia("('photo', 'video')");
  await applyRule(context, {
    ...{ code: 'pinned_message_empty', table: 'pinned_messages', isParked: true },
    find: `SELECT id FROM ${PINNED} WHERE coalesce(content, '') = '' AND (${isKept}) IS NOT TRUE`,
  });
  await applyRule(context, {
    ...{ code: 'pinned_message_media', table: 'pinned_messages', set: 'media_type = NULL, media_file_id = NULL' },
    parks: `jsonb_build_object('id', s.id, 'media_type', s.media_type, 'media_file_id', s.media_file_id)`,
    find: `SELECT id FROM ${PINNED} WHERE (media_type IS NOT NULL OR media_file_id IS NOT NULL) AND (${isKept}) IS NOT TRUE`,
  });
  await keepOneActive(context, 'pinned_messages');
  await transfer(context, {
    table: 'pinned_messages',
    rest: joined('users', 'u', 'created_by'),
    columns: { content: "coalesce(s.content, '')", created_by: 'u.id' },
  });
}

/** Counts of a broadcast, over its row `s`. */
const count = (column: string) => `greatest(coalesce(s.${column}, 0), 0)`;
const FINISHED = wordList(['completed', 'partial', 'failed', 'cancelled']);

/** Nothing is sent again (I7): a broadcast that was under way ends with what it had reached. */
async function importBroadcasts(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  await sql(trimMedia(BROADCASTS));
  await applyRule(context, {
    ...{ code: 'broadcast_unfinished', table: 'broadcast_history', set: `status = 'cancelled'` },
    detail: `jsonb_build_object('status', f.status)`,
    find: `SELECT id, status FROM ${BROADCASTS} WHERE ${wordOf('status')} IN ${FINISHED} IS NOT TRUE`,
  });
  const channel = `CASE coalesce(${wordOf('s.channel')}, 'telegram') WHEN 'telegram' THEN 'messenger' ELSE ${wordOf('s.channel')} END`;
  await transfer(context, {
    table: 'broadcast_history',
    rest: joined('users', 'u', 'admin_id'),
    columns: {
      ...{ target_type: "coalesce(s.target_type, 'all')", channel, admin_id: 'u.id' },
      has_media: 's.media_file_id IS NOT NULL',
      media_type: 'CASE WHEN s.media_file_id IS NOT NULL THEN left(s.media_type, 32) END',
    },
    createdFrom: ['s.completed_at'],
  });
  const ended = cutTime(`coalesce(s.completed_at, s.created_at, ${sqlTime(firstSnapshotAt)})`);
  const ids = { target: 'mass_sends', sourceName: "'broadcast_history'", sourceId: 'b.id' };
  await assignIds(context, { ...ids, from: `${nextTable('broadcast_history')} b`, order: 'b.id' });
  const state = `CASE ${wordOf('s.status')} WHEN 'completed' THEN 'done' WHEN 'partial' THEN 'done' WHEN 'failed' THEN 'failed' ELSE 'cancelled' END`;
  await sql(
    `INSERT INTO ${nextTable('mass_sends')} (id, kind, source_id, channel, audience, state, total, sent, failed, blocked, created_at, started_at, finished_at)
     SELECT k.target_id, 'broadcast', b.id, CASE b.channel WHEN 'email' THEN 'email' ELSE 'messenger' END, b.target_type, ${state},
       greatest(${count('total_count')}, ${count('sent_count')} + ${count('failed_count')} + ${count('blocked_count')}),
       ${count('sent_count')}, ${count('failed_count')}, ${count('blocked_count')}, b.created_at, b.created_at, ${ended}
     FROM ${nextTable('broadcast_history')} b JOIN ${BROADCASTS} s ON s.id = b.id
       JOIN ${nextTable('import_map')} k ON ${isIdOf(ids)}`,
  );
}

async function importButtons(context: ImportContext): Promise<void> {
  const scheme = `CASE ${wordOf('action_type')} WHEN 'mini_app' THEN '^https://' ELSE '^https?://' END`;
  await applyRule(context, {
    ...{ code: 'menu_button_invalid', table: 'main_menu_buttons', isParked: true },
    detail: `jsonb_build_object('action_type', f.action_type, 'visibility', f.visibility)`,
    find: `SELECT id, action_type, visibility FROM ${BUTTONS} WHERE (${wordOf('action_type')} IN ('url', 'mini_app')
      AND ${wordOf('visibility')} IN ('all', 'admins', 'subscribers') AND trim(action_value) ~* ${scheme}) IS NOT TRUE`,
  });
  await transfer(context, {
    table: 'main_menu_buttons',
    columns: {
      ...{ text: "coalesce(s.text, '')", action_type: wordOf('s.action_type'), action_value: 'trim(s.action_value)' },
      ...{ visibility: wordOf('s.visibility'), display_order: 'greatest(coalesce(s.display_order, 0), 0)' },
    },
  });
}

async function importTemplates(context: ImportContext): Promise<void> {
  const renamed = (column: string) =>
    `regexp_replace(replace(coalesce(s.${column}, ''), '{telegram_id}', '{messenger_id}'), '\\{remnawave_(\\w+)\\}', '{vpnpanel_\\1}', 'g')`;
  await transfer(context, {
    table: 'email_templates',
    columns: {
      ...{ subject: renamed('subject'), body_html: renamed('body_html') },
      ...{ notification_type: "coalesce(trim(s.notification_type), '')", language: LANGUAGE },
    },
  });
}

/** Edits of the menu in the chat; their layout has a row whether the operator has changed it since or not. */
async function importMenuHistory(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  const isObject = `json_typeof(import_source.read_json(config_json)) = 'object'`;
  await applyRule(context, {
    ...{ code: 'menu_layout_invalid', table: 'menu_layout_history', isParked: true },
    find: `SELECT id FROM ${HISTORY} WHERE (${isObject}) IS NOT TRUE`,
  });
  const known = "('update', 'reset', 'import', 'rollback_backup', 'rollback')";
  await transfer(context, {
    table: 'menu_layout_history',
    columns: {
      document: 's.config_json::json',
      action: `CASE WHEN ${wordOf('s.action')} IN ${known} THEN ${wordOf('s.action')} ELSE 'update' END`,
    },
  });
  // No document: the default layout.
  await sql(
    `INSERT INTO ${nextTable('menu_layouts')} (name, document, updated_at) SELECT 'chat', '{}', ${sqlTime(firstSnapshotAt)}
     WHERE EXISTS (SELECT 1 FROM ${nextTable('menu_layout_history')}) AND NOT EXISTS (SELECT 1 FROM ${nextTable('menu_layouts')} WHERE name = 'chat')`,
  );
}

/** Files that the messenger has, by the id of the bot: an id that is not known here is answered as unknown (spec 05 section 10). */
async function collectFiles(context: ImportContext): Promise<void> {
  const { sql, firstSnapshotAt } = context;
  const items = `SELECT coalesce(${wordOf("item ->> 'type'")}, 'document'), trim(item ->> 'file_id'), 1, 'ticket', CASE WHEN m.is_from_admin THEN NULL ELSE m.user_id END, m.created_at
    FROM ${sourceTable('ticket_messages')} m CROSS JOIN LATERAL jsonb_array_elements(
      CASE WHEN jsonb_typeof(m.media_items::jsonb) = 'array' THEN m.media_items::jsonb ELSE '[]' END) AS items (item)`;
  const attached = (table: string, place: number, source: string, owner: string) =>
    `SELECT media_type, media_file_id, ${place}, '${source}', ${owner}, created_at FROM ${nextTable(table)}`;
  await sql(
    `INSERT INTO ${nextTable('media_files')} (file_id, media_type, source, uploaded_by, messenger_file_id, is_private, created_at)
     SELECT DISTINCT ON (file_id) file_id, left(media_type, 32), source, uploaded_by, file_id, true, coalesce(${cutTime('created_at')}, ${sqlTime(firstSnapshotAt)})
     FROM (${attached('ticket_messages', 0, 'ticket', 'CASE WHEN is_from_admin THEN NULL ELSE user_id END')}
       UNION ALL ${items} UNION ALL ${attached('broadcast_history', 2, 'broadcast', 'NULL')}
       UNION ALL ${attached('pinned_messages', 3, 'pinned', 'NULL')}) f (media_type, file_id, place, source, uploaded_by, created_at)
     WHERE file_id <> '' AND length(file_id) <= 255 ORDER BY file_id, place, created_at`,
  );
}
