/** What events of the panel change in a subscription (spec 06 section 12; spec 08 section 1). */

import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, HOUR_MS, SECOND_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { refreshSubscription } from '../../../src/domain/panel-events/process-event.ts';
import { isSuperseded } from '../../../src/domain/panel-events/repo.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { aUser } from '../../support/builders.ts';
import {
  aProvisioned,
  deliver,
  eventRows,
  PANEL_WEBHOOK_ON,
  type Provisioned,
  panelBody,
  processWaiting,
  userData,
} from '../../support/panel-events.ts';
import {
  GB,
  GERMANY,
  jobsOf,
  NETHERLANDS,
  type ProvisioningTest,
  type ProvisionRow,
  readRow,
  withPanel,
} from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { push, run, startEmpty } from '../provisioning/panel-sync/setup.ts';

type Row = ProvisionRow & { lastWebhookUpdateAt: Date | null; trafficLimitGb: number; trafficUsedGb: number };
const stateOf = async (app: App, id: number) => (await readRow(app, id)) as Row;
const start = () => withPanel({ environment: PANEL_WEBHOOK_ON });

/** Sends an event about this panel user, as of now. */
const report = (t: ProvisioningTest, event: string, { panelUser }: Provisioned, changes: object = {}, at = t.clock.now()) =>
  deliver(t.app, panelBody(event, at, userData(panelUser, changes)));

async function setStatus(app: App, id: number, status: string): Promise<void> {
  await app.db.sql('UPDATE subscriptions SET status = $2 WHERE id = $1::int RETURNING id', [id, status]);
}

async function makeDaily(app: App, id: number, isPaused: boolean): Promise<void> {
  const tariff = await storeRow(app, 'Tariff', {
    name: `daily ${id}`,
    isDaily: true,
    dailyPriceKopeks: 100,
    updatedAt: new Date(),
  });
  await app.db.sql(
    'UPDATE subscriptions SET tariff_id = $2::int, is_daily_paused = $3::boolean WHERE id = $1::int RETURNING id',
    [id, tariff.id, isPaused],
  );
}

describe('06 12: effects on the status', () => {
  const past = { status: 'EXPIRED', expireAt: new Date(Date.now() - HOUR_MS).toISOString() };
  it.each([
    ['user.expired', 'active', past, 'expired'],
    ['user.expired', 'trial', past, 'expired'],
    ['user.expired', 'limited', past, 'expired'],
    ['user.expired', 'disabled', past, 'disabled'],
    ['user.disabled', 'active', { status: 'DISABLED' }, 'disabled'],
    ['user.disabled', 'limited', { status: 'DISABLED' }, 'disabled'],
    ['user.disabled', 'expired', { status: 'DISABLED' }, 'expired'],
    ['user.enabled', 'disabled', { status: 'ACTIVE' }, 'active'],
    ['user.enabled', 'limited', { status: 'ACTIVE' }, 'active'],
    ['user.limited', 'active', { status: 'LIMITED' }, 'limited'],
    ['user.limited', 'trial', { status: 'LIMITED' }, 'limited'],
    ['user.limited', 'disabled', { status: 'LIMITED' }, 'disabled'],
    ['user.traffic_reset', 'limited', { status: 'ACTIVE' }, 'active'],
    ['user.traffic_reset', 'disabled', { status: 'ACTIVE' }, 'active'],
    ['user.traffic_reset', 'disabled', { status: 'DISABLED' }, 'disabled'],
    ['user.modified', 'active', { status: 'DISABLED' }, 'disabled'],
    ['user.modified', 'disabled', { status: 'ACTIVE' }, 'active'],
    ['user.modified', 'pending', { status: 'ACTIVE' }, 'pending'],
    ['user.enabled', 'pending', { status: 'ACTIVE' }, 'pending'],
  ])('%s: %s with %o becomes %s', async (event, status, changes, wanted) => {
    const t = await start();
    const sub = await aProvisioned(t);
    await setStatus(t.app, sub.id, status);
    await report(t, event, sub, changes);
    const row = await stateOf(t.app, sub.id);
    expect(row.status).toBe(wanted);
    expect(row.lastWebhookUpdateAt).toEqual(wanted === status ? null : t.clock.now());
  });

  it('the same without any state in the body: the name of the event is enough', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await deliver(t.app, panelBody('user.limited', t.clock.now(), { telegramId: sub.user.messengerId }));
    expect(await stateOf(t.app, sub.id)).toMatchObject({ status: 'limited', trafficLimitGb: 100 });
  });

  it.each([
    ['user.expired', past, false, 'active'],
    ['user.disabled', { status: 'DISABLED' }, false, 'active'],
    ['user.modified', { status: 'DISABLED' }, false, 'active'],
    ['user.disabled', { status: 'DISABLED' }, true, 'disabled'],
  ])('%s of a daily plan with %o, paused %s: %s', async (event, changes, isPaused, wanted) => {
    const t = await start();
    const sub = await aProvisioned(t);
    await makeDaily(t.app, sub.id, isPaused);
    await report(t, event, sub, changes);
    expect((await stateOf(t.app, sub.id)).status).toBe(wanted);
  });

  it('access that nobody paid for is not made: the panel gets the row again', async () => {
    const t = await start();
    const [daily, blocked] = [await aProvisioned(t), await aProvisioned(t)];
    await makeDaily(t.app, daily.id, false);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [blocked.user.id]);
    for (const sub of [daily, blocked]) {
      await setStatus(t.app, sub.id, 'disabled');
      expect(await report(t, 'user.enabled', sub, { status: 'ACTIVE' })).toEqual(['pushed_again']);
      expect(await stateOf(t.app, sub.id)).toMatchObject({ status: 'disabled', provisionState: 'pending' });
    }
    const unsubscribed = await aUser(t.app);
    const body = panelBody(
      'user.enabled',
      t.clock.now(),
      userData(daily.panelUser, { id: 99, uuid: undefined, telegramId: unsubscribed.messengerId, shortUuid: 'other' }),
    );
    expect(await deliver(t.app, body)).toEqual(['no_subscription']);
  });
});

