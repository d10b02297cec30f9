import type { App } from '../../../core/app.ts';
import { type AppError, refusal, ValidationError } from '../../../core/errors.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { htmlProblem, MAX_CAPTION_LENGTH, MAX_MESSAGE_LENGTH, visibleText } from '../../messaging/messenger-html.ts';
import { type Language, text } from '../../messaging/texts.ts';

const messengerHtml = refusal('messenger_html', 400, 'The tag <b> is not closed (position <n>).');
export const captionTooLong = refusal(
  'caption_too_long',
  400,
  'The caption of the file is too long: <n> characters, at most <n> are allowed',
);
const messageTooLong = refusal(
  'message_too_long',
  400,
  'The message is too long: it may have <n> characters, and the messenger accepts <n>.',
);
export const MESSENGER_TEXT_REFUSALS = [messengerHtml, messageTooLong];

const PROBLEM_TEXTS = {
  unsupported: 'pages.tag_unsupported',
  not_opened: 'pages.tag_not_opened',
  wrong_nesting: 'pages.tag_wrong_nesting',
  not_closed: 'pages.tag_not_closed',
} as const;

/** Trims a text of a request. @throws ValidationError 422 nothing is left */
export function requireText(field: string, raw: string, problem: string): string {
  const trimmed = raw.trim();
  if (trimmed !== '') return trimmed;
  throw new ValidationError([validationIssue('value_error', ['body', field], raw, { error: `Value error, ${problem}` })]);
}

/**
 * Refuses what the messenger would refuse when the text is sent: the operator learns it here, and not the users by a missing message.
 * @param language of the refusal; null = Russian
 * @param options.longest the longest text that can be made of this one, where names are filled in
 * @param options.isCaption the text is sent under a file
 * @throws AppError 400 `messenger_html` | `message_too_long` | `caption_too_long`
 */
export function checkMessengerText(
  app: App,
  html: string,
  language: Language | null,
  { longest = (visible) => visible, isCaption = false }: { longest?: (text: string) => string; isCaption?: boolean } = {},
): void {
  const { markup } = app.ports.messenger;
  const problem = htmlProblem(html, markup);
  if (problem !== null) {
    const { kind, ...params } = problem;
    throw messengerHtml({ detail: text(language, PROBLEM_TEXTS[kind], params) });
  }
  const { length } = longest(visibleText(html, markup));
  if (length > (isCaption ? MAX_CAPTION_LENGTH : MAX_MESSAGE_LENGTH)) throw tooLong(length, isCaption, language);
}

function tooLong(length: number, isCaption: boolean, language: Language | null): AppError {
  return isCaption
    ? captionTooLong({ detail: text(language, 'broadcasts.caption_too_long', { limit: MAX_CAPTION_LENGTH, length }) })
    : messageTooLong({ detail: text(language, 'pages.message_too_long', { limit: MAX_MESSAGE_LENGTH, length }) });
}
