/** Spec 07 section 9: what the first start after an import sends and charges (hazards I7, I29, I30 and I46). */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxPanel } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { togglePause } from '../../../src/domain/subscriptions/daily.ts';
import { type RecordedCall, runRound, startFirst, watchedApp } from '../../support/first-start.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { panelOf } from '../../support/imported-panels.ts';
import { userActor } from '../../support/offer-samples.ts';
import { serverUrl } from '../../support/test-database.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

/** What somebody may notice: all but questions. That an address is encrypted changes nothing at the panel. */
const isEffect = ({ name }: RecordedCall) => !/\.(?:find|list|read|get|ping|encrypt)\w*$/.test(name);

/** Subscriptions of the source that the test changes, by what is special about them. */
interface Case {
  name: string;
  /** SQL of `SET` of the subscription `s`. */
  subscription: string;
  /** The same of its owner. */
  owner?: string;
}

const DAILY = 'tariff_id = 3, autopay_enabled = false, is_trial = false';
const AUTOPAY = 'tariff_id = 1, autopay_enabled = true, autopay_days_before = 3, is_trial = false';
const RICH = 'balance_kopeks = 100000';
const CASES: readonly Case[] = [
  { name: 'disabled', subscription: `${AUTOPAY}, status = 'disabled', end_date = at + interval '2 days'`, owner: RICH },
  { name: 'disabled daily', subscription: `${DAILY}, status = 'disabled', end_date = at - interval '3 days'`, owner: RICH },
  {
    name: 'of a blocked user',
    subscription: `${AUTOPAY}, end_date = at + interval '1 day'`,
    owner: `${RICH}, status = 'blocked'`,
  },
  {
    name: 'daily of a blocked user',
    subscription: `${DAILY}, end_date = at + interval '1 minute'`,
    owner: `${RICH}, status = 'blocked'`,
  },
  { name: 'expired', subscription: `${AUTOPAY}, status = 'expired', end_date = at - interval '5 days'`, owner: RICH },
  { name: 'expired before its end', subscription: `tariff_id = 1, autopay_enabled = false, status = 'expired'`, owner: RICH },
  // A day later their end is an hour ago.
  {
    name: 'autopay expired before its end',
    subscription: `${AUTOPAY}, status = 'expired', end_date = at + interval '23 hours'`,
    owner: RICH,
  },
  {
    name: 'daily expired before its end',
    subscription: `${DAILY}, status = 'expired', end_date = at + interval '23 hours', last_daily_charge_at = at - interval '1 day'`,
    owner: RICH,
  },
  {
    name: 'paused daily',
    subscription: `${DAILY}, is_daily_paused = true, last_daily_charge_at = at - interval '9 days', end_date = at - interval '8 days'`,
    owner: RICH,
  },
  {
    name: 'daily charged an hour ago',
    subscription: `${DAILY}, last_daily_charge_at = at - interval '1 hour', end_date = at + interval '23 hours'`,
    owner: RICH,
  },
  { name: 'renewed today', subscription: `${AUTOPAY}, end_date = at + interval '31 days'`, owner: RICH },
  { name: 'to be renewed', subscription: `${AUTOPAY}, end_date = at + interval '2 days'`, owner: RICH },
];

