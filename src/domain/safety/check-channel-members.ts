import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { configAdmins, isConfigAdmin } from '../access/effective-access.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { MessengerError } from '../messaging/ports.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { recordMonitoring } from '../monitoring/monitoring-log.ts';
import { type ChannelCandidate, disableForChannel, listChannelCandidates } from '../subscriptions/channel-rule/apply-rule.ts';
import { monitoringIntervalMs } from '../subscriptions/settings.ts';
import {
  channelKeyboard,
  enableWhenJoined,
  isOutage,
  kindsDisabledBy,
  readCurrentMembership,
  readMembership,
} from './channel-gate.ts';
import { listRequiredChannels, lockMemberships, type RequiredChannel } from './repo.ts';

const STATE_KEY = 'channel_check';
const BATCH = 100;
/** Users checked at once; the others of the process wait behind these requests for at most a quarter of a second. */
const PARALLEL = 5;
/** Time of one run; the next one continues. */
const RUN_MS = MINUTE_MS;

/** The round, which all instances share. `afterId`: last subscription that was checked; null = no round is under way. */
interface Round {
  startedAt: string;
  afterId: number | null;
  /** Ids of channels whose members could not be read; administrators were notified of them. */
  unreadable: string[];
  checked: number;
  disabled: number;
  restored: number;
}

/** The messenger does not answer: the run ends, the next one continues at the same place. */
class MessengerAway extends Error {}

/**
 * Job `safety.check-channels`: a round every `MONITORING_INTERVAL` minutes over the trials, and over all subscriptions that the rule has
 * disabled, in pages (spec 05 section 13, spec 06 section 15). A trial whose owner has left a channel is disabled; paid subscriptions are
 * disabled only when the messenger reports the leaving. What the rule has disabled is enabled when its owner has joined every active
 * channel, or none is required any more. A run takes about a minute and stores its place after each page, so that a round is continued by
 * the next run, on any instance. No answer of the messenger changes nothing. A channel of which the bot is no administrator disables
 * nobody; administrators are notified once.
 */
export async function checkChannelMembers(app: App, signal?: AbortSignal): Promise<void> {
  const round = await openRound(app);
  if (!round) return;
  const isOn = app.settings.get('CHANNEL_IS_REQUIRED_SUB');
  const channels = isOn ? await listRequiredChannels(app.db) : [];
  const until = performance.now() + RUN_MS;
  try {
    if (channels.length > 0) await findUnreadable(app, channels, round);
    const includesTrials = channels.some((channel) => kindsDisabledBy(app, channel).trial);
    while (round.afterId !== null && !signal?.aborted && performance.now() < until) {
      const page = await listChannelCandidates(app, { includesTrials, after: round.afterId, limit: BATCH });
      for (let start = 0; start < page.length; start += PARALLEL) {
        if (signal?.aborted) return;
        await Promise.all(
          page.slice(start, start + PARALLEL).map((candidate) => checkCandidate(app, candidate, channels, round)),
        );
      }
      round.afterId = page.length < BATCH ? null : page.at(-1)!.id;
      await writeState(app.db, STATE_KEY, round);
    }
  } catch (error) {
    if (!(error instanceof MessengerAway)) throw error;
    app.log.warn({ afterId: round.afterId }, 'the check of required channels waits for the messenger');
    return;
  }
  const { checked, disabled, restored } = round;
  if (round.afterId !== null || checked === 0) return;
  app.log.info({ checked, disabled, restored }, 'trial_channel_subscription_check');
  await recordMonitoring(app, 'trial_channel_subscription_check', { checked, disabled, restored });
}

/** The round under way, or a new one when it is due. */
async function openRound(app: App): Promise<Round | null> {
  const stored = await readState<Round>(app.db, STATE_KEY);
  if (stored && stored.afterId !== null) return stored;
  const now = app.clock.now();
  if (stored && now.getTime() - new Date(stored.startedAt).getTime() < monitoringIntervalMs(app)) return null;
  const unreadable = stored?.unreadable ?? [];
  const round = { startedAt: now.toISOString(), afterId: 0, unreadable, checked: 0, disabled: 0, restored: 0 };
  await writeState(app.db, STATE_KEY, round);
  return round;
}

