/** Spec 07 sections 4.5, 5, 6 and 7: rows that restores and repairs by hand leave behind, and what nobody has named (I20, I21, I34, I50). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Imported, importedFrom, importedFromFile } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

/** Rows that this source would refuse come from restores and repairs by hand, so its constraints and foreign keys are off. */
const DAMAGE = `
  SET session_replication_role = replica;
  ALTER TABLE web_api_tokens DROP CONSTRAINT web_api_tokens_token_hash_key;
  ALTER TABLE promo_groups DROP CONSTRAINT promo_groups_name_key;
  ALTER TABLE tickets ALTER title TYPE text, DROP CONSTRAINT tickets_pkey CASCADE;
  ALTER TABLE user_promo_groups DROP CONSTRAINT user_promo_groups_pkey;
  DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT attrelid::regclass AS of, attname FROM pg_attribute a JOIN pg_class t ON t.oid = attrelid WHERE relnamespace = 'public'::regnamespace
      AND relkind = 'r' AND attnum > 0 AND attnotnull AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = attrelid AND indisprimary AND attnum = ANY (indkey))
    LOOP EXECUTE format('ALTER TABLE %s ALTER %I DROP NOT NULL', c.of, c.attname); END LOOP; END $$;
  ALTER TABLE users ADD made_up text, ADD email_hint text;
  CREATE TABLE made_up (id int, content text, secret text);
  CREATE TABLE made_up_links (one int, other int);`;

