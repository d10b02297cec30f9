import { plainText } from './templates/plain-text.ts';
import type { TemplateVariable } from './templates/template-variables.ts';
import { escapeHtml, fill, htmlText, knownLanguage, type TextKey, type TextParams, text } from './texts.ts';

/** Mails with a built-in template in `locales` (spec 05 section 11). */
export const MAIL_TYPES = [
  'email_verification',
  'password_reset',
  'email_change_code',
  'email_changed',
  'second_factor_changed',
  'personal_data',
  'balance_topup',
  'balance_change',
  'payment_received',
  'subscription_activated',
  'subscription_renewed',
  'subscription_expiring',
  'subscription_expired',
  'subscription_ended',
  'trial_ending',
  'autopay_success',
  'autopay_insufficient_funds',
  'autopay_failed',
  'daily_debit',
  'daily_insufficient_funds',
  'traffic_reset',
  'order_bought',
  'order_refused',
  'ban_notification',
  'unban_notification',
  'warning_notification',
  'referral_registered',
  'referral_welcome',
  'referral_welcome_bonus',
  'test_notification',
  'ticket_answered',
  'referral_bonus',
  'partner_application_approved',
  'partner_application_rejected',
  'withdrawal_approved',
  'withdrawal_rejected',
  'guest_subscription_delivered',
  'guest_gift_received',
  'guest_activation_required',
  'guest_cabinet_credentials',
] as const;

export type MailType = (typeof MAIL_TYPES)[number];

/** Values of a mail: at least what an administrator's template of the type may use. */
export type MailParams<M extends MailType> = TextParams & Readonly<Record<TemplateVariable<M>, string | number>>;

/** Mails without a built-in template: they are sent where the administrators have made one (spec 05 section 9.3). */
export type TemplateMailType = `webhook_${string}`;

/** An administrator's template for one type and language (spec 05 section 11.2). */
export interface MailOverride {
  subject: string;
  bodyHtml: string;
}

export interface MailFrame {
  /** `SMTP_FROM_NAME`. */
  serviceName: string;
  /** `CABINET_URL`; a button to it is added to mails without another link. */
  cabinetUrl: string | null;
}

export interface RenderedMail {
  subject: string;
  html: string;
  text: string;
}

/** Mails with another link or a code, which have no cabinet button. */
const WITHOUT_BUTTON: ReadonlySet<MailType> = new Set([
  'email_verification',
  'password_reset',
  'email_change_code',
  'guest_subscription_delivered',
  'guest_gift_received',
  'guest_activation_required',
]);

/** What a mail is sent for: a template that leaves it out gets it added, because without it the recipient can do nothing with the mail. */
const ESSENTIAL: Partial<Record<MailType, string>> = {
  email_verification: 'verification_url',
  password_reset: 'reset_url',
  email_change_code: 'code',
  guest_cabinet_credentials: 'cabinet_password',
};

/**
 * Subject, HTML and plain text of a mail. Values are escaped in HTML and lose line breaks in the subject.
 * @param override replaces subject and body; one without any content is ignored, so that a wrong template never stops a mail
 */
export function renderMail(
  language: string | null | undefined,
  type: MailType,
  params: TextParams,
  frame: MailFrame,
  override: MailOverride | null = null,
): RenderedMail {
  const replaced = override && renderTemplate(language, params, frame, override, type);
  if (replaced && replaced.subject !== '' && hasContent(replaced)) return replaced;
  const key = (part: string) => `mail.${type}_${part}` as TextKey;
  const body = htmlText(language, key('html'), params) + (WITHOUT_BUTTON.has(type) ? '' : cabinetButton(language, frame));
  return {
    subject: subjectLine(text(language, key('subject')), params),
    html: basePage(language, body, frame.serviceName),
    text: text(language, 'mail.base_text', {
      content: text(language, key('text'), params),
      service_name: frame.serviceName,
    }),
  };
}

