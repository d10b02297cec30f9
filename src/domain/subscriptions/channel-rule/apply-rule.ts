import type { App } from '../../../core/app.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText } from '../../messaging/texts.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { readReminderTuning } from '../reminders/remind-owners.ts';
import { type ChangedByRule, type ChannelCandidate, disable, enable, isDisabledByRule, listCandidates } from './repo.ts';

export type { ChannelCandidate } from './repo.ts';

/** Rows of buttons under a message to this user. */
export type Keyboard = (language: string) => readonly (readonly MessengerButton[])[];

/** A page of subscriptions that the rule of required channels may change, after the id `after` (spec 05 section 13). */
export function listChannelCandidates(
  app: App,
  page: { includesTrials: boolean; after: number; limit: number },
): Promise<ChannelCandidate[]> {
  return listCandidates(app.db, { ...page, now: app.clock.now() });
}

/**
 * Disables the subscription of a user who left a required channel, with the reason `channel`, and notifies the user once. Only an active
 * one, of a kind that is named. The panel is updated after the commit. In the caller's transaction.
 * @returns whether it was disabled
 */
export async function disableForChannel(
  t: App,
  userId: number,
  kinds: { trial: boolean; paid: boolean },
  keyboard: Keyboard,
): Promise<boolean> {
  const changed = await disable(t.db, userId, kinds, t.clock.now());
  if (!changed) return false;
  await requestProvisioning(t, changed.subscriptionId);
  if ((await readReminderTuning(t)).channelLeft.enabled) await notify(t, changed, 'messages.channels_left', keyboard);
  return true;
}

/**
 * Enables the subscription of a user who has joined every required channel. Only what the rule has disabled: never what an administrator,
 * the panel or a lack of money has stopped, and nothing without time or traffic left. In the caller's transaction.
 * @returns whether it was enabled
 */
export async function enableAfterJoining(t: App, userId: number): Promise<boolean> {
  const changed = await enable(t.db, userId, t.clock.now());
  if (!changed) return false;
  await requestProvisioning(t, changed.subscriptionId);
  await notify(t, changed, 'messages.channels_joined', () => []);
  return true;
}

/** Whether the rule has disabled the user's subscription. */
export function isDisabledByChannelRule(app: App, userId: number): Promise<boolean> {
  return isDisabledByRule(app.db, userId);
}

async function notify(
  t: App,
  { messengerId, status, language }: ChangedByRule,
  key: 'messages.channels_left' | 'messages.channels_joined',
  keyboard: Keyboard,
): Promise<void> {
  if (messengerId === null || status !== 'active' || !t.settings.get('ENABLE_NOTIFICATIONS')) return;
  await sendMessage(t, { messengerId, html: htmlText(language, key), buttons: keyboard(language) });
}
