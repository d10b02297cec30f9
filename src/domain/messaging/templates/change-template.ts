import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { countCharacters } from '../../../core/characters.ts';
import { storableText } from '../../../core/db/storable-text.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { templateCacheKey } from '../send-mail.ts';
import { knownTemplateType, templateLanguageUnknown } from './errors.ts';
import { deleteTemplateRow, lockTemplate, type StoredTemplate, saveTemplate } from './template-repo.ts';
import { isTemplateLanguage } from './template-variables.ts';

/** Longest `email_templates.language`. */
const MAX_LANGUAGE_LENGTH = 5;

/**
 * Stores a template as it is sent, in place of an earlier one; it applies to the next mail on every instance (spec 05 section 11.2).
 * @throws AppError 404 `template_type_unknown` | 400 `template_language_unknown`
 */
export async function storeTemplate(
  app: App,
  _actor: AdminActor,
  {
    notificationType,
    language,
    subject,
    bodyHtml,
  }: { notificationType: string; language: string; subject: string; bodyHtml: string },
): Promise<StoredTemplate> {
  const type = knownTemplateType(notificationType);
  if (!isTemplateLanguage(language)) throw templateLanguageUnknown(language);
  const text = { subject: storableText(subject), bodyHtml: storableText(bodyHtml) };
  return inTransaction(app, async (t) => {
    const before = await lockTemplate(t.db, type, language);
    const after = await saveTemplate(t.db, { type, language, ...text }, t.clock.now());
    await t.cache.forget(t, [templateCacheKey(type, language)]);
    t.audit?.record({ resourceId: `${type}/${language}`, before: before && summaryOf(before), after: summaryOf(after) });
    return after;
  });
}

/**
 * Deletes a template; the next mail has our own text again. Deleting what does not exist is no error.
 * @returns whether there was one
 * @throws AppError 404 `template_type_unknown`
 */
export async function deleteTemplate(app: App, _actor: AdminActor, notificationType: string, language: string): Promise<boolean> {
  const type = knownTemplateType(notificationType);
  if (language.length > MAX_LANGUAGE_LENGTH || storableText(language) !== language) return false;
  return inTransaction(app, async (t) => {
    const before = await lockTemplate(t.db, type, language);
    const wasStored = await deleteTemplateRow(t.db, type, language);
    await t.cache.forget(t, [templateCacheKey(type, language)]);
    t.audit?.record({ resourceId: `${type}/${language}`, before: before && summaryOf(before), after: null });
    return wasStored;
  });
}

/** For the audit log: a body may have a megabyte. */
function summaryOf({ subject, bodyHtml, isActive }: StoredTemplate) {
  return { subject, bodyHtmlCharacters: countCharacters(bodyHtml), isActive };
}