/** Reads the bot's own membership of each channel: only an administrator learns who is a member. */
async function findUnreadable(app: App, channels: readonly RequiredChannel[], round: Round): Promise<void> {
  const bot = await app.ports.messenger.getMe().catch((error: unknown) => {
    throw error instanceof MessengerError ? new MessengerAway() : error;
  });
  const before = new Set(round.unreadable);
  const found: string[] = [];
  for (const { channelId } of channels) {
    const reading = await readMembership(app, bot.messengerId, channelId, { isStored: false });
    if ('failure' in reading && isOutage(reading.failure)) throw new MessengerAway();
    const isAdministrator = 'member' in reading && ['administrator', 'creator'].includes(reading.member.status);
    if (!isAdministrator) found.push(channelId);
  }
  round.unreadable = found;
  await inTransaction(app, async (t) => {
    await writeState(t.db, STATE_KEY, round);
    for (const channel of channels) {
      if (found.includes(channel.channelId) && !before.has(channel.channelId)) await notifyAdmins(t, channel);
    }
  });
}

async function checkCandidate(
  app: App,
  candidate: ChannelCandidate,
  channels: readonly RequiredChannel[],
  round: Round,
): Promise<void> {
  const { userId, messengerId } = candidate;
  const isExempt = isConfigAdmin(app, candidate);
  const missing: RequiredChannel[] = [];
  let isKnown = true;
  for (const channel of isExempt ? [] : channels) {
    const isMember = round.unreadable.includes(channel.channelId) ? null : await membershipOf(app, candidate, channel);
    if (isMember === null) isKnown = false;
    else if (!isMember) missing.push(channel);
  }
  round.checked++;
  if (candidate.isDisabled) {
    const mayEnable = isKnown && missing.length === 0;
    if (mayEnable && (await enableWhenJoined(app, { userId, messengerId }, isExempt ? [] : channels))) round.restored++;
  } else if (await disableTrial(app, candidate, missing)) round.disabled++;
}

/** Null = unknown: the messenger does not tell it of this user. */
async function membershipOf(
  app: App,
  { messengerId }: ChannelCandidate,
  { channelId }: RequiredChannel,
): Promise<boolean | null> {
  const reading = await readCurrentMembership(app, messengerId, channelId);
  if ('member' in reading) return reading.member.isMember;
  if (isOutage(reading.failure)) throw new MessengerAway();
  return null;
}

/** By the stored memberships, which are locked: a user who joins meanwhile stays enabled, or is enabled afterwards. */
async function disableTrial(app: App, candidate: ChannelCandidate, missing: readonly RequiredChannel[]): Promise<boolean> {
  const left = missing.filter((channel) => kindsDisabledBy(app, channel).trial);
  if (left.length === 0) return false;
  return inTransaction(app, async (t) => {
    const ids = left.map(({ channelId }) => channelId);
    const stored = await lockMemberships(t.db, candidate.messengerId, ids);
    if (stored.every(({ isMember }) => isMember)) return false;
    return disableForChannel(t, candidate.userId, { trial: true, paid: false }, channelKeyboard(left));
  });
}

async function notifyAdmins(t: App, { channelId, title }: RequiredChannel): Promise<void> {
  t.log.warn({ channelId }, 'the members of a required channel cannot be read: the bot is not its administrator');
  const language = t.settings.get('DEFAULT_LANGUAGE');
  const html = htmlText(language, 'messages.channel_unreadable', { channel: title ? `${title} (${channelId})` : channelId });
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
  const receivers = chat ? [chat] : [...configAdmins(t).messengerIds].map((messengerId) => ({ messengerId }));
  for (const receiver of receivers) await sendMessage(t, { ...receiver, html });
}
