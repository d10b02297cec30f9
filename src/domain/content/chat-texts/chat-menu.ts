import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type AppError, refusal, ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { htmlProblem, MAX_CAPTION_LENGTH, MAX_MESSAGE_LENGTH, visibleText } from '../../messaging/messenger-html.ts';
import { type Language, text } from '../../messaging/texts.ts';
import {
  type ButtonValues,
  deleteButtonRow,
  deleteMessageRow,
  insertButton,
  insertMessage,
  listButtons,
  listMessages,
  lockButton,
  lockMessage,
  updateButtonRow,
  updateMessageRow,
} from './repo.ts';
import type { MainMenuButton, TextList, TextPage, UserMessage } from './types.ts';

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

export const buttonNotFound = refusal('main_menu_button_not_found', 404, 'Main menu button not found');

/** Links of the default main menu, inactive ones too, in their order (spec 05 section 6). */
export function listMainMenuButtons(app: App, page: TextPage): Promise<TextList<MainMenuButton>> {
  return listButtons(app.db, page);
}

export type ButtonDraft = Omit<ButtonValues, 'displayOrder'> & {
  /** Null = after the last one. */
  displayOrder?: number | null | undefined;
};

/** @throws ValidationError 422 */
export async function createMainMenuButton(app: App, draft: ButtonDraft): Promise<MainMenuButton> {
  const { displayOrder = null, ...button } = { ...draft, ...trimmed(draft) };
  checkBounds([{ name: 'display_order', value: displayOrder }]);
  checkAddress(button, 'action_value');
  const made = await insertButton(app.db, { ...button, displayOrder }, app.clock.now());
  app.audit?.record({ resourceId: made.id, before: null, after: made });
  return made;
}

/** Null and absent fields stay as they are. @throws ValidationError 422 | AppError 404 'Main menu button not found' */
export function updateMainMenuButton(app: App, id: number, changes: Changes<ButtonValues>): Promise<MainMenuButton> {
  const given = { ...givenFields(changes), ...trimmed(changes) };
  checkBounds([{ name: 'display_order', value: given.displayOrder }]);
  return inTransaction(app, async (t) => {
    const before = await lockButton(t.db, id);
    if (!before) throw buttonNotFound();
    if (Object.keys(given).length === 0) return before;
    const after = { ...before, ...given, updatedAt: t.clock.now() };
    // Kind and address may come in two requests: each is checked with what the other is now.
    checkAddress(after, given.actionValue === undefined ? 'action_type' : 'action_value');
    await updateButtonRow(t.db, after);
    t.audit?.record({ before, after });
    return after;
  });
}

/** @throws AppError 404 'Main menu button not found' */
export async function deleteMainMenuButton(app: App, id: number): Promise<void> {
  const before = await deleteButtonRow(app.db, id);
  if (!before) throw buttonNotFound();
  app.audit?.record({ before, after: null });
}

/** The texts of a request without blanks around them. @throws ValidationError 422 nothing is left */
function trimmed<C extends Changes<Pick<ButtonValues, 'text' | 'actionValue'>>>({ text, actionValue }: C) {
  return {
    ...(text == null ? {} : { text: requireText('text', text, 'Text cannot be empty') }),
    ...(actionValue == null ? {} : { actionValue: requireText('action_value', actionValue, 'Action value cannot be empty') }),
  };
}

/**
 * One button with an address that the messenger refuses would take the whole menu with it.
 * @param field of the request, for the 422 answer
 * @throws ValidationError 422
 */
function checkAddress(button: Pick<ButtonValues, 'actionType' | 'actionValue'>, field: 'action_type' | 'action_value'): void {
  const { actionType, actionValue } = button;
  const isAddress = /^https?:\/\//i.test(actionValue) && URL.canParse(actionValue);
  if (isAddress && (actionType === 'url' || /^https:/i.test(actionValue))) return;
  const problem = isAddress
    ? 'Action value of a mini app must start with https://'
    : 'Action value must start with http:// or https://';
  const input = field === 'action_type' ? actionType : actionValue;
  throw new ValidationError([validationIssue('value_error', ['body', field], input, { error: `Value error, ${problem}` })]);
}

export const messageNotFound = refusal('user_message_not_found', 404, 'User message not found');

type MessageValues = Pick<UserMessage, 'messageText' | 'isActive' | 'sortOrder'>;

/** Newest first. */
export function listUserMessages(app: App, page: TextPage & { includeInactive: boolean }): Promise<TextList<UserMessage>> {
  return listMessages(app.db, page);
}

/**
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 400 the messenger would refuse the text
 */
export async function createUserMessage(app: App, draft: MessageValues, language: Language | null): Promise<UserMessage> {
  const messageText = requireMessageText(draft.messageText);
  checkBounds([{ name: 'sort_order', value: draft.sortOrder }]);
  checkMessengerText(app, messageText, language);
  const { isActive, sortOrder } = draft;
  const made = await insertMessage(app.db, { messageText, isActive, sortOrder }, app.clock.now());
  app.audit?.record({ resourceId: made.id, before: null, after: made });
  return made;
}

/**
 * Null and absent fields stay as they are.
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 404 'User message not found' | AppError 400 the messenger would refuse the text
 */
export function updateUserMessage(
  app: App,
  id: number,
  changes: Changes<MessageValues>,
  language: Language | null,
): Promise<UserMessage> {
  const given = givenFields(changes);
  const text = given.messageText === undefined ? {} : { messageText: requireMessageText(given.messageText) };
  checkBounds([{ name: 'sort_order', value: given.sortOrder }]);
  return changeMessage(app, id, () => {
    if (text.messageText !== undefined) checkMessengerText(app, text.messageText, language);
    return { ...given, ...text };
  });
}

/** Switches a message on or off. @throws AppError 404 'User message not found' */
export function toggleUserMessage(app: App, id: number): Promise<UserMessage> {
  return changeMessage(app, id, ({ isActive }) => ({ isActive: !isActive }));
}

/** @throws AppError 404 'User message not found' */
export async function deleteUserMessage(app: App, id: number): Promise<void> {
  const before = await deleteMessageRow(app.db, id);
  if (!before) throw messageNotFound();
  app.audit?.record({ before, after: null });
}

function changeMessage(app: App, id: number, changesOf: (message: UserMessage) => Partial<MessageValues>): Promise<UserMessage> {
  return inTransaction(app, async (t) => {
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    const changes = changesOf(before);
    if (Object.keys(changes).length === 0) return before;
    const after = { ...before, ...changes, updatedAt: t.clock.now() };
    await updateMessageRow(t.db, after);
    t.audit?.record({ before, after });
    return after;
  });
}

const requireMessageText = (raw: string) => requireText('message_text', raw, 'Message text cannot be empty');
