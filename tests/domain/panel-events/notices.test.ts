/** Notices of what the panel reports, to users and administrators (spec 06 section 12; spec 05 section 9.3). */

import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { ADMIN_EVENTS, NOTICE_SETTINGS, STATE_NOTICES, USER_NOTICES } from '../../../src/domain/panel-events/event-effects.ts';
import { aProvisioned, deliver, PANEL_WEBHOOK_ON, type Provisioned, panelBody, userData } from '../../support/panel-events.ts';
import { jobsOf, type ProvisioningTest, withPanel } from '../../support/provisioning-setup.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { storeRow } from '../../support/stored-rows.ts';

const CHAT = -1001234567890;
const ADMIN_CHAT = {
  ADMIN_NOTIFICATIONS_ENABLED: 'true',
  ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
  ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID: '7',
  DEFAULT_LANGUAGE: 'en',
};

const start = (environment: Record<string, string> = {}) => withPanel({ environment: { ...PANEL_WEBHOOK_ON, ...environment } });

interface Sent {
  messengerId: number;
  html: string;
  threadId?: number;
  buttons?: unknown;
}
const sentTo = async (app: App, messengerId: number): Promise<Sent[]> =>
  (await jobsOf(app, 'messenger.send')).map(({ data }) => data as Sent).filter((sent) => sent.messengerId === messengerId);

beforeEach(async () => {
  const t = await start();
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send'");
});

/** A body of each event with a notice to the user, which changes something where that is the condition. */
function bodyOf(t: ProvisioningTest, event: string, { panelUser }: Provisioned): string {
  const [now, past] = [t.clock.now(), new Date(t.clock.now().getTime() - HOUR_MS).toISOString()];
  const state: Record<string, object> = {
    'user.expired': { status: 'EXPIRED', expireAt: past },
    'user.disabled': { status: 'DISABLED' },
    'user.enabled': { status: 'ACTIVE' },
    'user.limited': { status: 'LIMITED' },
    'user.revoked': { shortUuid: 'a-new-short-uuid' },
  };
  const user = userData(panelUser, { ...state[event], lastTriggeredThreshold: 95.7 });
  const hwidUserDevice = { hwid: 'abcdefghijklmnop', platform: 'iOS', deviceModel: 'Phone <15>' };
  const data = event.startsWith('user_hwid') ? { hwidUserDevice, user } : user;
  return panelBody(event, now, data, { notConnectedAfterHours: 12, expiration: 24 });
}

async function prepare(t: ProvisioningTest, event: string, sub: Provisioned): Promise<void> {
  const status = event === 'user.enabled' ? 'disabled' : 'active';
  const end = event === 'user.deleted' ? "now() - interval '1 day'" : 'end_date';
  const sql = `UPDATE subscriptions SET status = $2, traffic_used_gb = 30, end_date = ${end} WHERE id = $1::int RETURNING id`;
  await t.app.db.sql(sql, [sub.id, status]);
}

const ALL = Object.entries({ ...STATE_NOTICES, ...USER_NOTICES });