/** Grants each case the subscription of another user, who is active and paying. */
async function setCases(source: pg.Client): Promise<void> {
  const { rows } = await source.query<{ id: number; user_id: number }>(
    `SELECT s.id, s.user_id FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.status = 'active' AND u.status = 'active'
       AND s.end_date > timestamptz '2026-11-30T09:00:00Z' AND u.telegram_id IS NOT NULL AND u.remnawave_uuid ~ '^[0-9a-f-]{36}$' AND s.connected_squads::text LIKE '["%'
       AND (SELECT count(*) FROM subscriptions o WHERE o.user_id = s.user_id) = 1 ORDER BY s.id LIMIT $1`,
    [CASES.length],
  );
  for (const [place, { name, subscription, owner }] of CASES.entries()) {
    const { id, user_id: userId } = rows[place]!;
    const at = (fields: string) => fields.replaceAll(/\bat\b/g, "timestamptz '2026-11-28T09:00:00Z'");
    await source.query(`UPDATE subscriptions SET ${at(subscription)} WHERE id = $1`, [id]);
    await source.query(`UPDATE users SET first_name = $2, promo_group_id = NULL ${owner ? `, ${owner}` : ''} WHERE id = $1`, [
      userId,
      name,
    ]);
    await source.query('DELETE FROM user_promo_groups WHERE user_id = $1', [userId]);
  }
}

/** Everything that left the service and its database so far, and what waits to. */
async function sentSoFar({ rows }: Pick<Imported, 'rows'> | { rows: null }) {
  const { servers } = await workerSandbox();
  const outside = {
    panel: servers.panel.calls().length,
    messages: (await servers.messenger.messages()).length,
    mails: (await servers.mail.list()).length,
    invoices: (await servers.payments.list()).length,
  };
  // Raw SQL: none of them may be there, whatever its type.
  const [waiting] = rows
    ? await rows(
        `SELECT (SELECT count(*)::int FROM jobs.job) AS jobs, (SELECT count(*)::int FROM domain_events) AS events,
           (SELECT count(*)::int FROM webhook_deliveries) AS deliveries`,
      )
    : [{ jobs: 0, events: 0, deliveries: 0 }];
  return { ...outside, ...waiting };
}

