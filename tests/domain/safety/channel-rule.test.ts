import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { MessengerError, type MessengerPort, type MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import {
  checkMember,
  forgetRequiredChannels,
  handleChannelsPress,
  receiveChannelUpdate,
  recordMembership,
} from '../../../src/domain/safety/channel-gate.ts';
import { checkChannelMembers } from '../../../src/domain/safety/check-channel-members.ts';
import { applyManualChange } from '../../../src/domain/subscriptions/manual/manual-changes.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

const ADMIN_CHAT = -100777;
const BOT_ID = 1_000_001;
const RULE = {
  CHANNEL_IS_REQUIRED_SUB: 'true',
  ADMIN_NOTIFICATIONS_ENABLED: 'true',
  ADMIN_NOTIFICATIONS_CHAT_ID: String(ADMIN_CHAT),
};
let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: RULE });
});
beforeEach(async () => {
  for (const rows of [
    'required_channels',
    'subscriptions',
    "service_state WHERE key = 'channel_check'",
    "jobs.job WHERE name IN ('messenger.send', 'safety.check-member')",
  ])
    await t.app.db.sql(`DELETE FROM ${rows} RETURNING 1 AS deleted`);
  t.cache.clear();
});

async function aChannel(flags: { trial?: boolean; paid?: boolean } = {}): Promise<string> {
  const channelId = `-100${String(unique()).padStart(10, '2')}`;
  const { trial: disableTrialOnLeave = true, paid: disablePaidOnLeave = false } = flags;
  const shown = { channelLink: 'https://t.me/news', title: 'News', sortOrder: Number(channelId.slice(-6)) };
  await storeRow(t.app, 'RequiredChannel', { channelId, ...shown, disableTrialOnLeave, disablePaidOnLeave });
  await forgetRequiredChannels(t.app);
  return channelId;
}

type Candidate = BuiltUser & { subscriptionId: number };
async function aCandidate(columns: Record<string, unknown> = {}): Promise<Candidate> {
  const user = await aUser(t.app, { language: 'en' });
  return { ...user, subscriptionId: await aStoredSubscription(t.app, user.id, { is_trial: true, ...columns }) };
}
const STATE = 'SELECT status, disabled_reason FROM subscriptions WHERE id = $1::int';
const byRule = { status: 'disabled', disabled_reason: 'channel' };
const setMember = async (...member: [channelId: string, messengerId: number, status: string]) =>
  (await workerSandbox()).servers.messenger.setMembership(...member);
const stateOf = ({ subscriptionId }: Candidate) =>
  rowOf<{ status: string; disabledReason: string | null }>(t.app, STATE, [subscriptionId]);
const messagesTo = (messengerId: number) =>
  t.app.db.sql<{ html: string; buttons: { url?: string; callbackData?: string }[][] | null }>(
    `SELECT data->>'html' AS html, data->'buttons' AS buttons FROM jobs.job
     WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint ORDER BY created_on, ctid`,
    [messengerId],
  );
const pushesOf = ({ subscriptionId }: Candidate) =>
  rowOf<{ version: number }>(t.app, 'SELECT provision_version AS version FROM subscriptions WHERE id = $1::int', [
    subscriptionId,
  ]);
const ACTIVE = { status: 'active', disabledReason: null };
const DISABLED = { status: 'disabled', disabledReason: 'channel' };

/** The app with another answer for memberships. */
function withMembers(getChatMember: MessengerPort['getChatMember'], app: App = t.app): App {
  return { ...app, ports: { ...app.ports, messenger: { ...app.ports.messenger, getChatMember } } };
}
const away = () => Promise.reject(new MessengerError({ kind: 'unavailable' }, 'away'));
async function nextRound(app = t.app): Promise<void> {
  t.clock.advance(HOUR_MS);
  await checkChannelMembers(app);
}

