import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { backupFolder } from '../../src/domain/backups/backup-folder.ts';
import { runTask } from '../../src/domain/backups/backup-tasks.ts';
import { multipartForm } from '../../src/integrations/messenger/bot-api-client.ts';
import { adminClient } from '../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { appWithFolder, fill } from '../support/backup-samples.ts';
import type { TestApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: Awaited<ReturnType<typeof tokenClient>>;

beforeAll(async () => {
  t = await appWithFolder({ environment: { BACKUP_UPLOAD_MAX_MB: '1', BACKUP_MAX_KEEP: '2' } });
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  await fill(t.app, 5);
});
afterAll(() => server.close());

async function create(): Promise<{ taskId: string; name: string }> {
  t.clock.advance(1_000);
  const { status, body } = await api.post('/backups');
  expect([status, body]).toEqual([200, { task_id: expect.stringMatching(/^[0-9a-f]{32}$/), status: 'queued' }]);
  await runTask(t.app, body.task_id, new AbortController().signal);
  const done = await api.get(`/backups/status/${body.task_id}`);
  expect(done.body).toMatchObject({ status: 'completed', created_by: api.tokenId, file_path: expect.stringMatching(/^backup_/) });
  return { taskId: body.task_id, name: done.body.file_path };
}

async function upload(content: Buffer, name = 'mine.tar.gz', query = '?clear_existing=true') {
  const form = multipartForm({}, { field: 'file', name, type: 'application/gzip', content });
  const reply = await server.inject({
    method: 'POST',
    url: `/backups/upload${query}`,
    payload: Buffer.from(form.body),
    headers: { 'x-api-key': api.token, 'content-type': form.contentType },
  });
  return [reply.statusCode, reply.json()];
}

describe('spec 06 section 7: POST /backups, its task, list, download, delete', () => {
  test('a backup from its request to its deletion', async () => {
    const { taskId, name } = await create();
    const { body: tasks } = await api.get('/backups/tasks');
    expect(tasks.items.map((task: { task_id: string }) => task.task_id)).toContain(taskId);
    expect((await api.get('/backups/tasks', { query: { active_only: true } })).body).toEqual({ items: [], total: 0 });
    const { body: list } = await api.get('/backups', { query: { limit: 1 } });
    expect(list.items).toEqual([
      {
        filename: name,
        filepath: name,
        timestamp: t.clock.now().toISOString(),
        compressed: true,
        error: null,
        tables_count: expect.any(Number),
        total_records: expect.any(Number),
        file_size_bytes: expect.any(Number),
        file_size_mb: expect.any(Number),
        created_by: api.tokenId,
        database_type: 'postgresql',
        version: '3.0',
      },
    ]);
    const file = await api.get(`/backups/download/${name}`);
    expect(file.bytes).toEqual(await readFile(join(backupFolder(t.app), name)));
    expect(file.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${name}"`,
    });
    const headers = { 'x-api-key': api.token, range: 'bytes=100-299' };
    const part = await server.inject({ method: 'GET', url: `/backups/download/${name}`, headers });
    expect([part.statusCode, part.rawPayload]).toEqual([206, file.bytes.subarray(100, 300)]);
    // Spec 10 O13: a slash at the end names something else.
    for (const reply of [await api.delete(`/backups/${name}/`), await api.post(`/backups/restore/${name}/`, {})]) {
      expect(reply).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
    }
    expect((await api.delete(`/backups/${name}`)).body).toEqual({ success: true, message: `Backup ${name} deleted` });
    const gone = await api.delete(`/backups/${name}`);
    expect([gone.status, gone.body]).toEqual([404, { detail: `Backup file not found: ${name}` }]);
    expect((await api.get('/backups/status/nothing')).body).toEqual({ detail: 'Task not found' });
  });

  test('BACKUP_MAX_KEEP: the oldest are deleted, files of others stay', async () => {
    const foreign = join(backupFolder(t.app), 'backup_foreign.tar.gz');
    await writeFile(foreign, 'not ours'.repeat(200));
    onTestFinished(() => rm(foreign));
    const names = [(await create()).name, (await create()).name, (await create()).name];
    const { body } = await api.get('/backups');
    const found = body.items.map((item: { filename: string }) => item.filename);
    expect(found).toEqual(expect.arrayContaining([...names.slice(1), 'backup_foreign.tar.gz']));
    expect(found).not.toContain(names[0]);
    expect(body.items.find((item: { filename: string }) => item.filename === 'backup_foreign.tar.gz')).toMatchObject({
      error: expect.stringMatching(/damaged/),
      tables_count: null,
      total_records: null,
      version: 'unknown',
    });
  });

  test('spec 06 section 17, hazard 3: names that lead elsewhere, links and folders get the answer of an unknown file', async () => {
    const folder = backupFolder(t.app);
    await mkdir(join(folder, 'backup_folder.tar'), { recursive: true });
    await writeFile(join(t.app.env.dataDir, 'secret.tar'), 'secret');
    await symlink(join(t.app.env.dataDir, 'secret.tar'), join(folder, 'backup_link.tar')).catch(() => undefined);
    const names = [
      '..%2Fsecret.tar',
      '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      'backup_link.tar',
      'backup_folder.tar',
      'backup_x.tar%00',
      'other.tar',
      `backup_${'x'.repeat(300)}.tar`,
    ];
    for (const name of names) {
      const read = await api.get(`/backups/download/${name}`);
      expect([name, read.status, read.body]).toEqual([name, 404, { detail: 'Backup file not found' }]);
      expect((await api.post(`/backups/restore/${name}`, {})).status, name).toBe(404);
      expect((await api.delete(`/backups/${name}`)).status, name).toBe(404);
    }
  });
});