describe('06 12: values', () => {
  it('user.modified copies limit, usage and end in both directions, never squads and devices', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    for (const days of [90, 5]) {
      const expireAt = addDays(t.clock.now(), days);
      const changes = { expireAt: expireAt.toISOString(), trafficLimitBytes: 50 * GB, userTraffic: { usedTrafficBytes: 2 * GB } };
      await report(t, 'user.modified', sub, {
        ...changes,
        hwidDeviceLimit: 77,
        activeInternalSquads: [{ uuid: GERMANY, name: 'Germany' }],
      });
      expect(await stateOf(t.app, sub.id)).toMatchObject({
        endDate: expireAt,
        trafficLimitGb: 50,
        trafficUsedGb: 2,
        deviceLimit: 2,
        connectedSquads: [NETHERLANDS],
        status: 'active',
      });
      t.clock.advance(SECOND_MS);
    }
  });

  it('the end of a panel user that a push disabled is not an extension', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const { endDate } = await stateOf(t.app, sub.id);
    await report(t, 'user.modified', sub, { status: 'DISABLED', expireAt: addDays(t.clock.now(), 300).toISOString() });
    expect(await stateOf(t.app, sub.id)).toMatchObject({ status: 'disabled', endDate });
  });

  it('user.traffic_reset sets the usage to zero', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await t.app.db.sql('UPDATE subscriptions SET traffic_used_gb = 40 WHERE id = $1::int RETURNING id', [sub.id]);
    await report(t, 'user.traffic_reset', sub);
    expect((await stateOf(t.app, sub.id)).trafficUsedGb).toBe(0);
  });

  it('user_hwid_devices.*: the empty squads of its user change nothing', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const before = await stateOf(t.app, sub.id);
    const user = userData(sub.panelUser, { activeInternalSquads: [], status: 'DISABLED' });
    for (const event of ['user_hwid_devices.added', 'user_hwid_devices.deleted']) {
      await deliver(t.app, panelBody(event, t.clock.now(), { hwidUserDevice: { hwid: 'h', platform: 'iOS' }, user }));
    }
    expect(await stateOf(t.app, sub.id)).toEqual(before);
  });

  it('a new link is read from the panel, since events are stored without it', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await t.app.db.sql(
      "UPDATE subscriptions SET subscription_url = 'https://old.example.com/x' WHERE id = $1::int RETURNING id",
      [sub.id],
    );
    expect(await report(t, 'user.revoked', sub)).toEqual(['read_again']);
    expect(await jobsOf(t.app, 'panel.refresh-user')).toContainEqual({ data: { userId: sub.user.id } });
    await refreshSubscription(t.app, { userId: sub.user.id });
    expect((await stateOf(t.app, sub.id)).subscriptionUrl).toBe(sub.panelUser.subscriptionUrl);
  });
});