describe.skipIf(!serverUrl)('the first start (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  let panel: SandboxPanel;
  let app: App;
  let calls: RecordedCall[];
  let before: object;
  let after: object;
  /** Effects of the first round, of the same briefly later, and of a day later. */
  let first: RecordedCall[];
  let again: RecordedCall[];
  let dayLater: RecordedCall[];
  /** The statuses that the import has stored. */
  let statuses: Map<number, string>;
  let statusesLater: Map<number, string>;
  let movements: { first: Record<string, number>; dayLater: Record<string, number> };

  /** Movements since the import by the name of the case. */
  const movementsByCase = async () => {
    const found = await imported.rows<{ name: string; count: number }>(
      `SELECT u.first_name AS name, count(*)::int AS count FROM transactions t JOIN users u ON u.id = t.user_id
       WHERE t.imported_at IS NULL AND NOT t.is_internal GROUP BY 1`,
    );
    return Object.fromEntries(found.map(({ name, count }) => [name, count]));
  };
  const readStatuses = async () => {
    const stored = await imported.rows<{ id: number; status: string }>('SELECT id, status FROM subscriptions');
    return new Map(stored.map(({ id, status }) => [id, status]));
  };
  const round = async () => {
    const known = calls.length;
    await runRound(app);
    return calls.slice(known).filter(isEffect);
  };

  beforeAll(async () => {
    before = await sentSoFar({ rows: null });
    imported = await importedFrom([], setCases);
    after = await sentSoFar(imported);
    const made = await panelOf(imported, 'uuid');
    panel = made.panel;
    ({ app, calls } = watchedApp(made.app));
    statuses = await readStatuses();
    await startFirst(app);
    first = calls.filter(isEffect);
    movements = { first: await movementsByCase(), dayLater: {} };
    again = await round();
    imported.clock.advance(DAY_MS);
    dayLater = await round();
    statusesLater = await readStatuses();
    movements.dayLater = await movementsByCase();
  });
  afterAll(async () => {
    await panel.close();
    await imported.drop();
  });

  test('I7: the import sends nothing, nor leaves anything to be sent', () => {
    expect(after).toEqual(before);
  });

  test('I7: the panel hears of the one renewal that is due', async () => {
    const [renewed] = await imported.rows<{ uuid: string }>(
      `SELECT vpnpanel_uuid AS uuid FROM users WHERE first_name = 'to be renewed'`,
    );
    const changes = first.filter(({ name }) => name.startsWith('panel.'));
    expect(changes.map(({ name, given: [body] }) => [name, (body as { uuid: string }).uuid])).toEqual([
      ['panel.updateUser', renewed!.uuid],
    ]);
  });

  test('I7: a message goes to whom one is due, and to everybody once', async () => {
    const due = await imported.rows<{ messengerId: number }>(
      `SELECT u.messenger_id FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.status = 'active' AND (u.first_name = 'to be renewed'
         OR s.end_date BETWEEN timestamptz '2026-11-21T09:00:00Z' AND timestamptz '2026-12-01T09:00:00Z')`,
    );
    const people = new Set(due.map(({ messengerId }) => messengerId));
    const sent = first.filter(({ name }) => name === 'messenger.sendMessage').map(({ given: [chat] }) => chat as number);
    expect(sent.filter((chat) => !people.has(chat))).toEqual([]);
    expect(new Set(sent).size).toBe(sent.length);
    expect(first.filter(({ name }) => !/^(?:panel|messenger)[.]/.test(name))).toEqual([]);
  });

  test('I7: the next round sends nothing', () => {
    expect(again).toEqual([]);
  });

  test('I29: nothing that was disabled or expired is active a day later', () => {
    const inEffect = ['active', 'trial', 'limited'];
    const begun = [...statusesLater].filter(([id, status]) => inEffect.includes(status) && !inEffect.includes(statuses.get(id)!));
    expect(begun).toEqual([]);
  });

  test('I29: nobody without access gets some at the panel', async () => {
    const [{ uuids }] = (await imported.rows<{ uuids: string[] }>(
      `SELECT array_agg(u.vpnpanel_uuid::text) AS uuids FROM users u WHERE u.first_name = ANY('{disabled,disabled daily,of a blocked user,daily of a blocked user,expired,expired before its end,autopay expired before its end,daily expired before its end,paused daily}')`,
    )) as [{ uuids: string[] }];
    expect(uuids).toHaveLength(9);
    const ofThem = panel.listUsers(10_000).filter(({ uuid }) => uuids.includes(uuid));
    expect(ofThem.map(({ status }) => status)).toEqual(uuids.map(() => 'DISABLED'));
    // The one live subscription of which the source has no panel user gets one.
    const made = [...first, ...dayLater].filter(({ name }) => /create|revoke|enable/i.test(name));
    expect(made.map(({ name }) => name)).toEqual(
      Array(imported.made.issues.subscription_unprovisioned!).fill('panel.createUser'),
    );
  });

  test('I29, I30: only what is due is charged, and once', () => {
    const named = (found: Record<string, number>) =>
      Object.fromEntries(Object.entries(found).filter(([name]) => CASES.some((known) => known.name === name)));
    expect(named(movements.first)).toEqual({ 'to be renewed': 1 });
    expect(named(movements.dayLater)).toEqual({ 'to be renewed': 1, 'daily charged an hour ago': 1 });
  });

  test('I29: its owner resumes a daily subscription that was expired before its end', async () => {
    const [owner] = await imported.rows<{ id: number }>(`SELECT id FROM users WHERE first_name = 'daily expired before its end'`);
    await togglePause(app, userActor(owner!.id), null);
    const resumed = await imported.rows(`SELECT status FROM subscriptions WHERE user_id = ${owner!.id}`);
    expect(resumed).toEqual([{ status: 'active' }]);
    expect(await movementsByCase()).toMatchObject({ 'daily expired before its end': 1 });
  });
});