describe('spec 06 section 7: restore and upload', () => {
  test('a restore is recorded with its token, keeps the tokens of now, and leaves a safety backup', async () => {
    const { name } = await create();
    const later = await tokenClient(t.app, server, 'made later');
    await t.app.db.sql("UPDATE users SET first_name = 'Changed' RETURNING id");
    const { status, body } = await api.post(`/backups/restore/${name}`, { clear_existing: true });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        message: expect.stringMatching(/^Restored/),
        tables_restored: expect.any(Number),
        records_restored: expect.any(Number),
      },
    ]);
    expect((await t.app.db.sql("SELECT 1 AS n FROM users WHERE first_name = 'Changed'")).length).toBe(0);
    expect((await later.get('/backups')).status).toBe(200);
    const safety = /in (backup_\S+)$/.exec(body.message)![1]!;
    expect(await readdir(backupFolder(t.app))).toContain(safety);
    const audited = await t.app.db.sql(
      "SELECT details FROM admin_audit_log WHERE action = 'backups:manage' AND request_path LIKE '/backups/restore/%' AND status = 'success'",
    );
    expect(audited.at(-1)).toMatchObject({ details: { api_token_id: api.tokenId } });
  });

  test.each([true, false])(
    'a token that was rotated and limited since keeps its text and limits (clear_existing %j)',
    async (clear) => {
      const changed = await tokenClient(t.app, server, 'rotated since');
      const { name } = await create();
      await api.patch(`/tokens/${changed.tokenId}`, { scopes: ['stats:read'] });
      const { body } = await api.post(`/tokens/${changed.tokenId}/rotate`, { overlap_minutes: 0 });
      expect((await api.post(`/backups/restore/${name}`, { clear_existing: clear })).body).toMatchObject({ success: true });
      const now = clientOf(server, { 'x-api-key': body.token });
      const statuses = [await changed.get('/stats/overview'), await now.get('/stats/overview'), await now.get('/users')];
      expect(statuses.map(({ status }) => status)).toEqual([401, 200, 403]);
    },
  );

  test('clear_existing false: rows are merged, balances follow the entries', async () => {
    const { name } = await create();
    await t.app.db.sql("UPDATE users SET first_name = 'Changed' RETURNING id");
    await t.app.db.sql(
      "SELECT post_transaction(min(id), 'deposit', 777, 'provider_clearing', 'provider:sandbox', 'sandbox', 'later', 'x', now())::text AS p FROM users",
    );
    const [before] = await t.app.db.sql('SELECT sum(balance_kopeks) AS sum, count(*) AS n FROM users');
    const { body } = await api.post(`/backups/restore/${name}`, {});
    expect(body).toMatchObject({ success: true });
    expect((await t.app.db.sql('SELECT sum(balance_kopeks) AS sum, count(*) AS n FROM users'))[0]).toEqual(before);
    expect((await t.app.db.sql("SELECT 1 AS n FROM users WHERE first_name = 'Changed'")).length).toBe(0);
  });

  test('an upload for which there is no folder is 503, and works when there is one', async () => {
    const content = await readFile(join(backupFolder(t.app), (await create()).name));
    const [folder, aside] = [backupFolder(t.app), `${backupFolder(t.app)}-aside`];
    await rename(folder, aside);
    await writeFile(folder, '');
    expect(await upload(content)).toEqual([503, { detail: expect.stringContaining('full or not writable') }]);
    await rm(folder);
    await rename(aside, folder);
    expect(await upload(content)).toEqual([200, expect.objectContaining({ success: true })]);
  });

  test('an upload is restored and deleted after a check of its name, form and size', async () => {
    const { name } = await create();
    const content = await readFile(join(backupFolder(t.app), name));
    expect(await upload(content)).toEqual([200, expect.objectContaining({ success: true })]);
    expect(await upload(Buffer.from('nonsense'))).toEqual([
      200,
      expect.objectContaining({ success: false, tables_restored: null }),
    ]);
    expect(await upload(content, 'mine.zip')).toEqual([
      400,
      { detail: 'Invalid file type. Allowed: .tar.gz, .json, .json.gz, .tar' },
    ]);
    expect(await upload(content, '-x;.tar')).toEqual([400, { detail: 'Invalid filename' }]);
    expect(await upload(content, '..')).toEqual([400, { detail: 'Filename is required' }]);
    expect(await upload(Buffer.alloc(1024 * 1024 + 1))).toEqual([413, { detail: 'File too large. Maximum size: 1MB' }]);
    expect((await readdir(backupFolder(t.app))).filter((each) => each.startsWith('.work'))).toEqual([]);
  });

  test('while a restore is under way every instance answers 503 with Retry-After, except health', async () => {
    const { gate } = t.app.ports;
    await t.app.db.long!.alone(async (session) => {
      await session.closeService();
      await gate.look();
      const refused = await api.get('/backups');
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '10']);
      expect((await clientOf(server).get('/livez')).status).toBe(200);
    });
    const statusNow = async () => {
      await gate.look();
      return (await api.get('/backups')).status;
    };
    await expect.poll(statusNow).toBe(200);
  });
});

