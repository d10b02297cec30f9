import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';
import { refusal } from '../../core/errors.ts';
import { isConfigAdmin } from '../access/read-effective-access.ts';
import type { SessionUser } from '../identity/types.ts';
import { text } from '../messaging/texts.ts';
import { findMembership, listRequiredChannels, type RequiredChannel, saveMembership } from './channel-repo.ts';
import { readMembership } from './membership-reader.ts';

export const channelSubscriptionRequired = refusal('channel_subscription_required', 403, {
  code: 'channel_subscription_required',
  message: 'Чтобы продолжить, подпишитесь на обязательные каналы.',
  channels: [
    {
      channel_id: '<n>',
      channel_link: 'https://t.me/news',
      title: 'News',
      is_subscribed: false,
      disable_trial_on_leave: true,
      disable_paid_on_leave: false,
    },
  ],
});

const CHANNELS_KEY = 'required-channels';
const CHANNELS_TRUST_MS = MINUTE_MS;
/** Membership is read from the cache for 10 minutes and from its row for 30. */
const CACHE_TRUST_MS = 10 * MINUTE_MS;
export const ROW_TRUST_MS = 30 * MINUTE_MS;
/** "Not joined" is used for a shorter time, since the user joins and tries again. */
const ABSENT_TRUST_MS = MINUTE_MS;
/** After a request that the messenger did not answer. */
const FAILURE_TRUST_MS = 10 * SECOND_MS;

const membershipKey = (messengerId: number, channelId: string) => `joined:${messengerId}:${channelId}`;

/**
 * Row 9 of the cabinet gate: with `CHANNEL_IS_REQUIRED_SUB` on, users of the messenger must have joined every active channel. An
 * unknown membership counts as not joined (spec 05 section 13). Calls the messenger, so never in a transaction.
 * @throws AppError 403 {code: 'channel_subscription_required', message, channels}
 */
export function assertChannelsJoined(app: App, user: SessionUser): Promise<void> | undefined {
  if (user.messengerId === null || !app.settings.get('CHANNEL_IS_REQUIRED_SUB') || isConfigAdmin(app, user)) return undefined;
  return assertAllJoined(app, user.messengerId, user.language);
}

async function assertAllJoined(app: App, messengerId: number, language: string): Promise<void> {
  refuseInsideTransaction('assertChannelsJoined');
  const channels = await requiredChannels(app);
  if (channels.length === 0) return;
  const joined = await Promise.all(channels.map((channel) => hasJoined(app, messengerId, channel.channelId)));
  if (!joined.includes(false)) return;
  throw channelSubscriptionRequired({
    detail: {
      code: 'channel_subscription_required',
      message: text(language, 'errors.channels_required'),
      channels: channels.map((channel, index) => toDetail(channel, joined[index]!)),
    },
  });
}

/** Active channels, as the gate sees them. */
export function requiredChannels(app: App): Promise<RequiredChannel[]> {
  return app.cache.read(CHANNELS_KEY, CHANNELS_TRUST_MS, () => listRequiredChannels(app.db));
}

/** Call where the list of channels changes, in the same transaction. */
export async function forgetRequiredChannels(t: App): Promise<void> {
  await t.cache.forget(t, [CHANNELS_KEY]);
}

/**
 * Records that the messenger reported a user joining or leaving a required channel. In the caller's transaction; with the commit it
 * takes effect on every instance.
 */
export async function recordMembership(
  t: App,
  seen: { messengerId: number; channelId: string; isMember: boolean },
): Promise<void> {
  await saveMembership(t.db, { ...seen, at: t.clock.now(), isReport: true });
  await t.cache.forget(t, [membershipKey(seen.messengerId, seen.channelId)]);
}

/** Reads all memberships from the messenger, for the re-check button. @returns has joined every active channel. */
export async function recheckChannels(app: App, messengerId: number): Promise<boolean> {
  refuseInsideTransaction('recheckChannels');
  const channels = await listRequiredChannels(app.db);
  const states = await Promise.all(channels.map(({ channelId }) => readMembership(app, messengerId, channelId)));
  await app.cache.forget(
    app,
    channels.map(({ channelId }) => membershipKey(messengerId, channelId)),
  );
  return states.every((reading) => 'member' in reading && reading.member.isMember);
}

async function hasJoined(app: App, messengerId: number, channelId: string): Promise<boolean> {
  const key = membershipKey(messengerId, channelId);
  const now = app.clock.now().getTime();
  const state = await app.cache.read(key, CACHE_TRUST_MS, () => lookUp(app, messengerId, channelId));
  if (state.isMember || now < state.validUntil) return state.isMember;
  await app.cache.forget(app, [key]);
  return (await app.cache.read(key, CACHE_TRUST_MS, () => lookUp(app, messengerId, channelId))).isMember;
}

interface SeenMembership {
  isMember: boolean;
  /** Service time in ms; used while not a member. */
  validUntil: number;
}

async function lookUp(app: App, messengerId: number, channelId: string): Promise<SeenMembership> {
  const now = app.clock.now().getTime();
  const row = await findMembership(app.db, messengerId, channelId);
  const trust = row?.isMember ? ROW_TRUST_MS : ABSENT_TRUST_MS;
  if (row && now - row.checkedAt.getTime() < trust)
    return { isMember: row.isMember, validUntil: row.checkedAt.getTime() + trust };
  const reading = await readMembership(app, messengerId, channelId);
  if ('failure' in reading) return { isMember: false, validUntil: now + FAILURE_TRUST_MS };
  return { isMember: reading.member.isMember, validUntil: now + ABSENT_TRUST_MS };
}

/** A channel in the detail of the refusal, with the field names of the contract. */
function toDetail(channel: RequiredChannel, isSubscribed: boolean) {
  return {
    channel_id: channel.channelId,
    channel_link: channel.channelLink,
    title: channel.title,
    is_subscribed: isSubscribed,
    disable_trial_on_leave: channel.disableTrialOnLeave,
    disable_paid_on_leave: channel.disablePaidOnLeave,
  };
}
