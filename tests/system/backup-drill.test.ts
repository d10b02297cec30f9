/** A restore drill in the built service: its job, the command, metrics and doctor (spec 06 section 7). */
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { multipartForm } from '../../src/integrations/messenger/bot-api-client.ts';
import { runCommand } from '../support/run-cli.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!serverUrl)('a restore drill (left out without a server: TEST_DATABASE_URL)', { shuffle: false }, () => {
  let database: { url: string; drop(): Promise<void> };
  let sql: pg.Client;
  let service: ServiceProcess;
  let api: Requester;
  /** Path of the backup. */
  let archive: string;

  beforeAll(async () => {
    database = await emptyDatabaseOnServer();
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    await sql.query(`DROP DATABASE IF EXISTS ${ABANDONED}`);
    known = [];
    known = await scratchDatabases();
    await sql.query(`CREATE DATABASE ${ABANDONED}`);
    service = await startServiceProcess({
      environment: { DATABASE_URL: database.url, BACKUP_DRILL_INTERVAL_HOURS: '1', BACKUP_AUTO_ENABLED: 'false' },
    });
    api = createRequester(service.url, { 'x-api-key': service.apiToken! });
  });
  afterAll(async () => {
    await service.stop();
    await sql.end();
    await database.drop();
  });

  const cli = (...words: string[]) => cliIn(service.dataDir, ...words);
  const cliIn = (dataDir: string, ...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_ROOT: dataDir });
  const metric = async (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec((await api.get('/metrics')).body)?.[1];
  const finding = async (name = 'restore drill', dataDir = service.dataDir) => {
    const { findings } = JSON.parse((await cliIn(dataDir, 'doctor', '--json')).out) as {
      findings: { check: string; verdict: string; detail: string }[];
    };
    return findings.find(({ check }) => check === name);
  };
  /** Of a drill that was killed long ago. */
  const ABANDONED = 'backup_drill_1700000000_0123456789ab';
  /** Those of other runs on this server are not ours. */
  let known: string[];
  const scratchDatabases = async () => {
    const { rows } = await sql.query<{ name: string }>(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'backup\\_drill\\_%'",
    );
    return rows.map(({ name }) => name).filter((name) => !known.includes(name));
  };

  test('the job restores the newest backup with ledger and files beside the data, and metrics and doctor show it', async () => {
    const { body: user } = await api.post('/users', { messenger_id: 900_000_001, first_name: 'Anna' });
    const paid = await api.post(`/users/${user.id}/balance`, { amount_kopeks: 12_345, description: 'top-up' });
    expect([paid.status, paid.body.balance_kopeks]).toEqual([200, 12_345]);
    const form = multipartForm({ media_type: 'photo' }, { field: 'file', name: 'a.png', type: 'image/png', content: PNG });
    const uploaded = await fetch(`${service.url}/upload`, {
      method: 'POST',
      body: Buffer.from(form.body),
      headers: { 'x-api-key': service.apiToken!, 'content-type': form.contentType },
    });
    expect(uploaded.status).toBe(200);

    const { task_id: task } = (await api.post('/backups')).body;
    await expect.poll(async () => (await api.get(`/backups/status/${task}`)).body.status).toBe('completed');
    archive = join(service.dataDir, 'backups', (await api.get(`/backups/status/${task}`)).body.file_path);
    expect(await metric('backup_drill_ok')).toBeUndefined();
    expect(await scratchDatabases()).toEqual([ABANDONED]);
    // The round that is due within ten minutes.
    await sql.query("SELECT send_job('backups.drill', '{}')");
    await expect.poll(() => metric('backup_drill_ok')).toBe('1');
    expect(Number(await metric('backup_drill_age_seconds'))).toBeLessThan(3_600);
    expect(await finding()).toMatchObject({
      verdict: 'ok',
      detail: expect.stringMatching(/^[1-9]\d* records of [1-9]\d* tables/),
    });
    await expect.poll(scratchDatabases).toEqual([]);
    const checked = await cli('backup', 'check', archive, '--json');
    expect([checked.code, checked.err]).toEqual([0, '']);
    expect(JSON.parse(checked.out)).toMatchObject({ file: archive, files: 1, encrypted: false });
  });

  test('doctor finds out that an instance does not see the backup, because it has another folder', async () => {
    expect(await finding('backups')).toMatchObject({ verdict: 'ok' });
    const other = await mkdtemp(join(tmpdir(), 'other-instance-'));
    expect(await finding('backups', other)).toMatchObject({
      verdict: 'warning',
      detail: expect.stringContaining(`${basename(archive)} is not seen in ${join(other, 'backups')}`),
    });
    await rm(other, { recursive: true });
  });

  test('a backup that was damaged on the disk is found by command, metrics and doctor', async () => {
    const { size } = await stat(archive);
    const file = await open(archive, 'r+');
    // Among the rows.
    const place = Math.floor(size * 0.9);
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, place);
    await file.write(Buffer.from([buffer[0]! ^ 0x10]), 0, 1, place);
    await file.close();
    const checked = await cli('backup', 'check', archive);
    expect([checked.code, checked.err]).toEqual([1, expect.stringMatching(/cannot be restored.*damaged/)]);
    const drill = await cli('backup', 'drill');
    expect([drill.code, drill.out]).toEqual([1, expect.stringMatching(/drill FAILED.*damaged/)]);
    await expect.poll(() => metric('backup_drill_ok')).toBe('0');
    expect(await finding()).toMatchObject({ verdict: 'problem', detail: expect.stringMatching(/damaged/) });
    await expect.poll(scratchDatabases).toEqual([]);
    const missing = await cli('backup', 'check', `${archive}.none`);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('There is no file')]);
  });
});
