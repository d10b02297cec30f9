import type { App } from '../../core/app.ts';
import { addMs, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { putIfAbsent } from '../../core/short-lived.ts';
import { isConfigAdmin } from '../access/read-effective-access.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import { MessengerError, type MessengerUpdate } from '../messaging/ports.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import {
  disableForChannel,
  enableAfterJoining,
  isDisabledByChannelRule,
  type Keyboard,
} from '../subscriptions/channel-rule/apply-rule.ts';
import { ROW_TRUST_MS, recheckChannels, recordMembership, requiredChannels } from './channel-gate.ts';
import { findMembership, listRequiredChannels, lockMemberships, type RequiredChannel } from './channel-repo.ts';
import { isOutage, type MembershipReading, readMembership } from './membership-reader.ts';

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
