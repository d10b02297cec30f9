import { describe, expect, it } from 'vitest';
import { addDays, addMs, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay } from '../../../../src/core/clock.ts';
import { watchRuns } from '../../../../src/domain/provisioning/long-runs/watch-runs.ts';
import { requestProvisioning } from '../../../../src/domain/provisioning/request-provisioning.ts';
import { recommendSync } from '../../../../src/domain/provisioning/sync/recommend.ts';
import { continueSync } from '../../../../src/domain/provisioning/sync/run-sync.ts';
import {
  readAutoSync,
  runAutoSyncNow,
  startServerSync,
  switchAutoSync,
} from '../../../../src/domain/provisioning/sync/start-sync.ts';
import { putSetting, resetSetting } from '../../../../src/domain/settings/change-setting.ts';
import { aSubscription, GB, GERMANY, jobsOf, NETHERLANDS, readRow, withPort } from '../../../support/provisioning-setup.ts';
import { recordedEvents } from '../../../support/recorded-events.ts';
import { storeRow } from '../../../support/stored-rows.ts';
import { actor, aServer, everything, inStep, run, startEmpty } from './setup.ts';

const editor = { kind: 'system' } as const;

describe('to the panel', () => {
  it('sends what differs, creates what is missing, disables what is over, and sends nothing the second time', async () => {
    const t = await startEmpty();
    const [same, other, lost, over] = await inStep(t, 4);
    const fresh = await aSubscription(t.app, { days: 7 });
    const never = await aSubscription(t.app, { status: 'expired', days: -3 });
    const uuidOf = async (id: number) => (await readRow(t.app, id)).vpnpanelUuid!;
    await t.adapter.updateUser({ uuid: await uuidOf(other!.id), trafficLimitBytes: GB, squadUuids: [GERMANY] });
    await t.adapter.deleteUser(await uuidOf(lost!.id));
    await t.app.db.sql("UPDATE subscriptions SET status = 'expired', end_date = $2::timestamptz WHERE id = $1::int", [
      over!.id,
      addDays(t.clock.now(), -1),
    ]);
    const sameBefore = t.panel.listUsers().find((user) => user.username === `user_${same!.user.messengerId}`);
    expect(await run(t.app, 'to_panel')).toMatchObject({
      status: 'completed',
      counts: { created: 2, updated: 2, errors: 0, checked: 6 },
    });
    expect(await t.adapter.findByUuid(await uuidOf(other!.id))).toMatchObject({
      trafficLimitBytes: 100 * GB,
      squads: [{ uuid: NETHERLANDS }],
    });
    expect(await t.adapter.findByUuid(await uuidOf(over!.id))).toMatchObject({ status: 'DISABLED' });
    expect(await t.adapter.findByUuid(await uuidOf(lost!.id))).toMatchObject({ status: 'ACTIVE' });
    expect(await t.adapter.findByUuid(await uuidOf(fresh.id))).toMatchObject({ status: 'ACTIVE' });
    expect((await readRow(t.app, never.id)).vpnpanelUuid).toBeNull();
    expect(t.panel.listUsers().find((user) => user.username === `user_${same!.user.messengerId}`)).toEqual(sameBefore);
    t.clock.advance(SECOND_MS);
    const before = await everything(t.app);
    const callsBefore = t.panel.calls().length;
    expect((await run(t.app, 'to_panel')).counts).toMatchObject({ created: 0, updated: 0, errors: 0, checked: 6 });
    expect(
      t.panel
        .calls()
        .slice(callsBefore)
        .every((call) => call.method === 'GET'),
    ).toBe(true);
    expect(await everything(t.app)).toEqual(before);
  });

  it("sends the tariff's reset strategy, not a fixed one", async () => {
    const t = await startEmpty();
    const row = await storeRow(t.app, 'Tariff', {
      name: 'Weekly',
      trafficResetMode: 'WEEK',
      trafficLimitGb: 100,
      deviceLimit: 2,
    });
    const linked = await aSubscription(t.app, { tariffId: row.id });
    await run(t.app, 'to_panel');
    const uuid = (await readRow(t.app, linked.id)).vpnpanelUuid!;
    expect(await t.adapter.findByUuid(uuid)).toMatchObject({ trafficResetStrategy: 'WEEK' });
  });

  it('what could not be sent is queued', async () => {
    const t = await startEmpty();
    const [bad, good] = [await aSubscription(t.app), await aSubscription(t.app)];
    const app = withPort(t.app, {
      ...t.adapter,
      createUser: (draft) =>
        draft.messengerId === bad.user.messengerId
          ? t.adapter.createUser({ ...draft, username: '' })
          : t.adapter.createUser(draft),
    });
    expect((await run(app, 'to_panel')).counts).toMatchObject({ created: 1, errors: 1 });
    expect(await readRow(t.app, bad.id)).toMatchObject({ provisionState: 'pending' });
    expect(await jobsOf(t.app, 'provisioning.push')).toEqual([{ data: { subscriptionId: bad.id } }]);
    expect(await readRow(t.app, good.id)).toMatchObject({ provisionState: 'synced' });
  });

  it('a panel that is down ends the run with nothing sent', async () => {
    const t = await startEmpty();
    await aSubscription(t.app);
    t.panel.faults.set({ status: 500 });
    expect(await run(t.app, 'to_panel')).toMatchObject({ status: 'failed', counts: { created: 0, updated: 0, errors: 1 } });
  });
});