describe('spec 05 section 13, the job', () => {
  test('05 13: disables trials of users who left, once, with reason, push and one message', async () => {
    const channelId = await aChannel();
    const [left, member] = [await aCandidate(), await aCandidate()];
    await setMember(channelId, left.messengerId, 'left');
    await checkChannelMembers(t.app);
    expect([await stateOf(left), await stateOf(member)]).toEqual([DISABLED, ACTIVE]);
    expect([await pushesOf(left), await pushesOf(member)]).toEqual([{ version: 1 }, { version: 0 }]);
    await nextRound();
    const messages = await messagesTo(left.messengerId);
    expect(messages).toHaveLength(1);
    expect(messages[0]!.buttons!.flat()).toMatchObject([{ url: 'https://t.me/news' }, { callbackData: 'channels_check' }]);
    expect(await messagesTo(member.messengerId)).toEqual([]);
  });

  test('05 13: enables a subscription again once its owner has joined every channel', async () => {
    const [first, second] = [await aChannel(), await aChannel()];
    const user = await aCandidate(byRule);
    await setMember(second, user.messengerId, 'left');
    await checkChannelMembers(t.app);
    expect(await stateOf(user)).toEqual(DISABLED);
    await setMember(second, user.messengerId, 'member');
    await nextRound();
    expect(await stateOf(user)).toEqual(ACTIVE);
    expect(await pushesOf(user)).toEqual({ version: 1 });
    expect(await messagesTo(user.messengerId)).toHaveLength(1);
    expect(first).not.toBe(second);
  });

  test.each([
    ['a paid subscription', { is_trial: false }],
    ['a trial past its end', { end_date: new Date(Date.now() - HOUR_MS) }],
    ['a trial that the panel reported a moment ago', 'reported'],
  ])('05 13: the job does not disable %s', async (_name, columns) => {
    const channelId = await aChannel({ paid: true });
    const user = await aCandidate(typeof columns === 'string' ? { last_webhook_update_at: t.clock.now() } : columns);
    await setMember(channelId, user.messengerId, 'left');
    await checkChannelMembers(t.app);
    expect(await stateOf(user)).toEqual(ACTIVE);
  });

  test.each([
    ['an administrator', { status: 'disabled', disabled_reason: 'admin' }],
    ['the panel', { status: 'disabled', disabled_reason: 'panel' }],
    ['the synchronisation', { status: 'disabled', disabled_reason: 'sync' }],
    ['a lack of money', { status: 'disabled', disabled_reason: null }],
    ['the rule, with used up traffic', { ...byRule, traffic_limit_gb: 5, traffic_used_gb: 5 }],
    ['the rule, past its end', { ...byRule, end_date: new Date(Date.now() - HOUR_MS) }],
  ])('05 13: what was disabled by %s is not enabled, neither by the job nor by joining', async (_name, columns) => {
    const channelId = await aChannel();
    const user = await aCandidate(columns);
    await checkChannelMembers(t.app);
    await receiveChannelUpdate(t.app, membership(channelId, user, true));
    await checkMember(t.app, user.messengerId);
    expect((await stateOf(user)).status).toBe('disabled');
  });

  test('05 13: a blocked user is not enabled', async () => {
    await aChannel();
    const user = await aCandidate(byRule);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [user.id]);
    await checkChannelMembers(t.app);
    await checkMember(t.app, user.messengerId);
    expect(await stateOf(user)).toEqual(DISABLED);
  });

  test('05 13: what an administrator disables after the rule stays disabled (spec 05 section 16, invariant 8)', async () => {
    await aChannel();
    const user = await aCandidate(byRule);
    await inTransaction(t.app, (tx) => applyManualChange(tx, user.subscriptionId, { changes: { status: 'disabled' } }));
    await checkChannelMembers(t.app);
    expect(await stateOf(user)).toEqual({ status: 'disabled', disabledReason: 'admin' });
  });

  test('05 13: without required channels what the rule disabled is enabled', async () => {
    const [user, other] = [await aCandidate(byRule), await aCandidate({ ...byRule, is_trial: false })];
    await checkChannelMembers(t.app);
    expect([await stateOf(user), await stateOf(other)]).toEqual([ACTIVE, ACTIVE]);
  });

  test.each([
    ['the rule is off', { CHANNEL_IS_REQUIRED_SUB: 'false' }, ACTIVE],
    ['neither trials nor all are included', { CHANNEL_DISABLE_TRIAL_ON_UNSUBSCRIBE: 'false' }, ACTIVE],
    ['all are included', { CHANNEL_DISABLE_TRIAL_ON_UNSUBSCRIBE: 'false', CHANNEL_REQUIRED_FOR_ALL: 'true' }, DISABLED],
  ])('05 13: settings: %s', async (_name, environment, expected) => {
    const channelId = await aChannel();
    const user = await aCandidate();
    await setMember(channelId, user.messengerId, 'left');
    const other = await testApp({ environment: { ...RULE, ...environment }, clock: t.clock });
    await checkChannelMembers(other.app);
    expect(await stateOf(user)).toEqual(expected);
  });

  test('05 13: a channel whose flag is off disables nobody, nor does any channel a config admin (spec 05 section 16, invariant 8)', async () => {
    const channelId = await aChannel({ trial: false });
    const user = await aCandidate();
    await setMember(channelId, user.messengerId, 'left');
    await checkChannelMembers(t.app);
    expect(await stateOf(user)).toEqual(ACTIVE);
    const strict = await aChannel();
    await setMember(strict, user.messengerId, 'left');
    const asAdmin = await testApp({ environment: { ...RULE, ADMIN_IDS: String(user.messengerId) }, clock: t.clock });
    await nextRound(asAdmin.app);
    expect(await stateOf(user)).toEqual(ACTIVE);
    await nextRound();
    expect(await stateOf(user)).toEqual(DISABLED);
  });

  test('05 13: the messenger is unavailable: nothing changes, and the round goes on when it answers', async () => {
    const channelId = await aChannel();
    const [left, joined] = [await aCandidate(), await aCandidate(byRule)];
    await setMember(channelId, left.messengerId, 'left');
    const { app } = t;
    await checkChannelMembers(withMembers(away));
    const onlyBot = withMembers((chatId, id) => (id === BOT_ID ? app.ports.messenger.getChatMember(chatId, id) : away()));
    await checkChannelMembers(onlyBot);
    const getMe = () => away() as never;
    await checkChannelMembers({ ...app, ports: { ...app.ports, messenger: { ...app.ports.messenger, getMe } } });
    expect([await stateOf(left), await stateOf(joined)]).toEqual([ACTIVE, DISABLED]);
    expect(await messagesTo(ADMIN_CHAT)).toEqual([]);
    await checkChannelMembers(app);
    expect([await stateOf(left), await stateOf(joined)]).toEqual([DISABLED, ACTIVE]);
  });

  test.each(['left', 'member', 'kicked'])(
    '05 13: a bot that is no administrator (%s) is reported once and disables nobody',
    async (status) => {
      const [readable, unreadable] = [await aChannel(), await aChannel()];
      const [user, other, waiting] = [await aCandidate(), await aCandidate(), await aCandidate(byRule)];
      await setMember(unreadable, user.messengerId, 'left');
      await setMember(readable, other.messengerId, 'left');
      await setMember(unreadable, BOT_ID, status);
      await checkChannelMembers(t.app);
      await nextRound();
      expect([await stateOf(user), await stateOf(other), await stateOf(waiting)]).toEqual([ACTIVE, DISABLED, DISABLED]);
      const notices = await messagesTo(ADMIN_CHAT);
      expect(notices).toHaveLength(1);
      expect(notices[0]!.html).toContain(unreadable);
      await setMember(unreadable, BOT_ID, 'administrator');
      await nextRound();
      expect([await stateOf(user), await stateOf(waiting)]).toEqual([DISABLED, ACTIVE]);
    },
  );

  test('05 13: a user whom the messenger does not know is not disabled, and does not stop the round', async () => {
    await aChannel();
    const [unknown, left] = [await aCandidate(), await aCandidate()];
    const { messenger } = t.app.ports;
    const app = withMembers(async (chatId, id) => {
      if (id === unknown.messengerId) throw new MessengerError({ kind: 'chat_not_found' }, 'user not found');
      return id === BOT_ID ? messenger.getChatMember(chatId, id) : { status: 'left', isMember: false };
    });
    await checkChannelMembers(app);
    expect([await stateOf(unknown), await stateOf(left)]).toEqual([ACTIVE, DISABLED]);
  });

  test('05 13: a round ended in the middle goes on after the last page, on another instance, and asks for no member twice', async () => {
    await aChannel();
    const candidates: Candidate[] = [];
    for (let count = 0; count < 108; count++) candidates.push(await aCandidate());
    const asked: number[] = [];
    const stop = new AbortController();
    const { messenger } = t.app.ports;
    const app = withMembers(async (chatId, id) => {
      if (id === BOT_ID) return messenger.getChatMember(chatId, id);
      asked.push(id);
      if (id === candidates[100]!.messengerId) stop.abort();
      return { status: 'left', isMember: false };
    });
    await checkChannelMembers(app, stop.signal);
    expect(asked).toHaveLength(105);
    const state = () =>
      rowOf<{ value: { afterId: number | null } }>(t.app, "SELECT value FROM service_state WHERE key = 'channel_check'");
    expect((await state()).value.afterId).toBe(candidates[99]!.subscriptionId);
    const other = await testApp({ environment: RULE, clock: t.clock });
    await checkChannelMembers(withMembers(app.ports.messenger.getChatMember, other.app));
    expect((await state()).value.afterId).toBe(null);
    const again = asked.slice(105);
    expect(again.filter((id) => candidates.slice(0, 100).some(({ messengerId }) => messengerId === id))).toEqual([]);
    expect(await Promise.all(candidates.map(stateOf))).toEqual(candidates.map(() => DISABLED));
    for (const { messengerId } of candidates) expect(await messagesTo(messengerId)).toHaveLength(1);
  });

  test('05 13: several instances at once disable and notify once', async () => {
    const channelId = await aChannel();
    const users = [await aCandidate(), await aCandidate(), await aCandidate()];
    for (const { messengerId } of users) await setMember(channelId, messengerId, 'left');
    const others = await Promise.all([1, 2].map(() => testApp({ environment: RULE, clock: t.clock })));
    await Promise.all([t, ...others].map(({ app }) => checkChannelMembers(app)));
    for (const user of users) {
      expect(await stateOf(user)).toEqual(DISABLED);
      expect(await pushesOf(user)).toEqual({ version: 1 });
      expect(await messagesTo(user.messengerId)).toHaveLength(1);
    }
  });

  test('05 13: a round is as often as MONITORING_INTERVAL says', async () => {
    const channelId = await aChannel();
    await checkChannelMembers(t.app);
    const user = await aCandidate();
    await setMember(channelId, user.messengerId, 'left');
    t.clock.advance(59 * MINUTE_MS);
    await checkChannelMembers(t.app);
    expect(await stateOf(user)).toEqual(ACTIVE);
    t.clock.advance(MINUTE_MS);
    await checkChannelMembers(t.app);
    expect(await stateOf(user)).toEqual(DISABLED);
  });

  test('05 13: what the messenger reports is stored, also after an answer by a clock that is ahead', async () => {
    const channelId = await aChannel({ paid: true });
    const user = await aCandidate({ is_trial: false });
    const checkedAt = new Date(t.clock.now().getTime() + MINUTE_MS);
    await storeRow(t.app, 'UserChannelSubscription', { messengerId: user.messengerId, channelId, isMember: true, checkedAt });
    await receiveChannelUpdate(t.app, membership(channelId, user, false));
    const sql = 'SELECT is_member FROM user_channel_subscriptions WHERE messenger_id = $1::bigint';
    expect(await rowOf(t.app, sql, [user.messengerId])).toEqual({ isMember: false });
  });

  test('05 13: who joins while the answer of the messenger is under way is not disabled', async () => {
    const channelId = await aChannel();
    const user = await aCandidate();
    const { messenger } = t.app.ports;
    const app = withMembers(async (chatId, id) => {
      if (id === BOT_ID) return messenger.getChatMember(chatId, id);
      t.clock.advance(SECOND_MS);
      await recordMembership(t.app, { messengerId: user.messengerId, channelId, isMember: true });
      return { status: 'left', isMember: false };
    });
    await checkChannelMembers(app);
    expect(await stateOf(user)).toEqual(ACTIVE);
  });
});

