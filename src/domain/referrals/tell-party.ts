import type { App } from '../../core/app.ts';
import type { EventTypes } from '../../core/events/event-recorder.ts';
import type { MailType } from '../messaging/render-mail.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { sendMessage } from '../messaging/send-message.ts';
import type { TextParams } from '../messaging/texts.ts';
import type { ReferralParty } from './types.ts';

/** One notice in the three ways it may go. */
export interface PartyNotice<K extends keyof EventTypes> {
  /** Finished, for the messenger. */
  html: string;
  mail: MailType;
  mailParams: TextParams;
  /** `notification.<type>`, for the sockets of those who have no messenger. */
  event: K;
  context: EventTypes[K];
}

/**
 * Queues a notice in the caller's transaction: in the messenger where the user has one, else by mail to a verified address and on the
 * own sockets (spec 05 section 9.3). Blocked and deleted users hear nothing.
 */
export async function tellParty<K extends keyof EventTypes>(t: App, party: ReferralParty, notice: PartyNotice<K>): Promise<void> {
  if (party.status !== 'active') return;
  if (party.messengerId !== null) {
    await sendMessage(t, { messengerId: party.messengerId, html: notice.html });
  } else if (party.email !== null && party.emailVerified) {
    await sendMail(t, { to: party.email, language: party.language, type: notice.mail, params: notice.mailParams });
    await t.events.emit(notice.event, notice.context, { audience: 'user', userId: party.id });
  }
}
