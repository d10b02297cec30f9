import { z } from 'zod';
import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { checkEmailAddress } from '../identity/email/mail-secrets.ts';
import { findUserById } from '../identity/find-user.ts';
import { normaliseEmail } from '../identity/rules.ts';
import { renderMailOf } from '../messaging/send-mail.ts';
import { templateLanguage } from '../messaging/templates/template-variables.ts';
import { knownTemplateType, sampleValues } from '../messaging/templates/templates.ts';

export const mailNotConfigured = refusal('mail_not_configured', 400, 'SMTP is not configured');
export const testMailWithoutAddress = refusal(
  'test_mail_without_address',
  400,
  'No email address provided and admin has no email',
);
const testMailFailed = refusal('test_mail_failed', 500, 'Failed to send test email');

const TEST_MAILS_PER_MINUTE = 5;
const MINUTE_SECONDS = 60;

/**
 * Sends one mail of a type with example values now, as users get it, to an address or to the administrator (spec 05 section 11.2).
 * @returns the address
 * @throws AppError 400 mail is not configured | 400 no address | 404 `template_type_unknown` | 429 after 5 a minute | 500 the mail server
 * refused it or did not answer; ValidationError for the address
 */
export async function sendTestMail(
  app: App,
  actor: AdminActor,
  { notificationType, language, email }: { notificationType: string; language: string; email: string },
): Promise<string> {
  if (!app.ports.mail.isConfigured()) throw mailNotConfigured();
  const to = normaliseEmail(email) || (await findUserById(app, actor.userId))?.email;
  if (!to) throw testMailWithoutAddress();
  const type = knownTemplateType(notificationType);
  checkForm(to);
  checkEmailAddress(to, 'email');
  await limitOrRefuse(app, `rate_limit:template-test:${actor.userId}`, TEST_MAILS_PER_MINUTE, MINUTE_SECONDS);
  const mail = await renderMailOf(app, { language: templateLanguage(language), type, params: sampleValues(type) });
  try {
    await app.ports.mail.send({ ...mail, to, subject: `[TEST] ${mail.subject}` });
  } catch (error) {
    throw testMailFailed({ cause: error });
  }
  return to;
}

/** The contract has no form for this field, since an empty one stands for the administrator. */
function checkForm(address: string): void {
  if (z.email().safeParse(address).success) return;
  const msg = 'value is not a valid email address';
  throw new ValidationError([{ loc: ['body', 'email'], type: 'value_error', msg, input: address }]);
}
