import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { validationIssue } from '../../../core/validation-messages.ts';
import { type ButtonValues, deleteButtonRow, insertButton, listButtons, lockButton, updateButtonRow } from './buttons-repo.ts';
import { requireText } from './check-text.ts';
import type { MainMenuButton, TextList, TextPage } from './types.ts';

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
