import type { App } from '../../core/app.ts';
import { findMailOverride, insertOutgoingMail } from './outgoing-mail-repo.ts';
import { type MailType, renderMail } from './render-mail.ts';
import { knownLanguage, type TextParams } from './texts.ts';

export interface MailRequest {
  to: string;
  /** The recipient's language; unknown ones read Russian. */
  language: string | null;
  type: MailType;
  params: TextParams;
}

/**
 * Queues a mail in the caller's transaction: the row and its job commit or vanish with it; nothing is awaited from the outside
 * (spec 01 H10). Without a configured mail system nothing is queued.
 * @returns whether the mail will be sent
 */
export async function sendMail(t: App, request: MailRequest): Promise<boolean> {
  if (!t.ports.mail.isConfigured()) return false;
  const override = await findMailOverride(t.db, request.type, knownLanguage(request.language));
  const frame = { serviceName: t.settings.get('SMTP_FROM_NAME'), cabinetUrl: t.settings.get('CABINET_URL') };
  const mail = renderMail(request.language, request.type, request.params, frame, override);
  const mailId = await insertOutgoingMail(t.db, request.to, request.type, mail, t.clock.now());
  await t.jobs.send('mail.send', { mailId });
  return true;
}