test.skipIf(!serverUrl)('I46: open grace access stays until the start, and is taken back by one push after it', async () => {
  const imported = await importedFrom(['--version', 'v4', '--users', '60']);
  onTestFinished(() => imported.drop());
  const made = await panelOf(imported, 'number');
  onTestFinished(() => made.panel.close());
  const [graced] = await imported.rows<{ id: number; uuid: string }>(
    `SELECT s.id, u.vpnpanel_uuid AS uuid FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.provision_error = 'grace access was open'`,
  );
  expect(made.panel.calls()).toEqual([]);
  const { app, calls } = watchedApp(made.app);
  const pushes = () =>
    calls.filter((call) => isEffect(call) && call.name.startsWith('panel.') && JSON.stringify(call.given).includes(graced!.uuid));
  await startFirst(app);
  imported.clock.advance(16 * MINUTE_MS);
  await runRound(app);
  expect(pushes()).toHaveLength(1);
  const [pushed] = await imported.rows(
    `SELECT provision_state, provision_error, status FROM subscriptions WHERE id = ${graced!.id}`,
  );
  expect(pushed).toEqual({ provisionState: 'synced', provisionError: null, status: 'expired' });
  imported.clock.advance(DAY_MS);
  await runRound(app);
  expect(pushes()).toHaveLength(1);
});

test.skipIf(!serverUrl)('I7: a database of v4 with a panel of numbers starts without a burst', async () => {
  const imported = await importedFrom(['--version', 'v4', '--users', '100']);
  onTestFinished(() => imported.drop());
  const made = await panelOf(imported, 'number');
  onTestFinished(() => made.panel.close());
  const { app, calls } = watchedApp(made.app);
  await startFirst(app);
  imported.clock.advance(MINUTE_MS);
  await runRound(app);
  const effects = calls.filter(isEffect);
  const due = await imported.rows<{
    uuid: string | null;
    messengerId: number | null;
    isUnknown: boolean;
    isPushed: boolean;
    isReminded: boolean;
  }>(
    `SELECT u.vpnpanel_uuid AS uuid, u.messenger_id, EXISTS (SELECT 1 FROM import_issues i WHERE i.code IN ('subscription_unprovisioned', 'panel_id_unresolved')
         AND i.subject IN (s.id::text, u.id::text)) AS is_unknown,
       EXISTS (SELECT 1 FROM import_issues i WHERE i.code = 'grace_session_open' AND i.subject = s.id::text)
         OR EXISTS (SELECT 1 FROM transactions t WHERE t.user_id = u.id AND t.imported_at IS NULL AND NOT t.is_internal) AS is_pushed,
       u.status = 'active' AND s.end_date BETWEEN timestamptz '2026-11-21T09:00:00Z' AND timestamptz '2026-12-02T09:00:00Z' AS is_reminded
     FROM users u JOIN subscriptions s ON s.user_id = u.id`,
  );
  const pushed = effects
    .filter(({ name }) => name === 'panel.updateUser')
    .map(({ given: [body] }) => (body as { uuid: string }).uuid);
  const pushable = new Set(
    due.filter(({ isUnknown, isPushed, isReminded }) => isUnknown || isPushed || isReminded).map(({ uuid }) => uuid),
  );
  expect(pushed.filter((uuid) => !pushable.has(uuid))).toEqual([]);
  expect(new Set(pushed).size).toBe(pushed.length);
  // Nobody is created but whom no panel user is known of.
  const created = effects.filter(({ name }) => name === 'panel.createUser').length;
  expect(created).toBeLessThanOrEqual(due.filter(({ isUnknown }) => isUnknown).length);
  const reminded = new Set(due.filter(({ isReminded }) => isReminded).map(({ messengerId }) => messengerId));
  const sent = effects.filter(({ name }) => name === 'messenger.sendMessage').map(({ given: [chat] }) => chat as number);
  expect(sent.filter((chat) => !reminded.has(chat))).toEqual([]);
  expect(new Set(sent).size).toBe(sent.length);
  expect(
    effects.map(({ name }) => name).filter((name) => !/^(?:panel\.(?:update|create)User|messenger\.sendMessage)$/.test(name)),
  ).toEqual([]);
});
