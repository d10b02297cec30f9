import type { App } from '../../core/app.ts';
import type { Env } from '../../core/env.ts';
import { refusal } from '../../core/errors.ts';
import { estimatedEnd, settledOf } from '../mass-sends/pace.ts';
import type { MassSend } from '../mass-sends/types.ts';
import type { MessengerButton } from '../messaging/ports.ts';
import { webAppBase } from '../messaging/send-message.ts';
import { text } from '../messaging/texts.ts';
import type { Broadcast, BroadcastDraft, BroadcastRow, BroadcastStatus } from './types.ts';

/** Longest caption of a file, with tags (spec 05 section 3.3). */
export const MAX_CAPTION = 1_024;

/** Keys of the standard buttons in their rows. */
const BUTTON_ROWS = [['balance', 'referrals'], ['promocode', 'connect'], ['subscription', 'support'], ['home']] as const;
export type ButtonKey = (typeof BUTTON_ROWS)[number][number];

export const BUTTON_KEYS: readonly ButtonKey[] = BUTTON_ROWS.flat();

export function isButtonKey(key: string): key is ButtonKey {
  return (BUTTON_KEYS as readonly string[]).includes(key);
}

/** Segments that broadcasts name, besides tariffs (spec 05 section 3.2). */
export const BASIC_SEGMENTS = [
  'all',
  'active',
  'trial',
  'no',
  'expiring',
  'expired',
  'zero',
  'active_zero',
  'trial_zero',
] as const;
export const CUSTOM_SEGMENTS = [
  ...(['custom_today', 'custom_week', 'custom_month', 'custom_active_today'] as const),
  ...(['custom_inactive_week', 'custom_inactive_month', 'custom_referrals', 'custom_direct'] as const),
] as const;
export const EMAIL_SEGMENTS = ['all_email', 'email_only', 'messenger_with_email', 'active_email', 'expired_email'] as const;

/** The caption of a file, or the text: what is sent under it. */
export function captionOf({ mediaCaption, messageText }: Pick<BroadcastRow, 'mediaCaption' | 'messageText'>): string {
  return mediaCaption?.trim() ? mediaCaption : (messageText ?? '');
}

/** The draft with texts trimmed; a blank text is none. */
export function trimmedDraft(draft: BroadcastDraft): BroadcastDraft {
  const trimmed = (value: string | null) => value?.trim() || null;
  return {
    ...draft,
    messageText: trimmed(draft.messageText),
    emailSubject: trimmed(draft.emailSubject),
    emailHtmlContent: trimmed(draft.emailHtmlContent),
    media: draft.media && { ...draft.media, caption: trimmed(draft.media.caption) },
  };
}

/** A broadcast with the state and the numbers of its parts (spec 05 sections 3.1 and 3.3). */
export function withProgress(row: BroadcastRow, sends: readonly MassSend[], env: Env, now: Date): Broadcast {
  // The number of recipients is known when all of them have their row.
  const prepared = sends.filter(({ state }) => state !== 'queued' && state !== 'preparing');
  const sum = (value: (send: MassSend) => number) => prepared.reduce((total, send) => total + value(send), 0);
  const totalCount = sum((send) => send.total);
  const settled = sum(settledOf);
  const isFinished = sends.length > 0 && sends.every(({ finishedAt }) => finishedAt !== null);
  const ends = sends.flatMap((send) => (send.finishedAt === null ? [estimatedEnd(env, send, now)] : []));
  const isEstimated = ends.length > 0 && ends.every((end) => end !== null);
  return {
    ...row,
    status: statusOf(sends),
    totalCount,
    sentCount: sum(({ sent }) => sent),
    failedCount: sum(({ failed }) => failed),
    blockedCount: sum(({ blocked }) => blocked),
    unconfirmedCount: sum(({ unconfirmed }) => unconfirmed),
    repeatedCount: sum(({ repeated }) => repeated),
    unsubscribedCount: sum(({ unsubscribed }) => unsubscribed),
    progressPercent: totalCount === 0 ? 0 : Math.round((settled / totalCount) * 1_000) / 10,
    estimatedEndAt: isEstimated ? latest(ends as Date[]) : null,
    completedAt: isFinished ? latest(sends.map(({ finishedAt }) => finishedAt!)) : null,
  };
}

const latest = (timestamps: readonly Date[]): Date => new Date(Math.max(...timestamps.map((timestamp) => timestamp.getTime())));

function statusOf(sends: readonly MassSend[]): BroadcastStatus {
  const open = sends.filter(({ finishedAt }) => finishedAt === null);
  if (open.length > 0) {
    if (open.some(({ stopRequestedAt }) => stopRequestedAt !== null)) return 'cancelling';
    if (open.every(({ pausedAt }) => pausedAt !== null)) return 'paused';
    return sends.every(({ state }) => state === 'queued') ? 'queued' : 'in_progress';
  }
  if (sends.some(({ state }) => state === 'cancelled')) return 'cancelled';
  if (sends.every(({ state }) => state === 'failed')) return 'failed';
  const isWhole = sends.every(
    ({ state, failed, blocked, unconfirmed }) => state === 'done' && failed + blocked + unconfirmed === 0,
  );
  return isWhole ? 'completed' : 'partial';
}

export const broadcastNotFound = refusal('broadcast_not_found', 404, 'Broadcast not found');

/** What a button calls in the chat, and its page in the web app. */
const ACTIONS: Readonly<Record<ButtonKey, { callback: string; page: string | null }>> = {
  balance: { callback: 'balance_topup', page: '/balance/top-up' },
  referrals: { callback: 'menu_referrals', page: '/referral' },
  promocode: { callback: 'menu_promocode', page: '/balance' },
  connect: { callback: 'subscription_connect', page: '/subscription' },
  subscription: { callback: 'menu_subscription', page: '/subscription' },
  support: { callback: 'menu_support', page: '/support' },
  home: { callback: 'back_to_menu', page: null },
};

export function buttonLabel(language: string | null, key: ButtonKey): string {
  return text(language, `broadcasts.button_${key}`);
}

/** Buttons under a broadcast for readers of a language: the selected standard ones in their rows, then the custom ones, one a row. */
export function keyboardOf(
  app: App,
  broadcast: Pick<BroadcastRow, 'selectedButtons' | 'customButtons'>,
  language: string | null,
): MessengerButton[][] {
  const webApp = webAppBase(app);
  const standard = BUTTON_ROWS.map((row) =>
    row.flatMap((key) => (broadcast.selectedButtons.includes(key) ? [standardButton(key, language, webApp)] : [])),
  );
  const custom = broadcast.customButtons.map(({ label, actionType, actionValue }): MessengerButton[] => [
    actionType === 'url' ? { text: label, url: actionValue } : { text: label, callbackData: actionValue },
  ]);
  return [...standard.filter((row) => row.length > 0), ...custom];
}

function standardButton(key: ButtonKey, language: string | null, webApp: string | null): MessengerButton {
  const { callback, page } = ACTIONS[key];
  const label = buttonLabel(language, key);
  return webApp !== null && page !== null
    ? { text: label, webAppUrl: `${webApp}${page}` }
    : { text: label, callbackData: callback };
}