it('spec 10 V5: a link that changes within a minute of a push is read at once, although a later reading waits', async () => {
  const t = await start();
  const sub = await aProvisioned(t);
  await push(t.app, sub.id);
  const readingsOf = async () => {
    const jobs = await t.app.db.sql<{ isDue: boolean }>(
      `SELECT start_after <= created_on AS is_due FROM jobs.job
       WHERE name = 'panel.refresh-user' AND state = 'created' AND data->>'userId' = $1 ORDER BY start_after DESC`,
      [String(sub.user.id)],
    );
    return jobs.map(({ isDue }) => isDue);
  };
  // An end that differs, reported right after the push, is read again when the minute is over.
  t.clock.advance(SECOND_MS);
  await report(t, 'user.modified', sub, { expireAt: addDays(t.clock.now(), 3).toISOString() });
  expect(await readingsOf()).toEqual([false]);
  const revoked = (await t.adapter.revokeUser(sub.panelUser.uuid))!;
  expect(revoked.subscriptionUrl).not.toBe(sub.panelUser.subscriptionUrl);
  await report(t, 'user.revoked', { ...sub, panelUser: revoked });
  expect(await readingsOf()).toEqual([false, true]);
  await refreshSubscription(t.app, { userId: sub.user.id });
  expect(await stateOf(t.app, sub.id)).toMatchObject({ subscriptionUrl: revoked.subscriptionUrl });
});

describe('08 1: our own changes come back', () => {
  it('push, echo: no call to the panel, no job, no change', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await t.app.db.sql(
      "UPDATE subscriptions SET traffic_limit_gb = 200, end_date = end_date + interval '30 days' WHERE id = $1::int RETURNING id",
      [sub.id],
    );
    await push(t.app, sub.id);
    const echoed = (await t.adapter.findByUuid(sub.panelUser.uuid))!;
    await t.app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'p%'");
    const [before, calls] = [await stateOf(t.app, sub.id), t.panel.calls().length];
    for (const event of ['user.modified', 'user.enabled', 'user.traffic_reset']) {
      for (const late of [0, 5]) {
        await report(t, event, { ...sub, panelUser: echoed }, {}, new Date(t.clock.now().getTime() + late * SECOND_MS));
      }
    }
    expect(await stateOf(t.app, sub.id)).toEqual(before);
    expect(t.panel.calls()).toHaveLength(calls);
    const jobs = await t.app.db.sql<{ name: string }>("SELECT DISTINCT name FROM jobs.job WHERE name LIKE 'p%' ORDER BY name");
    expect(jobs.map(({ name }) => name)).toEqual(['panel.process-event']);
  });

  it('so does the echo of a push that disabled, and of an older one while a newer waits', async () => {
    const t = await start();
    const live = await aProvisioned(t);
    const old = userData(live.panelUser);
    await t.app.db.sql(
      "UPDATE subscriptions SET status = 'expired', end_date = $2::timestamptz WHERE id = $1::int RETURNING id",
      [live.id, t.clock.now()],
    );
    await inTransaction(t.app, (tx) => requestProvisioning(tx, live.id));
    expect(await deliver(t.app, panelBody('user.modified', t.clock.now(), old))).toEqual(['older_than_push']);
    await pushSubscription(t.app, live.id);
    const disabled = (await t.adapter.findByUuid(live.panelUser.uuid))!;
    expect(disabled.status).toBe('DISABLED');
    t.clock.advance(SECOND_MS);
    const before = await stateOf(t.app, live.id);
    expect(await report(t, 'user.modified', { ...live, panelUser: disabled })).toEqual(['in_step']);
    expect(await report(t, 'user.disabled', { ...live, panelUser: disabled })).toEqual(['in_step']);
    expect(await stateOf(t.app, live.id)).toEqual(before);
  });
});

