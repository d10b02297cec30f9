import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { subscriberCondition } from '../../audience/segments.ts';
import { startSend } from '../../mass-sends/control-sends.ts';
import { attemptSend } from '../../mass-sends/outcome.ts';
import type { SendKind, SendOutcome } from '../../mass-sends/types.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, knownLanguage, text } from '../../messaging/texts.ts';
import { webAppBase } from '../../messaging/web-app.ts';
import { firstChannel } from '../first-channel.ts';
import { findPlayedRound } from './attempt-repo.ts';
import { readPrize } from './rules.ts';
import type { PlayedRound } from './types.ts';

const KIND = 'contest_round';

/**
 * Announces a round after the commit: to the first required channel, and to everybody with a running subscription at the pace of all mass
 * sends (spec 04 section 10.3). In the transaction that starts the round.
 */
export async function announceRound(t: App, roundId: number): Promise<void> {
  if (!t.ports.messenger.isConfigured()) return;
  const round = await findPlayedRound(t.db, roundId);
  if (!round) throw new Error(`round ${roundId} was started and is missing`);
  await startSend(t, { kind: KIND, sourceId: roundId, channel: 'messenger', audience: 'subscribed' });
  const channel = await firstChannel(t.db);
  // A channel is no chat with the bot: its members come by the link of the bot.
  if (channel !== null)
    await sendMessage(t, { messengerId: channel, html: announcementOf(round, null), buttons: channelButtons(t) });
}

/** Announcements of rounds as the engine of mass sends knows them. */
export const contestRoundKind: SendKind = {
  recipients: (_send, now) => subscriberCondition(now),
  repeatable: 'false',
  open: async (app, send) => {
    const round = await findPlayedRound(app.db, send.sourceId);
    const isOver = round === null || round.status !== 'active' || round.endsAt.getTime() < app.clock.now().getTime();
    if (isOver || !app.ports.messenger.isConfigured()) return null;
    const byLanguage = new Map<string, { html: string; buttons: MessengerButton[][] }>();
    const messageFor = (language: string | null) => {
      const known = knownLanguage(language);
      const message = byLanguage.get(known) ?? { html: announcementOf(round, known), buttons: menuButtons(app, known) };
      byLanguage.set(known, message);
      return message;
    };
    return async ({ messengerId, language }): Promise<SendOutcome> => {
      if (messengerId === null) return { state: 'failed' };
      const { html, buttons } = messageFor(language);
      return attemptSend((isPaced) => app.ports.messenger.sendMessage(messengerId, html, { buttons, isPaced }));
    };
  },
  announce: async () => undefined,
};

/** The texts of administrators are escaped. */
function announcementOf(round: PlayedRound, language: string | null): string {
  const { name, maxWinners, attemptsPerUser } = round;
  const params = { name, prize: prizeText(round, language), winners: maxWinners, attempts: attemptsPerUser };
  return htmlText(language, 'contests.round_announcement', params);
}

function prizeText(round: PlayedRound, language: string | null): string {
  const prize = readPrize(round);
  if (prize?.kind === 'days') return text(language, 'contests.prize_days', { days: prize.days });
  return prize?.kind === 'balance' ? formatPrice(prize.kopeks, false) : round.prizeValue;
}

function menuButtons(app: App, language: string): MessengerButton[][] {
  const label = text(language, 'contests.button_play');
  const webApp = webAppBase(app);
  return [[webApp === null ? { text: label, callbackData: 'contests_menu' } : { text: label, webAppUrl: `${webApp}/contests` }]];
}

function channelButtons({ ports }: App): MessengerButton[][] {
  const bot = ports.messengerIdentity.botUsername();
  if (bot === null) return [];
  return [[{ text: text(null, 'contests.button_play'), url: `${ports.messengerIdentity.linkBase()}/${bot}` }]];
}
