import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import type { Language } from '../../messaging/texts.ts';
import { checkMessengerText, requireText } from './chat-menu.ts';
import {
  deactivateOthers,
  deleteTextRow,
  findText,
  insertText,
  listTexts,
  lockActivation,
  lockText,
  updateTextRow,
} from './repo.ts';
import type { TextList, TextPage, WelcomeText } from './types.ts';

export const textNotFound = refusal('welcome_text_not_found', 404, 'Welcome text not found');

type WelcomeValues = Pick<WelcomeText, 'text' | 'isActive' | 'isEnabled'>;

/** Last changed first (spec 05 section 6). */
export function listWelcomeTexts(app: App, page: TextPage & { includeInactive: boolean }): Promise<TextList<WelcomeText>> {
  return listTexts(app.db, page);
}

/** @throws AppError 404 'Welcome text not found' */
export async function readWelcomeText(app: App, id: number): Promise<WelcomeText> {
  const found = await findText(app.db, id);
  if (!found) throw textNotFound();
  return found;
}

/**
 * Adds a text; an active one takes the place of the one before.
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 400 the messenger would refuse the text
 */
export async function createWelcomeText(app: App, draft: WelcomeValues, language: Language | null): Promise<WelcomeText> {
  const text = requireWelcomeText(draft.text);
  checkMessengerText(app, text, language, { longest: longestFilled });
  const { isActive, isEnabled } = draft;
  return inTransaction(app, async (t) => {
    if (isActive) {
      await lockActivation(t.db);
      await deactivateOthers(t.db, null);
    }
    const made = await insertText(t.db, { text, isActive, isEnabled }, t.clock.now());
    t.audit?.record({ resourceId: made.id, before: null, after: made });
    return made;
  });
}

/**
 * Null and absent fields stay as they are. Activating takes the place of the active text.
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 404 'Welcome text not found' | AppError 400 the messenger would refuse the text
 */
export function updateWelcomeText(
  app: App,
  id: number,
  changes: Changes<WelcomeValues>,
  language: Language | null,
): Promise<WelcomeText> {
  const given = givenFields(changes);
  if (given.text !== undefined) given.text = requireWelcomeText(given.text);
  return inTransaction(app, async (t) => {
    // Before any row: two activations that lock their rows first would wait for each other.
    if (given.isActive) await lockActivation(t.db);
    const before = await lockText(t.db, id);
    if (!before) throw textNotFound();
    if (given.text !== undefined) checkMessengerText(app, given.text, language, { longest: longestFilled });
    if (Object.keys(given).length === 0) return before;
    if (given.isActive) await deactivateOthers(t.db, id);
    const after = { ...before, ...given, updatedAt: t.clock.now() };
    await updateTextRow(t.db, after);
    t.audit?.record({ before, after });
    return after;
  });
}

/** After the active text is deleted there is none. @throws AppError 404 'Welcome text not found' */
export async function deleteWelcomeText(app: App, id: number): Promise<void> {
  const before = await deleteTextRow(app.db, id);
  if (!before) throw textNotFound();
  app.audit?.record({ before, after: null });
}

const requireWelcomeText = (raw: string) => requireText('text', raw, 'Text cannot be empty');

/** Placeholders of welcome texts; anything else in braces stays as it is. */
const PLACEHOLDER = /\{(?:user_name|first_name|username|username_clean)\}/g;

/** Characters of the longest name of the messenger. */
const LONGEST_NAME = 'x'.repeat(64);

/** A welcome text for a user with the longest name: no user's text is longer. */
function longestFilled(text: string): string {
  return text.replace(PLACEHOLDER, LONGEST_NAME);
}