describe('06 12: notices to users', () => {
  it.each(ALL)('%s is the notice %s, switched by its setting and by the common one', async (event, type) => {
    const settings = ['', NOTICE_SETTINGS[type], 'WEBHOOK_NOTIFY_USER_ENABLED', 'ENABLE_NOTIFICATIONS'];
    for (const setting of settings) {
      const t = await start(setting === '' ? {} : { [setting]: 'false' });
      const sub = await aProvisioned(t);
      await prepare(t, event, sub);
      await deliver(t.app, bodyOf(t, event, sub));
      const sent = await sentTo(t.app, sub.user.messengerId);
      expect(sent, setting).toHaveLength(setting === '' ? 1 : 0);
      for (const { html, buttons } of sent) {
        expect(html).toMatch(/[a-z]{4}/);
        expect(html).not.toMatch(/[а-яё{}]|undefined|NaN/i);
        expect(JSON.stringify(buttons)).toContain('https://cabinet.example.com');
      }
    }
  });

  it('values: percent in whole digits, hours, the name of the device escaped', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const events = ['user.bandwidth_usage_threshold_reached', 'user.not_connected', 'user.expiration', 'user_hwid_devices.added'];
    for (const event of events) await deliver(t.app, bodyOf(t, event, sub));
    const texts = (await sentTo(t.app, sub.user.messengerId)).map(({ html }) => html);
    expect(texts).toEqual([
      expect.stringContaining('95%'),
      expect.stringContaining('12'),
      expect.stringContaining('24'),
      expect.stringContaining('Phone &lt;15&gt; (iOS)'),
    ]);
  });

  it.each([
    [{}, 1],
    [{ traffic_warning_percent: 95 }, 1],
    [{ traffic_warning_percent: 96 }, 0],
    [{ traffic_warning_enabled: false }, 0],
    [{ subscription_expiry_enabled: false }, 1],
  ])('spec 05 section 9.1: a warning of 95 %% with the own settings %j is sent %i times', async (settings, times) => {
    const t = await start();
    const sub = await aProvisioned(t);
    await t.app.db.sql('UPDATE users SET notification_settings = $2::jsonb WHERE id = $1::int RETURNING id', [
      sub.user.id,
      JSON.stringify(settings),
    ]);
    await deliver(t.app, bodyOf(t, 'user.bandwidth_usage_threshold_reached', sub));
    expect(await sentTo(t.app, sub.user.messengerId)).toHaveLength(times);
  });

  it('in the language of the user, but none to blocked users', async () => {
    const t = await start();
    const [russian, blocked] = [await aProvisioned(t), await aProvisioned(t)];
    await t.app.db.sql("UPDATE users SET language = 'ru' WHERE id = $1::int RETURNING id", [russian.user.id]);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [blocked.user.id]);
    for (const sub of [russian, blocked]) await deliver(t.app, bodyOf(t, 'user.first_connected', sub));
    expect((await sentTo(t.app, russian.user.messengerId))[0]!.html).toMatch(/[а-яё]{4}/);
    expect(await sentTo(t.app, blocked.user.messengerId)).toEqual([]);
  });

  it('what changed nothing is not announced again: the expiry that our own job has announced', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    await t.app.db.sql(
      "UPDATE subscriptions SET status = 'expired', end_date = now() - interval '1 hour' WHERE id = $1::int RETURNING id",
      [sub.id],
    );
    await deliver(t.app, bodyOf(t, 'user.expired', sub));
    expect(await sentTo(t.app, sub.user.messengerId)).toEqual([]);
  });

  it('without a messenger: on the sockets, and by mail only from an administrators’ template', async () => {
    const t = await start();
    const sub = await aProvisioned(t);
    const email = `hooks-${sub.id}-${process.pid}@example.com`;
    await t.app.db.sql(
      'UPDATE users SET messenger_id = NULL, email = $2, email_verified = true WHERE id = $1::int RETURNING id',
      [sub.user.id, email],
    );
    const body = (event: string) =>
      panelBody(event, t.clock.now(), userData(sub.panelUser, { telegramId: null, lastTriggeredThreshold: 90 }));
    const mails = () =>
      t.app.db.sql<{ subject: string; template: string }>('SELECT subject, template FROM outgoing_mails WHERE recipient = $1', [
        email,
      ]);
    await deliver(t.app, body('user.first_connected'));
    expect(await mails()).toEqual([]);
    await storeRow(t.app, 'EmailTemplate', {
      notificationType: 'webhook_sub_bandwidth_threshold',
      language: 'en',
      subject: 'Used {percent}',
      bodyHtml: '<p>{percent}</p>',
      isActive: true,
      updatedAt: new Date(),
    });
    await deliver(t.app, body('user.bandwidth_usage_threshold_reached'));
    expect(await mails()).toEqual([{ subject: 'Used 90', template: 'webhook_sub_bandwidth_threshold' }]);
    expect(await recordedEventsOf(t.app, sub.user.id, { prefix: 'notification.webhook' })).toMatchObject([
      { type: 'notification.webhook_sub_first_connected', audience: 'user' },
      { type: 'notification.webhook_sub_bandwidth_threshold', audience: 'user' },
    ]);
  });
});

describe('06 12: notices to administrators', () => {
  const data = {
    name: '<b>node</b>',
    nodeName: 'billed',
    providerName: 'Host & Co',
    nextBillingAt: '2026-12-24T00:00:00.000Z',
    panelVersion: '3.3.2',
    description: '<i>limit</i>',
    loginAttempt: { username: 'root', ip: '203.0.113.7', password: 'p' },
  };

  it.each(ADMIN_EVENTS)('%s', async (event) => {
    const t = await start(ADMIN_CHAT);
    expect(await deliver(t.app, panelBody(event, t.clock.now(), { ...data, case: event }))).toEqual(['notified']);
    const [sent] = await sentTo(t.app, CHAT);
    expect(sent).toMatchObject({ messengerId: CHAT, threadId: 7 });
    expect(sent!.html).not.toMatch(/[{}]|—|<b>node|<i>limit|undefined/);
  });

  it('none while administrators’ notices are off, nor about connections while their setting is off', async () => {
    const off = await start();
    expect(await deliver(off.app, panelBody('node.created', off.clock.now(), data))).toEqual(['switched_off']);
    const t = await start({ ...ADMIN_CHAT, VPNPANEL_WEBHOOK_NOTIFY_NODE_CONNECTION_STATUS: 'false' });
    for (const event of ['node.connection_lost', 'node.connection_restored'])
      expect(await deliver(t.app, panelBody(event, t.clock.now(), data))).toEqual(['switched_off']);
    expect(await deliver(t.app, panelBody('node.disabled', t.clock.now(), data))).toEqual(['notified']);
    expect(await sentTo(t.app, CHAT)).toHaveLength(1);
  });
});
