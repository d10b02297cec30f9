import type { App } from '../../core/app.ts';
import { findWaitingMail, markMailSent, noteMailFailure } from './outgoing-mail-repo.ts';
import { MailError } from './ports.ts';

/**
 * Sends a queued mail at least once. A mail that the server rejects is not retried; any other failure is.
 * @throws MailError when the queue is to retry
 */
export async function deliverMail(app: App, { mailId }: { mailId: number }): Promise<void> {
  const mail = await findWaitingMail(app.db, mailId);
  if (!mail) return;
  try {
    await app.ports.mail.send({ to: mail.recipient, subject: mail.subject, html: mail.html, text: mail.text });
  } catch (error) {
    const isFinal = error instanceof MailError && error.failure === 'rejected';
    await noteMailFailure(app.db, mailId, error instanceof Error ? error.message : String(error), isFinal);
    if (isFinal) {
      app.log.warn({ err: error, mailId }, 'a mail was refused and will not be sent');
      return;
    }
    throw error;
  }
  await markMailSent(app.db, mailId, app.clock.now());
}
