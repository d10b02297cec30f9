import { setTimeout as delay } from 'node:timers/promises';
import { bulkhead } from 'cockatiel';
import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { putIfAbsent } from '../../core/short-lived.ts';
import { isConfigAdmin } from '../access/effective-access.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import type { SessionUser } from '../identity/types.ts';
import { type ChatMember, MessengerError, type MessengerFailure, type MessengerUpdate } from '../messaging/ports.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import {
  disableForChannel,
  enableAfterJoining,
  isDisabledByChannelRule,
  type Keyboard,
} from '../subscriptions/channel-rule/apply-rule.ts';
import { findMembership, listRequiredChannels, lockMemberships, type RequiredChannel, saveMembership } from './repo.ts';

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
const ROW_TRUST_MS = 30 * MINUTE_MS;
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
function requiredChannels(app: App): Promise<RequiredChannel[]> {
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

/** Data of the button with which a user asks for another check, and how often it may be pressed. */
const CHECK_BUTTON = 'channels_check';
const PRESS_SECONDS = 5;
/** After a report of a leaving, until the messenger's own answer is certain to know of it. */
const ASK_AGAIN_MS = 10 * SECOND_MS;

/** Links of the channels and the button for another check. */
export function channelKeyboard(channels: readonly RequiredChannel[]): Keyboard {
  return (language) => [
    ...channels
      .filter((channel) => channel.channelLink !== null)
      .map(({ title, channelLink }) => [{ text: title || channelLink!, url: channelLink! }]),
    [{ text: text(language, 'messages.button_channels_check'), callbackData: CHECK_BUTTON }],
  ];
}

/** Which kinds of subscription leaving this channel disables; the same for the job and for what the messenger reports. */
export function kindsDisabledBy({ settings }: App, channel: RequiredChannel): { trial: boolean; paid: boolean } {
  const isOn = settings.get('CHANNEL_IS_REQUIRED_SUB');
  const includesTrials = settings.get('CHANNEL_DISABLE_TRIAL_ON_UNSUBSCRIBE') || settings.get('CHANNEL_REQUIRED_FOR_ALL');
  return { trial: isOn && includesTrials && channel.disableTrialOnLeave, paid: isOn && channel.disablePaidOnLeave };
}

/**
 * Processes an update of the messenger that concerns required channels: a user who joined or left one, or who asks for another check (spec
 * 05 section 13). Leaving takes effect with the answer; joining and checks, for which the messenger has to be asked, become jobs. Ignores
 * other updates.
 */
export async function receiveChannelUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (update.kind === 'callback' && update.data === CHECK_BUTTON) {
    await app.jobs.send('safety.channels-press', { queryId: update.queryId, messengerId: update.fromMessengerId });
  } else if (update.kind === 'membership') {
    const channel = (await requiredChannels(app)).find(({ channelId }) => channelId === String(update.chatId));
    if (channel) await receiveMembership(app, channel, update.memberMessengerId, update.member.isMember);
  }
}

async function receiveMembership(app: App, channel: RequiredChannel, messengerId: number, isMember: boolean): Promise<void> {
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) return;
  await inTransaction(app, async (t) => {
    // The row first: a check that disables or enables at the same time has it locked, and its result is then seen here.
    await recordMembership(t, { messengerId, channelId: channel.channelId, isMember });
    if (!isMember) {
      if (isConfigAdmin(t, user)) return;
      const isDisabled = await disableForChannel(t, user.id, kindsDisabledBy(t, channel), channelKeyboard([channel]));
      // The messenger reports several at once and repeats what failed: this one may be older than the joining that followed it.
      if (isDisabled)
        await t.jobs.send('safety.check-member', { messengerId }, { startAfter: addMs(t.clock.now(), ASK_AGAIN_MS) });
    } else if (await isDisabledByChannelRule(t, user.id)) {
      await t.jobs.send('safety.check-member', { messengerId });
    }
  });
}

/**
 * Enables the subscription of a user who has joined every active channel (job `safety.check-member`).
 * @throws MessengerError while the messenger does not answer; the queue retries
 */