describe('validate', () => {
  it('expires what ended more than five minutes ago, stores missing links and repairs limits, but not with guard W or a running daily tariff', async () => {
    const t = await startEmpty();
    const [linkless, over, justOver, reported] = await inStep(t, 4);
    const daily = await storeRow(t.app, 'Tariff', {
      name: 'Daily',
      isDaily: true,
      dailyPriceKopeks: 500,
      trafficLimitGb: 0,
      deviceLimit: 1,
    });
    const carriedOn = await aSubscription(t.app, { tariffId: daily.id, days: -1 });
    const deviceless = await aSubscription(t.app);
    const listless = await aSubscription(t.app);
    const now = t.clock.now();
    const end = (id: number, timestamp: Date) =>
      t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int', [id, timestamp]);
    const links = await readRow(t.app, linkless!.id);
    await t.app.db.sql('UPDATE subscriptions SET vpnpanel_short_uuid = NULL, subscription_url = NULL WHERE id = $1::int', [
      linkless!.id,
    ]);
    await end(over!.id, addMs(now, -6 * MINUTE_MS));
    await end(justOver!.id, addMs(now, -4 * MINUTE_MS));
    await end(reported!.id, addMs(now, -HOUR_MS));
    await t.app.db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE id = $1::int', [
      reported!.id,
      now,
    ]);
    await t.app.db.sql('UPDATE subscriptions SET device_limit = 0 WHERE id = $1::int', [deviceless.id]);
    await t.app.db.sql("UPDATE subscriptions SET connected_squads = 'null' WHERE id = $1::int", [listless.id]);
    expect(await run(t.app, 'validate')).toMatchObject({
      status: 'completed',
      counts: { checked: 7, issuesFound: 4, fixed: 4, errors: 0 },
    });
    expect(await readRow(t.app, linkless!.id)).toMatchObject({
      vpnpanelShortUuid: links.vpnpanelShortUuid,
      subscriptionUrl: links.subscriptionUrl,
    });
    expect(await readRow(t.app, over!.id)).toMatchObject({ status: 'expired', provisionState: 'pending' });
    for (const { id } of [justOver!, reported!, carriedOn]) expect((await readRow(t.app, id)).status).toBe('active');
    expect(await readRow(t.app, deviceless.id)).toMatchObject({ deviceLimit: 1 });
    expect(await readRow(t.app, listless.id)).toMatchObject({ connectedSquads: [] });
    expect(await recordedEvents(t.app, 'subscription.expired', over!.user.id)).toHaveLength(1);
    expect((await run(t.app, 'validate')).counts).toMatchObject({ checked: 7, issuesFound: 0, fixed: 0 });
  });
});

describe('recommendations', () => {
  it('follow the counted problems', async () => {
    const t = await startEmpty();
    expect(await recommendSync(t.app)).toMatchObject({ shouldSync: false, syncType: 'none', priority: 'low' });
    for (let n = 0; n < 6; n++) await aSubscription(t.app, { days: -1 });
    expect(await recommendSync(t.app)).toMatchObject({ shouldSync: true, syncType: 'update_only', priority: 'medium' });
    for (let n = 0; n < 5; n++) await aSubscription(t.app);
    expect(await recommendSync(t.app)).toMatchObject({ shouldSync: true, syncType: 'all', priority: 'high' });
  });
});

describe('spec 06 section 17, hazard 5: servers on an empty or partial list', () => {
  it('an empty list changes nothing, a partial one takes off sale before anything is deleted', async () => {
    const t = await startEmpty();
    await startServerSync(t.app, actor);
    await aServer(t.app, '5a11ad00-0000-4000-8000-0000000000aa');
    const before = await everything(t.app);
    const empty = withPort(t.app, { ...t.adapter, listInternalSquads: async () => [] });
    await expect(startServerSync(empty, actor)).rejects.toMatchObject({ status: 502, detail: 'Failed to get squads' });
    expect(await everything(t.app)).toEqual(before);
    const first = await startServerSync(t.app, actor);
    expect(first.servers).toEqual({ created: 0, updated: 1, removed: 0, total: 3 });
    const [remaining] = await t.app.db.sql("SELECT is_available FROM server_squads WHERE squad_uuid LIKE '%aa'");
    expect(remaining).toEqual({ isAvailable: false });
  });
});