/** What no database of the generator has, with the deviations that an import of it has. */
const BROKEN: Readonly<Record<string, { rows: string[]; codes: Record<string, number> }>> = {
  tickets: {
    // Raw SQL: rows of another product, of which there is no builder.
    rows: [
      `INSERT INTO tickets (id, user_id, title, status, priority, user_reply_block_permanent, created_at) VALUES
        (9001, 1, repeat('😀', 300), 'answered', 'asap', false, '2026-11-01'), (9002, 1, 'Closed', 'CLOSED ', 'high', true, '2026-11-01'),
        (9003, 1, 'Plain', 'open', 'low', false, '2026-11-01')`,
      "INSERT INTO tickets (id, user_id, title, status, priority) VALUES (9002, 1, 'Twin', 'open', 'low'), (NULL, 1, 'Nameless', 'open', 'low')",
      "UPDATE tickets SET closed_at = '2026-11-02', updated_at = '2026-11-02' WHERE id = 9002",
      `INSERT INTO ticket_messages (id, ticket_id, user_id, message_text, is_from_admin, has_media, media_type, media_file_id, created_at) VALUES
        (9001, 9001, 1, 'lost', false, true, NULL, 'file-without-type', '2026-11-01'), (9002, 9003, 1, 'waits', false, true, 'photo', 'file-1', '2026-11-01T10:00:00Z'),
        (9003, 9003, 2, 'answers', true, NULL, NULL, NULL, '2026-11-01T11:00:00Z'), (9004, 9003, 1, 'again', false, false, '', '', '2026-11-01T12:00:00Z')`,
      `INSERT INTO ticket_notifications (id, ticket_id, user_id, notification_type, is_for_admin, is_read, created_at, read_at) VALUES
        (1, 9003, 1, 'user_reply', true, true, '2026-11-01', NULL), (2, 9003, 2, 'admin_reply', false, false, '2026-11-01', '2026-11-02'),
        (3, 8000, 1, 'new_ticket', true, false, '2026-11-01', NULL), (4, 9003, 1, 'party', true, false, '2026-11-01', NULL)`,
      `INSERT INTO support_audit_logs (id, actor_user_id, actor_telegram_id, is_moderator, action, ticket_id, created_at) VALUES (1, 77777777, 5, true, 'close', 8000, '2026-11-01')`,
      `INSERT INTO admin_audit_log (id, user_id, action, status, created_at) VALUES (1, 1, 'remnawave:sync', 'success', '2026-11-01'), (2, 77777777, 'x', 'denied', '2026-11-01')`,
      `INSERT INTO button_click_logs (id, button_id, user_id, clicked_at) VALUES (1, 'connect', 77777777, '2026-11-01'), (2, 'connect', 1, '2026-11-01')`,
    ],
    codes: {
      ticket_priority_unknown: 1,
      text_cut: 1,
      ticket_message_media: 1,
      ticket_message_owner: 2,
      ticket_notification_orphan: 1,
      ticket_notification_unknown: 1,
    },
  },
  receivers: {
    rows: [
      `INSERT INTO webhooks (id, name, url, secret, event_type, is_active, failure_count, success_count) VALUES (9001, 'Old', 'https://old.example', 'whsec-hidden', 'subscription.deleted', true, 0, 0)`,
      `INSERT INTO required_channels (id, channel_id) VALUES (9001, '@news'), (9002, '9876543210'), (9003, '1234567890')`,
      `INSERT INTO user_channel_subscriptions (id, telegram_id, channel_id, is_member) VALUES (1, 5, '9876543210', true), (2, 5, '@news', true), (3, 5, '-1009876543210', false)`,
    ],
    codes: { webhook_event_unknown: 1, channel_id_invalid: 1, channel_membership_orphan: 1 },
  },
  content: {
    rows: [
      `INSERT INTO email_templates (id, notification_type, language, subject, body_html) VALUES (9001, repeat('x', 60), 'ru', 's', 'b'),
        (9002, 'autopay_failed', 'en', '{telegram_id}', '<p>{remnawave_uuid} {reason}</p>')`,
      `INSERT INTO menu_layout_history (id, config_json, action, created_at) VALUES (1, 'no json', 'update', '2026-11-01'), (2, '{"rows": [], "buttons": {}, "version": 3}', 'other', '2026-11-01')`,
      `INSERT INTO main_menu_buttons (id, text, action_type, action_value, visibility, is_active, display_order) VALUES
        (1, 'Site', 'url', 'https://site.example', 'all', true, -1), (2, 'File', 'url', 'ftp://site.example', 'all', true, 1)`,
      `INSERT INTO pinned_messages (id, content, media_type, media_file_id, is_active, updated_at) VALUES (9001, '', NULL, NULL, false, '2026-11-01'),
        (9002, 'Sound', 'audio', 'sound-file', false, '2026-11-01'), (9003, 'Newest', 'photo', 'file-1', true, '2026-11-20')`,
      `INSERT INTO welcome_texts (id, text_content, is_active, is_enabled, updated_at) VALUES (9001, 'Newest', true, true, '2026-11-21')`,
      `INSERT INTO broadcast_history (id, target_type, message_text, total_count, sent_count, failed_count, status, channel, category) VALUES
        (9001, 'all', 'Under way', 10, 4, 8, 'in_progress', 'email', 'system')`,
      `INSERT INTO service_rules (id, "order", title, content, is_active, language, updated_at) VALUES (9001, 7, 'Rules', 'text', true, 'EN', '2026-11-01'), (9002, 0, 'Rules', 'newer', true, 'en', '2026-11-02')`,
      `INSERT INTO faq_settings (id, language, is_enabled) VALUES (1, 'ru', true), (2, 'RU', false)`,
      `INSERT INTO privacy_policies (id, language, content, is_enabled) VALUES (1, 'ru', 'policy', true)`,
      `INSERT INTO public_offers (id, language, content, is_enabled) VALUES (1, 'ru', 'offer', false), (2, 'en', 'offer', true)`,
      `INSERT INTO user_messages (id, message_text, is_active, sort_order) VALUES (1, 'Paragraph', true, -3)`,
    ],
    codes: {
      identifier_too_long: 1,
      menu_layout_invalid: 1,
      menu_button_invalid: 1,
      pinned_message_empty: 1,
      pinned_message_media: 1,
      broadcast_unfinished: 1,
    },
  },
  access: {
    rows: [
      `INSERT INTO users (id, auth_type, telegram_id, status, balance_kopeks, referral_code, used_promocodes) VALUES (90001, 'telegram', 42, 'deleted', 0, 'gone1', 0), (90002, 'telegram', 43, 'active', 0, 'here1', 0)`,
      `INSERT INTO admin_roles (id, name, level, permissions, is_system, is_active) VALUES (9001, 'Admin', 100, '["users:read", "remnawave:sync"]', true, true),
        (9002, 'Superadmin', 10, '["users:read"]', false, true), (9003, 'Lords', 1000, '["*:*"]', true, true), (9004, 'Odd', 5, '{}', false, true)`,
      `INSERT INTO user_roles (id, user_id, role_id, is_active, expires_at) VALUES (1, 90002, 9003, true, NULL), (2, 90001, 9001, true, NULL), (3, 90002, 9001, true, '2200-01-01'),
        (4, 90002, 8000, true, NULL), (5, 77777777, 9001, true, NULL), (6, 90002, 9004, true, '1999-01-01'), (7, 90002, 9002, true, NULL)`,
      `INSERT INTO access_policies (id, name, role_id, priority, effect, conditions, resource, actions, is_active) VALUES (1, 'Of nobody', 8000, 0, 'deny', '{}', 'users', '["*"]', true),
        (2, 'Perhaps', 9001, 0, 'maybe', '{}', 'users', '[]', true), (3, 'Panel', 9001, 0, 'deny', '{}', 'remnawave', '["sync"]', true)`,
      `INSERT INTO web_api_tokens (id, name, token_hash, token_prefix, is_active, expires_at) SELECT 9001, 'Twin', token_hash, 'twin', true, NULL FROM web_api_tokens WHERE id = 1`,
      `INSERT INTO web_api_tokens (id, name, token_hash, token_prefix, is_active, expires_at) VALUES (9002, 'Former', repeat('ab', 32), 'form', true, '1999-01-01'), (9003, 'Other', repeat('cd', 32), 'othe', true, NULL)`,
      `INSERT INTO cabinet_refresh_tokens (id, user_id, token_hash, expires_at, created_at, revoked_at) VALUES (9001, 90002, repeat('1', 64), '2027-01-01', '2026-11-01', '2026-11-02'),
        (9002, 90002, repeat('2', 64), '2026-11-10', '2026-11-01', NULL), (9003, 90001, repeat('3', 64), '2027-01-01', '2026-11-01', NULL),
        (9004, 90002, repeat('4', 64), '2026-10-01', '2026-11-01', NULL), (9005, 77777777, repeat('5', 64), '2027-01-01', '2026-11-01', NULL)`,
    ],
    codes: {
      role_not_granted: 3,
      user_role_orphan: 2,
      access_policy_orphan: 1,
      access_policy_invalid: 1,
      json_pair_invalid: 1,
      token_expired: 1,
      session_invalid: 1,
      cabinet_refresh_token_orphan: 1,
    },
  },
  settings: {
    rows: [
      `INSERT INTO system_settings (key, value) VALUES ('LAVA_API_KEY', 'provider-key-hidden'), ('YOOKASSA_SECRET_KEY', 'another-key-hidden'), ('CABINET_THEME_COLORS', '[1]'),
        ('CABINET_ENABLED_THEMES', '{"dark": true}'), ('CABINET_MENU_LAYOUT', '{"rows": {"row_2": {"buttons": ["balance"]}, "row_1": {"buttons": ["home"]}}}'),
        ('CABINET_BUTTON_STYLES', '{"home": {"style": "success"}}'), ('POSTGRES_PASSWORD', 'database-hidden')`,
    ],
    codes: { setting_unknown: 1, setting_value_invalid: 1, setting_refused: 1, setting_to_review: 1 },
  },
  homeless: {
    rows: [
      `INSERT INTO made_up VALUES (5, 'somebody needs this', 'secret-hidden'), (NULL, 'and this', NULL)`,
      'INSERT INTO made_up_links VALUES (1, 2)',
      "UPDATE users SET made_up = 'said something' WHERE id = 90002",
      'INSERT INTO user_promo_groups (user_id, promo_group_id) SELECT user_id, promo_group_id FROM user_promo_groups LIMIT 1',
      "INSERT INTO promo_groups (id, name, priority) VALUES (9001, 'VIP', 1)",
    ],
    codes: {},
  },
};
/** Rows that repeat a key, of several tables. */
const REPEATED = {
  admin_roles: 1,
  faq_settings: 1,
  pinned_messages: 1,
  promo_groups: 1,
  required_channels: 1,
  service_rules: 1,
  tickets: 2,
  user_channel_subscriptions: 1,
  web_api_tokens: 1,
  welcome_texts: 1,
};