export async function checkMember(app: App, messengerId: number): Promise<void> {
  const channels = await listRequiredChannels(app.db);
  for (const { channelId } of channels) {
    const reading = await readCurrentMembership(app, messengerId, channelId);
    if ('failure' in reading && isOutage(reading.failure)) {
      throw new MessengerError({ kind: 'unavailable' }, 'A membership could not be read');
    }
  }
  const user = await findUserByMessengerId(app, messengerId);
  if (user) await enableWhenJoined(app, { userId: user.id, messengerId }, channels);
}

/** Handles the pressed button (job `safety.channels-press`): reads all memberships and answers with a message. */
export async function handleChannelsPress(
  app: App,
  { queryId, messengerId }: { queryId: string; messengerId: number },
): Promise<void> {
  await app.ports.messenger.answerCallback(queryId).catch((error) => app.log.debug({ err: error }, 'a press was not answered'));
  const user = await findUserByMessengerId(app, messengerId);
  if (user?.status !== 'active' || !(await putIfAbsent(app, `channels-check:${messengerId}`, {}, PRESS_SECONDS))) return;
  const channels = await listRequiredChannels(app.db);
  if (!(await recheckChannels(app, messengerId))) {
    const html = htmlText(user.language, 'messages.channels_missing');
    await sendMessage(app, { messengerId, html, buttons: channelKeyboard(channels)(user.language) });
  } else if (!(await enableWhenJoined(app, { userId: user.id, messengerId }, channels))) {
    await sendMessage(app, { messengerId, html: htmlText(user.language, 'messages.channels_complete') });
  }
}

/** Enables by the stored memberships, which are locked, so that a user who leaves meanwhile is disabled afterwards. */
export function enableWhenJoined(
  app: App,
  user: { userId: number; messengerId: number },
  channels: readonly RequiredChannel[],
): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const ids = channels.map(({ channelId }) => channelId);
    const joined = (await lockMemberships(t.db, user.messengerId, ids)).filter(({ isMember }) => isMember);
    return joined.length === ids.length && enableAfterJoining(t, user.userId);
  });
}

/** A stored membership that is not old, else what the messenger says. */
export async function readCurrentMembership(app: App, messengerId: number, channelId: string): Promise<MembershipReading> {
  const row = await findMembership(app.db, messengerId, channelId);
  const age = row ? app.clock.now().getTime() - row.checkedAt.getTime() : Number.POSITIVE_INFINITY;
  // "Not a member" is always asked for again: a user who has joined must not stay disabled.
  if (row?.isMember && age < ROW_TRUST_MS) return { member: { status: 'member', isMember: true } };
  return readMembership(app, messengerId, channelId);
}

/** Limits of the requests of this process to the messenger: how many run, how many wait, and the interval between two. */
const requests = bulkhead(20, 400);
const SPACING_MS = 50;
let nextRequestAt = 0;

/** What the messenger said about a member of a channel; a failure says nothing about the member. */
type MembershipReading = { member: ChatMember } | { failure: MessengerFailure['kind'] };

/** Failures that concern the whole messenger, not one channel or user: a later try may succeed. */
export function isOutage(failure: MessengerFailure['kind']): boolean {
  return failure === 'unavailable' || failure === 'rate_limited' || failure === 'not_configured';
}

/**
 * Asks the messenger for a membership, in turn with all other requests of this kind (20 a second). A stored one that is newer than the
 * request, because the messenger reported it meanwhile, is not overwritten. Never in a transaction.
 * @param options.isStored false: for members who are no users, for example the bot itself
 */
export async function readMembership(
  app: App,
  messengerId: number,
  channelId: string,
  { isStored = true } = {},
): Promise<MembershipReading> {
  refuseInsideTransaction('readMembership');
  try {
    return await requests.execute(async () => {
      await waitForTurn();
      const at = app.clock.now();
      const member = await app.ports.messenger.getChatMember(channelId, messengerId);
      if (isStored) await saveMembership(app.db, { messengerId, channelId, isMember: member.isMember, at, isReport: false });
      return { member };
    });
  } catch (error) {
    // Any failure: the caller decides by what is stored; what was read is kept by the next reading.
    app.log.warn({ err: error, channelId }, 'the membership of a required channel could not be read');
    return { failure: error instanceof MessengerError ? error.failure.kind : 'unavailable' };
  }
}

async function waitForTurn(): Promise<void> {
  const now = performance.now();
  const turn = Math.max(now, nextRequestAt);
  nextRequestAt = turn + SPACING_MS;
  if (turn > now) await delay(turn - now);
}
