/** The recipe of docs/point-in-time-recovery.md with the built service: its blocks are run as they stand in the document. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester, until } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import {
  type ArchivingCluster,
  createArchivingCluster,
  findRecoveryTools,
  type ServerTools,
} from '../support/archiving-cluster.ts';
import { runCommand } from '../support/run-cli.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const tools = findRecoveryTools();
const leftOut = typeof tools === 'string' ? ` (left out: ${tools})` : '';

/** More than the 32 ids by which a sequence is ahead in the WAL, so that ids would be used again. */
const LOST_USERS = 40;
/** What money is, and whose; read at the time of the target and after the restore. */
const MONEY = ['users', 'transactions', 'ledger_entries', 'ledger_accounts', 'web_api_tokens'];

interface Frame {
  type: string;
  id?: string;
  resumed?: boolean;
  payload?: { messenger_id?: number };
}

describe.skipIf(leftOut !== '')(`point-in-time recovery${leftOut}`, () => {
  let cluster: ArchivingCluster;
  let receiver: Receiver;
  const running = new Set<ServiceProcess>();
  const sockets = new Set<WebSocket>();

  beforeAll(async () => {
    cluster = await createArchivingCluster(tools as ServerTools);
    receiver = await startReceiver();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.close();
    for (const service of running) {
      await service.kill();
      // Removes its folder.
      await service.stop();
    }
    await receiver?.close();
    await cluster?.remove();
  });

  const startService = async (): Promise<ServiceProcess> => {
    const service = await startServiceProcess({ environment: { DATABASE_URL: cluster.url, LOG_LEVEL: 'warn' } });
    running.add(service);
    return service;
  };
  const doctorOnArchive = async () => {
    const { out } = await runCommand(['doctor', '--json'], { DATABASE_URL: cluster.url });
    const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; detail: string }[] };
    return findings.find(({ check }) => check === 'WAL archive');
  };
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  const digest = async () => {
    // A token changes whenever it is used.
    const parts = MONEY.map(
      (table) =>
        `(SELECT md5(string_agg((to_jsonb(x) - 'last_used_at' - 'last_used_ip')::text, ',' ORDER BY id)) FROM ${table} x) AS ${table}`,
    );
    return (await query(`SELECT ${parts.join(', ')}`))[0]!;
  };
  const connect = async (service: ServiceProcess, token: string, after?: string) => {
    const position = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws?token=${token}${position}`);
    sockets.add(socket);
    const frames: Frame[] = [];
    socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(String(data)) as Frame));
    const received = (messengerId: number) =>
      until(
        `the event of ${messengerId}`,
        async () => frames.find(({ payload }) => payload?.messenger_id === messengerId),
        (frame) => frame !== undefined,
      );
    await until('the greeting', async () => frames[0], Boolean);
    return { frames, received };
  };
  const deliveryIds = (messengerIds: readonly number[]) =>
    receiver.calls
      .filter(({ body }) => messengerIds.includes((JSON.parse(body) as { messenger_id: number }).messenger_id))
      .map(({ headers }) => String(headers['webhook-id']));
  const createUsers = (api: Requester, messengerIds: readonly number[]) =>
    Promise.all(
      messengerIds.map(async (messengerId) => {
        const { status, body } = await api.post('/users', { messenger_id: messengerId, first_name: `User ${messengerId}` });
        expect(status).toBe(200);
        return body.id as number;
      }),
    );
  const move = async (api: Requester, userId: number, kopeks: number) => {
    expect((await api.post(`/users/${userId}/balance`, { amount_kopeks: kopeks })).status).toBe(200);
  };

  test('the database is in its state at the target, the service goes on from there, and nothing that came later is taken for what comes now', async () => {
    const service = await startService();
    const token = service.apiToken!;
    const api = createRequester(service.url, { 'x-api-key': token });
    const webhook = { name: 'users', url: receiver.url, event_type: 'user.created' };
    expect((await api.post('/webhooks', webhook)).status).toBe(200);

    // Without a stanza archiving fails, and doctor says so.
    await query('SELECT pg_switch_wal()');
    await until(
      'a failure',
      () => query('SELECT failed_count FROM pg_stat_archiver'),
      ([row]) => Number(row!.failed_count) > 0,
    );
    expect(await doctorOnArchive()).toMatchObject({
      verdict: 'warning',
      detail: expect.stringContaining('nothing was archived'),
    });
    await cluster.run('stanza');
    expect(await doctorOnArchive()).toMatchObject({ verdict: 'ok' });

    const [first, second] = (await createUsers(api, [7_001, 7_002])) as [number, number];
    await move(api, first, 50_000);
    await cluster.run('full backup');
    await move(api, second, 70_000);
    await cluster.run('differential backup');
    await move(api, first, -12_345);
    const revoked = (await api.post('/tokens', { name: 'revoked after the target' })).body as { id: number; token: string };

    const atTarget = await digest();
    const [{ target }] = (await query<{ target: string }>(
      `SELECT to_char(date_trunc('second', clock_timestamp() AT TIME ZONE 'UTC') + interval '1 second', 'YYYY-MM-DD HH24:MI:SS+00') AS target`,
    )) as [{ target: string }];
    await until(
      'the end of the second',
      () => query('SELECT clock_timestamp() > $1::timestamptz AS is_past', [target]),
      ([row]) => row!.is_past === true,
    );
    // Nothing of it was changed before the target by anybody else.
    expect(await digest()).toEqual(atTarget);

    // After the target: wrong balances, a wrong change by hand, new users, tokens.
    const socket = await connect(service, token);
    await move(api, first, 1_000_000);
    await move(api, second, -70_000);
    await query("UPDATE users SET first_name = 'Oops' WHERE id = $1", [second]);
    const lostMessengerIds = Array.from({ length: LOST_USERS }, (_, n) => 8_000 + n);
    const lostIds = await createUsers(api, lostMessengerIds);
    await until(
      'the webhooks',
      async () => deliveryIds(lostMessengerIds).length,
      (count) => count === LOST_USERS,
    );
    const lostDeliveries = new Set(deliveryIds(lostMessengerIds));
    const lostPosition = (await socket.received(lostMessengerIds.at(-1)!))!.id!;
    const later = (await api.post('/tokens', { name: 'made after the target' })).body as { token: string };
    expect((await api.post(`/tokens/${revoked.id}/revoke`)).status).toBe(200);
    expect(await digest()).not.toEqual(atTarget);

    expect(await service.stop()).toBe(0);
    await cluster.stop();
    await cluster.run('restore', { "'2026-11-23 14:05:00+00'": `'${target}'` });
    await cluster.start();
    await until(
      'the target',
      () => cluster.run('look'),
      (output) => /\bpaused\b/.test(output),
    );
    expect(await digest()).toEqual(atTarget);
    await cluster.run('promote');
    await cluster.run('ids');
    const environment = { DATABASE_URL: cluster.url };
    const checked = await runCommand(['ledger', 'check', '--full'], environment);
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining('The ledger is clean') });

    const again = await startService();
    const after = createRequester(again.url, { 'x-api-key': token });
    expect(await digest()).toEqual(atTarget);
    expect((await after.get(`/users/${first}`)).body).toMatchObject({ balance_kopeks: 37_655, first_name: 'User 7001' });
    expect((await after.get(`/users/${second}`)).body).toMatchObject({ balance_kopeks: 70_000, first_name: 'User 7002' });
    expect((await after.get(`/users/by-messenger-id/${lostMessengerIds[0]}`)).status).toBe(404);
    // As the document says: what was made after the target is gone, what was withdrawn after it is valid.
    expect((await createRequester(again.url, { 'x-api-key': later.token }).get('/users')).status).toBe(401);
    expect((await createRequester(again.url, { 'x-api-key': revoked.token }).get('/users')).status).toBe(200);

    // What is written now is new to everybody (08 S5).
    const resumed = await connect(again, token, lostPosition);
    expect(resumed.frames[0]).toMatchObject({ type: 'connection', resumed: false });
    const [third] = (await createUsers(after, [9_001])) as [number];
    await move(after, third, 10_000);
    expect(third).toBeGreaterThan(Math.max(...lostIds));
    await resumed.received(9_001);
    await until(
      'the webhook',
      async () => deliveryIds([9_001]).length,
      (count) => count > 0,
    );
    expect(lostDeliveries).not.toContain(deliveryIds([9_001])[0]);
    const position = resumed.frames.at(-1)!.id!;
    await createUsers(after, [9_002]);
    const resumedAgain = await connect(again, token, position);
    expect(resumedAgain.frames[0]).toMatchObject({ resumed: true });
    await resumedAgain.received(9_002);

    // The new timeline is archived and backed up.
    await cluster.run('full backup');
    expect(await query('SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline')).toEqual([
      { timeline: '00000002' },
    ]);
    expect(await doctorOnArchive()).toMatchObject({ verdict: 'ok' });
    expect((await runCommand(['ledger', 'check', '--full'], environment)).code).toBe(0);
    expect(await again.stop()).toBe(0);
  });
});
