import { escapeHtml, fill, htmlText, type TextKey, type TextParams, text } from './texts.ts';

/** Mails with a built-in template in `locales` (spec 05 section 11). */
export const MAIL_TYPES = [
  'email_verification',
  'password_reset',
  'email_change_code',
  'email_changed',
  'balance_topup',
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
  'referral_registered',
  'referral_welcome',
  'referral_welcome_bonus',
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

/**
 * Subject, HTML and plain text of a mail. Values are escaped in HTML and lose line breaks in the subject.
 * @param override replaces subject and body
 */
export function renderMail(
  language: string | null | undefined,
  type: MailType,
  params: TextParams,
  frame: MailFrame,
  override: MailOverride | null = null,
): RenderedMail {
  if (override) return renderTemplate(language, params, frame, override);
  const key = (part: string) => `mail.${type}_${part}` as TextKey;
  const body = htmlText(language, key('html'), params) + (WITHOUT_BUTTON.has(type) ? '' : cabinetButton(language, frame));
  return {
    subject: subjectLine(text(language, key('subject')), params),
    html: wrap(language, body, frame),
    text: text(language, 'mail.base_text', { content: text(language, key('text'), params), service_name: frame.serviceName }),
  };
}

/** The same from an administrator's template. */
export function renderTemplate(
  language: string | null | undefined,
  params: TextParams,
  frame: MailFrame,
  template: MailOverride,
): RenderedMail {
  const body = fill(template.bodyHtml, params, (value) => escapeHtml(String(value)));
  return {
    subject: subjectLine(template.subject, params),
    html: wrapOverride(language, body, frame),
    text: plainText(body),
  };
}

function subjectLine(pattern: string, params: TextParams): string {
  return oneLine(fill(pattern, params, (value) => oneLine(String(value))));
}

function cabinetButton(language: string | null | undefined, { cabinetUrl }: MailFrame): string {
  if (!cabinetUrl) return '';
  return htmlText(language, 'mail.button_html', { button_url: cabinetUrl, button_label: text(language, 'mail.cabinet_button') });
}

/** The base page around a body that is HTML already. */
function wrap(language: string | null | undefined, body: string, { serviceName }: MailFrame): string {
  return fill(text(language, 'mail.base_html'), { content: body, service_name: escapeHtml(serviceName) }, String);
}

/** The page of an override: a whole page stays as it is, a styled body gets an empty page, any other body the base page. */
function wrapOverride(language: string | null | undefined, body: string, frame: MailFrame): string {
  if (/^\s*<(!doctype|html)\b/i.test(body)) return body;
  if (/<style\b|background/i.test(body))
    return `<!doctype html>\n<html><head><meta charset="utf-8"></head><body>${body}</body></html>`;
  return wrap(language, body, frame);
}

/** The text of an HTML body, with the addresses of its links, for mail readers without HTML. */
function plainText(html: string): string {
  return html
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/<a\b[^>]*\bhref="([^"]*)"[^>]*>([\s\S]*?)<\/a>/gi, '$2 ($1)')
    .replace(/<br\s*\/?>|<\/(p|div|h\d|li|tr)>/gi, '\n')
    .replace(/<[^>]+>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function oneLine(value: string): string {
  return value.replace(/[\r\n]+/g, ' ').trim();
}