/** The same from an administrator's template. @param type of a mail with a built-in template, whose essential value must not be missing */
export function renderTemplate(
  language: string | null | undefined,
  params: TextParams,
  frame: MailFrame,
  template: MailOverride,
  type: MailType | null = null,
): RenderedMail {
  const filled = fill(template.bodyHtml, params, (value) => escapeHtml(String(value)));
  const body = withEssential(filled, type, params);
  return {
    subject: subjectLine(template.subject, params),
    html: pageOfTemplate(language, body, frame.serviceName),
    text: plainText(body),
  };
}

function withEssential(body: string, type: MailType | null, params: TextParams): string {
  const name = type === null ? undefined : ESSENTIAL[type];
  if (name === undefined || params[name] === undefined) return body;
  const value = escapeHtml(String(params[name]));
  if (body.includes(value)) return body;
  const addition = name.endsWith('_url') ? `<p><a href="${value}">${value}</a></p>` : `<p>${value}</p>`;
  const end = isWholePage(body) ? body.toLowerCase().lastIndexOf('</body>') : -1;
  return end < 0 ? body + addition : body.slice(0, end) + addition + body.slice(end);
}

/** A picture is content too. */
function hasContent({ html, text: plain }: RenderedMail): boolean {
  return plain !== '' || /<img\b/i.test(html);
}

function subjectLine(pattern: string, params: TextParams): string {
  return oneLine(fill(pattern, params, (value) => oneLine(String(value))));
}

function cabinetButton(language: string | null | undefined, { cabinetUrl }: MailFrame): string {
  if (!cabinetUrl) return '';
  return htmlText(language, 'mail.button_html', { button_url: cabinetUrl, button_label: text(language, 'mail.cabinet_button') });
}

function oneLine(value: string): string {
  return value.replace(/[\r\n]+/g, ' ').trim();
}

/**
 * The page around the body of a mail. Colours of the light page stand in attributes, since some mail readers drop style sheets; those of the
 * dark one can only stand in a style sheet, with `!important` over the attributes.
 */
const PAGE = `<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<style>
body, td { word-break: break-word; overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  .mail-page { background: #11161f !important; color: #e6eaf2 !important; }
  .mail-card { background: #1b2230 !important; }
  .mail-body a:not([style]) { color: #8fb0ff !important; }
  .mail-footer { color: #a5aec0 !important; }
}
</style></head>
<body class="mail-page" style="margin:0;padding:24px 12px;background:#eef1f6;font-family:Arial,Helvetica,sans-serif;color:#1c2430">
<div class="mail-card" style="max-width:520px;margin:0 auto;background:#ffffff;border-radius:14px;overflow:hidden">
<div style="padding:20px 28px;background:#1f3a8a;color:#ffffff;font-size:18px;font-weight:bold">{service_name}</div>
<div class="mail-body" style="padding:24px 28px;font-size:15px;line-height:1.6;overflow-wrap:anywhere">{content}</div>
<div class="mail-footer" style="padding:14px 28px 22px;font-size:12px;color:#5b6577">{footer}</div>
</div></body></html>`;

/** @param body HTML @param serviceName plain text */
function basePage(language: string | null | undefined, body: string, serviceName: string): string {
  const values = {
    language: knownLanguage(language),
    service_name: escapeHtml(serviceName),
    content: body,
    footer: escapeHtml(text(language, 'mail.base_footer')),
  };
  return fill(PAGE, values, String);
}

/** The page of an administrator's body: a whole page stays as it is, a styled body gets an empty page, any other body the base page. */
function pageOfTemplate(language: string | null | undefined, body: string, serviceName: string): string {
  if (isWholePage(body)) return body;
  if (/<style\b|background/i.test(body)) {
    return `<!doctype html>\n<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"></head><body>${body}</body></html>`;
  }
  return basePage(language, body, serviceName);
}

function isWholePage(html: string): boolean {
  return /^\s*<(!doctype|html)\b/i.test(html);
}