describe('06 section 17, hazards 7 and 9: duplicates, order and loss', () => {
  it('a renewal is not undone by an event that happened before its push', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const before = t.clock.now();
    t.clock.advance(10 * SECOND_MS);
    await push(t.app, sub.id);
    t.clock.advance(SECOND_MS);
    const row = await stateOf(t.app, sub.id);
    expect(await report(t, 'user.expired', sub, { status: 'EXPIRED', expireAt: before.toISOString() }, before)).toEqual([
      'older_than_push',
    ]);
    expect(await stateOf(t.app, sub.id)).toEqual(row);
    await refreshSubscription(t.app, { userId: sub.user.id });
    expect(await stateOf(t.app, sub.id)).toEqual(row);
  });

  it('events in the wrong order: the last that happened decides', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const [first, second] = [t.clock.now(), new Date(t.clock.now().getTime() + SECOND_MS)];
    t.clock.advance(5 * SECOND_MS);
    expect(await report(t, 'user.limited', sub, { status: 'LIMITED' }, second)).toEqual(['applied']);
    expect(await report(t, 'user.modified', sub, { status: 'ACTIVE' }, first)).toEqual(['superseded']);
    expect((await stateOf(t.app, sub.id)).status).toBe('limited');
  });

  it('spec 10 G7: an event is superseded by a later one only when that has been processed', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const [first, second] = [t.clock.now(), new Date(t.clock.now().getTime() + SECOND_MS)];
    t.clock.advance(5 * SECOND_MS);
    await report(t, 'user.limited', sub, { status: 'LIMITED' }, second);
    const older = { id: 0, userId: sub.user.id, happenedAt: first } as Parameters<typeof isSuperseded>[1];
    expect(await isSuperseded(t.app.db, older)).toBe(true);
    await t.app.db.sql('UPDATE panel_events SET processed_at = NULL WHERE user_id = $1::int RETURNING id', [sub.user.id]);
    expect(await isSuperseded(t.app.db, older)).toBe(false);
    await t.app.db.sql('DELETE FROM panel_events WHERE user_id = $1::int RETURNING id', [sub.user.id]);
  });

  it('a body that arrives and is processed twice has one effect', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const body = panelBody('user.limited', t.clock.now(), userData(sub.panelUser, { status: 'LIMITED' }));
    const rows = (await eventRows(t.app)).length;
    expect([await deliver(t.app, body), await deliver(t.app, body)]).toEqual([['applied'], []]);
    expect(await eventRows(t.app)).toHaveLength(rows + 1);
  });

  it('after an hour without events one synchronisation makes the state that of the panel', async () => {
    const t = await startEmpty({ environment: PANEL_WEBHOOK_ON });
    const made = [await aProvisioned(t), await aProvisioned(t), await aProvisioned(t)];
    const [limited, disabled, extended] = made as [Provisioned, Provisioned, Provisioned];
    t.panel.addTraffic(limited.panelUser.uuid, 100 * GB);
    await t.adapter.disableUser(disabled.panelUser.uuid);
    const expireAt = addDays(t.clock.now(), 77);
    await t.adapter.updateUser({ uuid: extended.panelUser.uuid, expireAt });
    // A wrong, late event on top of the lost ones.
    await report(t, 'user.limited', extended, { status: 'LIMITED' });
    t.clock.advance(HOUR_MS);
    await run(t.app, 'from_panel', 'update_only');
    const states = await Promise.all(made.map(({ id }) => stateOf(t.app, id)));
    expect(states.map(({ status }) => status)).toEqual(['limited', 'disabled', 'active']);
    expect(states[2]!.endDate).toEqual(expireAt);
    expect(states[0]!.trafficUsedGb).toBe(100);
  });

  it('in doubt the panel is read: right after a push both timestamps are of different clocks', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await push(t.app, sub.id);
    t.clock.advance(SECOND_MS);
    expect(await report(t, 'user.limited', sub, { status: 'LIMITED' })).toEqual(['applied']);
    expect(await jobsOf(t.app, 'panel.refresh-user')).toContainEqual({ data: { userId: sub.user.id } });
    t.clock.advance(65 * SECOND_MS);
    await refreshSubscription(t.app, { userId: sub.user.id });
    expect((await stateOf(t.app, sub.id)).status).toBe('active');
  });
});

describe('user.deleted', () => {
  it('with paid time left: made again by a push, at most once in 120 s', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    for (const round of [1, 2]) {
      const { vpnpanelUuid } = await stateOf(t.app, sub.id);
      const present = (await t.adapter.findByUuid(vpnpanelUuid!))!;
      await t.adapter.deleteUser(vpnpanelUuid!);
      expect(await report(t, 'user.deleted', { ...sub, panelUser: present })).toEqual(round === 1 ? ['recreated'] : []);
      if (round === 2) {
        t.clock.advance(121 * SECOND_MS);
        expect(await processWaiting(t.app)).toEqual(['recreated']);
      }
      expect(await pushSubscription(t.app, sub.id)).toBe('synced');
      const row = await stateOf(t.app, sub.id);
      expect(row.vpnpanelUuid).not.toBe(vpnpanelUuid);
      expect(row.status).toBe('active');
      expect((await t.adapter.findByUuid(row.vpnpanelUuid!))!.status).toBe('ACTIVE');
      t.clock.advance(10 * SECOND_MS);
    }
  });

  it('without: expired and unlinked, once, and nothing is made', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int RETURNING id', [
      sub.id,
      addDays(t.clock.now(), -1),
    ]);
    await t.adapter.deleteUser(sub.panelUser.uuid);
    expect(await report(t, 'user.deleted', sub)).toEqual(['applied']);
    expect(await stateOf(t.app, sub.id)).toMatchObject({
      status: 'expired',
      vpnpanelUuid: null,
      subscriptionUrl: null,
      vpnpanelShortUuid: null,
    });
    expect((await stateOf(t.app, sub.id)).provisionState).toBe('synced');
  });

  it('of another panel user of the same person changes nothing', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const before = await stateOf(t.app, sub.id);
    const other = {
      uuid: '11111111-2222-4333-8444-555555555555',
      shortUuid: 'another-one',
      subscriptionUrl: 'https://x.example.com/y',
    };
    expect(await report(t, 'user.deleted', sub, other)).toEqual(['unknown_user']);
    expect(await stateOf(t.app, sub.id)).toEqual(before);
  });
});
