import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../src/core/app.ts';
import { backupFolder } from '../../src/domain/backups/backup-folder.ts';
import { readTask, requestBackup, runTask } from '../../src/domain/backups/backup-tasks.ts';
import { atEndOfFile } from './end-of-file.ts';
import { type TestApp, type TestAppOptions, testApp } from './test-app.ts';

/** An app with a data folder, and so a folder of backups, of its own. */
export async function appWithFolder(options: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'backups-test-'));
  atEndOfFile(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  return testApp({ ...options, environment: { ...options.environment, DATA_DIR: dataDir } });
}

/** Makes a backup as a request and its job do. @returns its name and path */
export async function aBackup(app: App): Promise<{ name: string; path: string }> {
  const { taskId } = await requestBackup(app, null, 'api');
  await runTask(app, taskId, new AbortController().signal);
  const task = await readTask(app, taskId);
  if (task.status !== 'completed') throw new Error(`${task.status}: ${task.message}`);
  return { name: task.filePath!, path: join(backupFolder(app), task.filePath!) };
}

/** Values of every kind of column that could be changed by the way through a file. */
export async function fill(app: App, users = 50): Promise<void> {
  await app.db.sql(
    `INSERT INTO users (auth_type, referral_code, promo_group_id, first_name, created_at, lifetime_used_traffic_bytes)
     SELECT 'messenger', substr(md5(random()::text), 1, 18), (SELECT id FROM promo_groups WHERE is_default), 'User ' || n, now() - n * interval '1 second', 9007199254740993 - n
     FROM generate_series(1, $1::int) n RETURNING id`,
    [users],
  );
  await app.db.sql(
    'UPDATE users SET referred_by_id = id + 1 WHERE id IN (SELECT id FROM users ORDER BY id LIMIT greatest(0, (SELECT count(*) - 1 FROM users)::int)) AND EXISTS (SELECT 1 FROM users o WHERE o.id = users.id + 1) RETURNING id',
  );
  await app.db.sql(
    `UPDATE users SET last_name = $1, notification_settings = $2::jsonb, created_at = '2026-02-28 23:59:59.999+00', referral_commission_percent = 12.50
     WHERE id = (SELECT max(id) FROM users) RETURNING id`,
    [
      `tab\t, comma, "quote", \\backslash, 'single', NULL, {}, line\nbreak, ${'ё'.repeat(10)} 😀`,
      '{"a": [1, 2.50, "\\"quoted\\" and \\\\back", null], "big": 12345678901234567890, "text": "строка\\nline, {brace}"}',
    ],
  );
  await app.db.sql(
    `SELECT post_transaction(id, 'deposit', 50000 + id, 'provider_clearing', 'provider:sandbox', 'sandbox', 'ext-' || id, 'top-up', now())::text AS posted
     FROM users`,
  );
  await app.db.sql(
    `SELECT post_transaction(id, 'subscription_payment', -100, 'sales_revenue', 'sales:tariff', 'balance', NULL, 'sale', now())::text AS posted FROM users`,
  );
  await app.db.sql("INSERT INTO menu_layouts (name, document) VALUES ('chat', $1::json) ON CONFLICT DO NOTHING RETURNING name", [
    '{"rows":[{"b":1, "a":  2.0}]}',
  ]);
  await app.db.sql(
    "INSERT INTO admin_audit_log (action, status, details) VALUES ('a:b', 'success', '{\"n\": 1.10}') RETURNING id",
  );
  await app.db.sql(
    `INSERT INTO admin_audit_log (action, status, details) VALUES ('a:b', 'success', 'null'), ('a:b', 'success', NULL),
       ('a:b', 'success', '{"$json": null}'), ('a:b', 'success', '["$json"]') RETURNING id`,
  );
  await app.db.sql(
    `INSERT INTO idempotency_keys (actor, key, operation, body_hash, response, created_at) VALUES ('backup-test', 'exact', 'a', 'b', $1::json, 'infinity'),
       ('backup-test', 'null', 'a', 'b', 'null', '0044-03-15 12:00:00+00 BC'), ('backup-test', 'none', 'a', 'b', NULL, '2026-02-28 23:59:59.999+00')
     ON CONFLICT DO NOTHING RETURNING key`,
    ['{"a" : 1.0,\n "a": "\\u0000 \\ud800"}'],
  );
  await app.db.sql(
    "INSERT INTO branding_images (name, content_type, content, updated_at) VALUES ('logo', 'image/png', $1, now()) ON CONFLICT DO NOTHING RETURNING name",
    [Buffer.from([0, 10, 92, 34, 255])],
  );
}