test('without an API token everything is refused', async () => {
  for (const [method, path] of [
    ['GET', '/backups'],
    ['POST', '/backups'],
    ['GET', '/backups/tasks'],
    ['DELETE', '/backups/x'],
    ['POST', '/backups/upload'],
  ] as const) {
    expect((await clientOf(server).send(method, path)).status).toBe(401);
  }
});

describe('backups for administrators', () => {
  const path = '/cabinet/admin/backups';

  test('starts one and lists it', async () => {
    const admin = await adminClient(t.app, server, ['backups:read', 'backups:create']);
    const { status, body } = await admin.post(path);
    expect([status, body]).toEqual([200, { task_id: expect.stringMatching(/^[0-9a-f]{32}$/), status: 'queued' }]);
    await runTask(t.app, body.task_id, new AbortController().signal);
    const { body: list } = await admin.get(`${path}/tasks`);
    const task = list.items.find(({ task_id }: { task_id: string }) => task_id === body.task_id);
    expect(task).toMatchObject({ status: 'completed', created_by: null });
    expect(list.total).toBe(list.items.length);
    expect((await admin.get(`${path}/tasks`, { query: { active_only: true } })).body).toEqual({ items: [], total: 0 });
  });

  test('needs a permission for each', async () => {
    const reader = await adminClient(t.app, server, ['backups:read']);
    expect([(await reader.get(`${path}/tasks`)).status, (await reader.post(path)).status]).toEqual([200, 403]);
    const other = await adminClient(t.app, server, ['settings:read', 'backups:create']);
    expect((await other.get(`${path}/tasks`)).status).toBe(403);
  });
});