const membership = (channelId: string, { messengerId }: BuiltUser, isMember: boolean): MessengerUpdate => ({
  updateId: unique(),
  kind: 'membership',
  chatId: Number(channelId),
  memberMessengerId: messengerId,
  member: { status: isMember ? 'member' : 'left', isMember },
});
const queued = async () => (await t.app.db.sql("SELECT id FROM jobs.job WHERE name = 'safety.check-member'")).length;

describe('spec 05 section 13, what the messenger reports', () => {
  test.each([
    ['a trial', { is_trial: true }, {}, DISABLED],
    ['a trial of a channel without the flag', { is_trial: true }, { trial: false }, ACTIVE],
    ['a paid subscription', { is_trial: false }, {}, ACTIVE],
    ['a paid subscription of a channel with the flag', { is_trial: false }, { paid: true }, DISABLED],
  ])('05 13: leaving disables %s by the flags of the channel', async (_name, columns, flags, expected) => {
    const channelId = await aChannel(flags);
    const user = await aCandidate(columns);
    await receiveChannelUpdate(t.app, membership(channelId, user, false));
    await receiveChannelUpdate(t.app, membership(channelId, user, false));
    expect(await stateOf(user)).toEqual(expected);
    expect(await messagesTo(user.messengerId)).toHaveLength(expected === DISABLED ? 1 : 0);
    expect(await pushesOf(user)).toEqual({ version: expected === DISABLED ? 1 : 0 });
  });

  test('05 13: a config admin, a channel that is not required and a rule that is off disable nothing', async () => {
    const channelId = await aChannel();
    const user = await aCandidate();
    const asAdmin = await testApp({ environment: { ...RULE, ADMIN_IDS: String(user.messengerId) } });
    await receiveChannelUpdate(asAdmin.app, membership(channelId, user, false));
    const off = await testApp({ environment: { ...RULE, CHANNEL_IS_REQUIRED_SUB: 'false' } });
    await receiveChannelUpdate(off.app, membership(channelId, user, false));
    await receiveChannelUpdate(t.app, membership('-1009999999999', user, false));
    expect(await stateOf(user)).toEqual(ACTIVE);
  });

  test('05 13: joining enables when it was the last channel, with the others read from the messenger', async () => {
    const [first, second] = [await aChannel(), await aChannel()];
    const user = await aCandidate(byRule);
    await setMember(second, user.messengerId, 'left');
    await receiveChannelUpdate(t.app, membership(first, user, true));
    expect(await queued()).toBe(1);
    await checkMember(t.app, user.messengerId);
    expect(await stateOf(user)).toEqual(DISABLED);
    await setMember(second, user.messengerId, 'member');
    await receiveChannelUpdate(t.app, membership(second, user, true));
    await expect(checkMember(withMembers(away), user.messengerId)).resolves.toBeUndefined();
    expect(await stateOf(user)).toEqual(ACTIVE);
  });

  test('05 13: while the messenger is away the job of a member who joined is tried again', async () => {
    const [first] = [await aChannel(), await aChannel()];
    const user = await aCandidate(byRule);
    await receiveChannelUpdate(t.app, membership(first, user, true));
    await expect(checkMember(withMembers(away), user.messengerId)).rejects.toThrow(MessengerError);
    expect(await stateOf(user)).toEqual(DISABLED);
  });

  test('05 13: the button reads all channels again, at most once in 5 seconds', async () => {
    const channelId = await aChannel();
    const user = await aCandidate(byRule);
    await setMember(channelId, user.messengerId, 'left');
    const read = vi.fn(t.app.ports.messenger.getChatMember);
    const app = withMembers(read);
    const press = () => handleChannelsPress(app, { queryId: 'q', messengerId: user.messengerId });
    await press();
    await setMember(channelId, user.messengerId, 'member');
    await press();
    expect(read).toHaveBeenCalledTimes(1);
    expect(await stateOf(user)).toEqual(DISABLED);
    expect((await messagesTo(user.messengerId)).map(({ buttons }) => buttons?.length)).toEqual([2]);
    t.clock.advance(5 * SECOND_MS);
    await press();
    expect(await stateOf(user)).toEqual(ACTIVE);
    expect(await messagesTo(user.messengerId)).toHaveLength(2);
  });
});
