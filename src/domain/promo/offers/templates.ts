import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { text } from '../../messaging/texts.ts';
import { adminTemplateNotFound, webTemplateNotFound } from './errors.ts';
import { checkedTemplate } from './rules.ts';
import { findTemplate, listTemplates, lockTemplate, nameFirstTemplates, updateTemplate } from './template-repo.ts';
import type { OfferTemplate, OfferTemplateValues } from './types.ts';

/** All templates, by type, then by id; an installation starts with three (prisma/sql/promo-offer-templates.sql). */
export function listOfferTemplates(app: App): Promise<OfferTemplate[]> {
  return listTemplates(app.db);
}

/** @throws AppError 404 'Promo offer template not found', to administrators of the cabinet 'Template not found' */
export async function readOfferTemplate(app: App, actor: Actor, templateId: number): Promise<OfferTemplate> {
  return (await findTemplate(app.db, templateId)) ?? refuseUnknown(actor);
}

/**
 * Changes the given fields; undefined and null keep what is stored (spec 04 section 9.3). Offers made from the template do not
 * change.
 * @throws AppError 404 as for reading; ValidationError 422 out of bounds
 */
export function changeOfferTemplate(
  app: App,
  actor: Actor,
  templateId: number,
  changes: Changes<OfferTemplateValues>,
): Promise<OfferTemplate> {
  return inTransaction(app, async (t) => {
    const before = (await lockTemplate(t.db, templateId)) ?? refuseUnknown(actor);
    const saved = await updateTemplate(t.db, before.id, checkedTemplate({ ...before, ...givenFields(changes) }), t.clock.now());
    t.audit?.record({ resourceId: saved.id, before, after: saved });
    return saved;
  });
}

/**
 * Writes the three templates of a new shop in its first language (spec 10 R5): migrations do not know the settings. A shop with users, or a
 * template that was changed, keeps its texts.
 */
export function nameFirstOfferTemplates(app: App): Promise<void> {
  const language = app.settings.get('DEFAULT_LANGUAGE');
  const texts = (['test_access', 'extend_discount', 'purchase_discount'] as const).map((offerType) => ({
    offerType,
    name: text(language, `promo.template_${offerType}_name`),
    messageText: text(language, `promo.template_${offerType}_message`),
    buttonText: text(language, `promo.template_${offerType}_button`),
  }));
  return nameFirstTemplates(app.db, texts);
}

function refuseUnknown(actor: Actor): never {
  throw actor.kind === 'admin' ? adminTemplateNotFound() : webTemplateNotFound();
}