describe.skipIf(!serverUrl)(
  'a database with what a generator does not make (left out without a server: TEST_DATABASE_URL)',
  () => {
    let imported: Imported;
    beforeAll(async () => {
      imported = await importedFrom(['--version', 'v4', '--users', '30'], async (source) => {
        await source.query(DAMAGE);
        for (const { rows } of Object.values(BROKEN)) for (const statement of rows) await source.query(statement);
      });
    });
    afterAll(() => imported.drop());

    const rows = <Row extends object>(query: string) => imported.database.db.sql<Row>(query);

    /** Changes rows past every trigger, and brings them back after the work. */
    async function changedMeanwhile<T>(changes: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
      const client = new pg.Client({ connectionString: imported.database.url! });
      await client.connect();
      await client.query('SET session_replication_role = replica');
      for (const [table, change] of Object.entries(changes))
        await client.query(`CREATE TEMP TABLE before_${table} AS TABLE ${table}; UPDATE ${table} SET ${change}`);
      try {
        return await work();
      } finally {
        // Raw SQL: the rows of before.
        for (const table of Object.keys(changes))
          await client.query(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM before_${table}`);
        await client.end();
      }
    }

    test.each(Object.entries(BROKEN))('has the deviations of its %s', (_name, { codes }) => {
      const { made, result } = imported;
      for (const [code, count] of Object.entries(codes))
        expect([code, result.issues[code]]).toEqual([code, count + (made.issues[code] ?? 0)]);
    });

    test.each(['archive', 'sqlite'] as const)('has the same deviations and rows as %s', async (form) => {
      const { source, tables, issues } = await importedFromFile(imported, form);
      expect({ source, tables, issues }).toEqual({
        source: imported.result.source,
        tables: imported.result.tables,
        issues: imported.result.issues,
      });
    });

    test('has one issue for each repeated key, and the rows that were first', async () => {
      const found = await rows<{ table: string; rows: number }>(
        'SELECT source_table AS "table", count(*) AS rows FROM import_issues WHERE code = \'unique_duplicate\' GROUP BY 1',
      );
      expect(Object.fromEntries(found.map(({ table, rows: count }) => [table, count]))).toEqual(REPEATED);
      expect(await rows("SELECT name FROM promo_groups WHERE name LIKE 'VIP%' ORDER BY id")).toEqual([
        { name: 'VIP' },
        { name: 'VIP (9001)' },
      ]);
      expect(await rows("SELECT id FROM required_channels WHERE channel_id = '-1001234567890'")).toEqual([{ id: 1 }]);
    });

    test('loses no row', () => {
      for (const [table, { read, kept, merged, parked, dropped }] of Object.entries(imported.result.source))
        expect([table, kept + merged + parked + dropped, merged]).toEqual([table, read, table === 'user_promo_groups' ? 1 : 0]);
      expect(imported.result.source.cabinet_refresh_tokens).toMatchObject({ dropped: 3, parked: 2 });
    });

    test('is found to be equal', async () => {
      expect(await imported.verify()).toMatchObject({ differences: [], differing: 0 });
    });

    test('makes nobody an administrator', async () => {
      expect(
        await rows<{ name: string }>(
          'SELECT r.name FROM user_roles a JOIN admin_roles r ON r.id = a.role_id WHERE a.is_active ORDER BY a.id',
        ),
      ).toEqual([{ name: 'Admin' }, { name: 'Superadmin (9002)' }]);
      expect(
        await rows(
          'SELECT permissions @> \'["users:read", "vpnpanel:sync", "roles:assign"]\' AS merged, permissions ? \'*:*\' AS all_of_them FROM admin_roles WHERE name = \'Admin\'',
        ),
      ).toEqual([{ merged: true, allOfThem: false }]);
      expect(await rows('SELECT id, is_system FROM admin_roles WHERE id >= 9001 ORDER BY id')).toMatchObject([
        { isSystem: true },
        { isSystem: false },
        { isSystem: false },
        { isSystem: false },
      ]);
    });

    test('keeps aside a table and a column that nobody has named', async () => {
      expect(
        await rows(
          "SELECT source_id, row, reason, is_whole FROM import_parked WHERE source_table LIKE 'made_up%' ORDER BY source_table, id",
        ),
      ).toEqual([
        { sourceId: '5', row: { id: '5', content: 'somebody needs this' }, reason: 'table_unknown', isWhole: true },
        { sourceId: 'row', row: { id: null, content: 'and this' }, reason: 'table_unknown', isWhole: true },
        { sourceId: 'row 1', row: { one: '1', other: '2' }, reason: 'table_unknown', isWhole: true },
      ]);
      expect(
        await rows(
          "SELECT source_id, row, is_whole FROM import_parked WHERE source_table IN ('users', 'service_rules') AND row ?| '{made_up,order}' ORDER BY source_table",
        ),
      ).toEqual([
        { sourceId: '9001', row: { id: 9001, order: 7 }, isWhole: false },
        { sourceId: '90002', row: { id: 90_002, made_up: 'said something' }, isWhole: false },
      ]);
    });

    test('has no secret of the source in what is kept aside or reported', async () => {
      const texts = await rows<{ text: string }>(
        'SELECT row::text AS text FROM import_parked UNION ALL SELECT i::text FROM import_issues i UNION ALL SELECT report::text FROM import_runs',
      );
      const all = texts.map(({ text }) => text).join('\n') + JSON.stringify([imported.result, await imported.verify()]);
      const secrets = await new Promise<string[]>((resolve, reject) => {
        const owner = new pg.Client({ connectionString: imported.url });
        owner
          .connect()
          .then(() =>
            owner.query<{ secret: string }>(
              'SELECT token_hash AS secret FROM web_api_tokens UNION SELECT token_hash FROM cabinet_refresh_tokens UNION SELECT password_hash FROM users WHERE password_hash IS NOT NULL',
            ),
          )
          .then(({ rows: found }) => resolve(found.map(({ secret }) => secret)), reject)
          .finally(() => owner.end());
      });
      expect(secrets.length).toBeGreaterThan(5);
      for (const secret of [...secrets, 'hidden']) expect(all).not.toContain(secret);
    });

    test('has the files of tickets, and the menus of the cabinet', async () => {
      expect(
        await rows(
          "SELECT file_id, source, is_private FROM media_files WHERE file_id IN ('file-1', 'file-without-type', 'sound-file')",
        ),
      ).toEqual([{ fileId: 'file-1', source: 'ticket', isPrivate: true }]);
      expect(await rows("SELECT document FROM menu_layouts WHERE name = 'cabinet'")).toEqual([
        {
          document: {
            rows: [
              { buttons: ['home'], id: 'row_1' },
              { buttons: ['balance'], id: 'row_2' },
            ],
            custom: {},
            styles: { home: { style: 'success' } },
          },
        },
      ]);
      expect(await rows('SELECT last_user_message_at FROM tickets WHERE id IN (9002, 9003) ORDER BY id')).toEqual([
        { lastUserMessageAt: null },
        { lastUserMessageAt: new Date('2026-11-01T12:00:00Z') },
      ]);
    });

    test('is found to differ when a row of a table here is changed', async () => {
      const changes: Record<string, string> = {
        tickets: "title = 'x' WHERE id = 9003",
        ticket_messages: "message_text = 'x' WHERE id = 9002",
        ticket_notifications: "message = 'x' WHERE id = 1",
        support_audit_logs: "action = 'x'",
        admin_audit_log: "action = 'y' WHERE id = 2",
        button_click_logs: "button_id = 'x' WHERE id = 2",
        webhooks: "url = 'x' WHERE id = 1",
        required_channels: 'is_active = false WHERE id = 9002',
        user_channel_subscriptions: 'is_member = NOT is_member',
        service_rules: "content = 'x' WHERE id = 1",
        faq_pages: "content = 'x'",
        faq_settings: 'is_enabled = false',
        legal_documents: "content = 'x'",
        welcome_texts: "text = 'x' WHERE id = 9001",
        user_messages: "message_text = 'x'",
        pinned_messages: "content = 'x' WHERE id = 9003",
        mass_sends: 'sent = sent - 1 WHERE source_id = 1',
        main_menu_buttons: "text = 'x'",
        email_templates: "subject = 'x' WHERE id = 9002",
        menu_layout_history: "document = '{}'",
        menu_layouts: "document = '{\"rows\": []}' WHERE name = 'chat'",
        media_files: 'is_private = false',
        admin_roles: 'level = 1 WHERE id = 1',
        user_roles: 'is_active = false WHERE id = 7',
        access_policies: "effect = 'allow'",
        web_api_tokens: 'is_active = false WHERE id = 9003',
        cabinet_refresh_tokens: "expires_at = expires_at + interval '1 day'",
        system_settings: "value = 'x' WHERE key = 'SUPPORT_USERNAME'",
      };
      const ofSource: Record<string, string> = {
        legal_documents: 'privacy_policies',
        mass_sends: 'broadcast_history',
        menu_layouts: 'system_settings',
      };
      const { differences } = await changedMeanwhile(changes, imported.verify);
      const found = new Set(differences.map(({ table }) => table));
      for (const table of Object.keys(changes)) expect([table, found.has(ofSource[table] ?? table)]).toEqual([table, true]);
    });
  },
);