describe('automatic synchronisation', () => {
  async function startAt(time: string) {
    const t = await startEmpty({ environment: { VPNPANEL_AUTO_SYNC_TIMES: '15:30; 03:00' } });
    const [hours, minutes] = time.split(':').map(Number);
    await switchAutoSync(t.app, editor, true);
    t.clock.set(addMs(addDays(startOfDay(t.clock.now()), 1), hours! * HOUR_MS + minutes! * MINUTE_MS));
    return { ...t, stop: () => resetSetting(t.app, editor, 'VPNPANEL_AUTO_SYNC_ENABLED') };
  }

  it('runs once at each of its times, on whichever instance', async () => {
    const t = await startAt('02:59');
    await watchRuns(t.app);
    expect((await readAutoSync(t.app)).latest).toBeNull();
    expect(await readAutoSync(t.app)).toMatchObject({ isEnabled: true, times: ['03:00', '15:30'] });
    t.clock.advance(2 * MINUTE_MS);
    await watchRuns(t.app);
    const started = (await readAutoSync(t.app)).latest!;
    expect(started).toMatchObject({ kind: 'auto', reason: 'auto' });
    await continueSync(t.app, started.id, { untilMs: performance.now() + 600_000 });
    await watchRuns(t.app);
    await watchRuns(t.app);
    const { latest, nextRun } = await readAutoSync(t.app);
    expect(latest).toMatchObject({ id: started.id, status: 'completed', servers: { created: 3 } });
    expect(nextRun).toEqual(addMs(startOfDay(t.clock.now()), 15.5 * HOUR_MS));
    t.clock.advance(DAY_MS);
    await watchRuns(t.app);
    expect((await readAutoSync(t.app)).latest!.id).toBeGreaterThan(started.id);
    await t.stop();
  });

  it('runs once right after it was switched on, in whichever area', async () => {
    const t = await startEmpty({ environment: { VPNPANEL_AUTO_SYNC_TIMES: '03:00' } });
    t.clock.set(addMs(startOfDay(t.clock.now()), 12 * HOUR_MS));
    await putSetting(t.app, editor, 'VPNPANEL_AUTO_SYNC_ENABLED', 'yes');
    t.clock.advance(MINUTE_MS);
    await watchRuns(t.app);
    const started = (await readAutoSync(t.app)).latest!;
    expect(started).toMatchObject({ kind: 'auto', reason: 'auto' });
    await continueSync(t.app, started.id, { untilMs: performance.now() + 600_000 });
    await putSetting(t.app, editor, 'VPNPANEL_AUTO_SYNC_ENABLED', true);
    await watchRuns(t.app);
    expect((await readAutoSync(t.app)).latest!.id).toBe(started.id);
    await resetSetting(t.app, editor, 'VPNPANEL_AUTO_SYNC_ENABLED');
    await watchRuns(t.app);
    expect((await readAutoSync(t.app)).latest!.id).toBe(started.id);
  });

  it('a time that was missed by more than the limit, and one while it is off, are skipped', async () => {
    const t = await startAt('03:20');
    await watchRuns(t.app);
    expect((await readAutoSync(t.app)).latest).toBeNull();
    await switchAutoSync(t.app, editor, false);
    t.clock.advance(DAY_MS - 19 * MINUTE_MS);
    await watchRuns(t.app);
    expect(await readAutoSync(t.app)).toMatchObject({ isEnabled: false, nextRun: null, latest: null });
    await t.stop();
  });

  it('synchronises users and servers, and answers null while another is under way', async () => {
    const t = await startEmpty();
    await inStep(t, 1);
    expect(await runAutoSyncNow(t.app, actor)).toMatchObject({
      status: 'completed',
      counts: { listed: 1 },
      servers: { total: 3 },
    });
    await storeRow(t.app, 'PanelSyncRun', { kind: 'from_panel', leaseUntil: new Date(Date.now() + 60_000) });
    expect(await runAutoSyncNow(t.app, actor)).toBeNull();
  });
});

describe('a push that is due', () => {
  it('is not overwritten by a synchronisation of statuses', async () => {
    const t = await startEmpty();
    const [linked] = await inStep(t, 1);
    await t.adapter.disableUser((await readRow(t.app, linked!.id)).vpnpanelUuid!);
    await requestProvisioning(t.app, linked!.id);
    expect((await run(t.app, 'statuses')).counts).toMatchObject({ updated: 0, deleted: 0 });
    expect((await readRow(t.app, linked!.id)).status).toBe('active');
  });
});
