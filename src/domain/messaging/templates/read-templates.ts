import type { App } from '../../../core/app.ts';
import { type RenderedMail, renderMail } from '../render-mail.ts';
import { frameOf } from '../send-mail.ts';
import { knownTemplateType } from './errors.ts';
import { sampleValues } from './sample-values.ts';
import { labelsOf, type TemplateLabels } from './template-labels.ts';
import { listActiveTemplates, listTemplatesOf } from './template-repo.ts';
import {
  TEMPLATE_LANGUAGES,
  TEMPLATE_TYPES,
  TEMPLATE_VARIABLES,
  type TemplateLanguage,
  type TemplateType,
} from './template-variables.ts';

export interface TemplateListItem extends TemplateLabels {
  type: TemplateType;
  contextVars: readonly string[];
  /** Whether the administrators have a template of their own. */
  languages: Record<TemplateLanguage, { hasCustom: boolean }>;
}

/** One language of a template: the text in force, and ours with example values. */
export interface TemplateText {
  subject: string;
  bodyHtml: string;
  isDefault: boolean;
  defaultSubject: string;
  defaultBodyHtml: string;
}

export interface TemplateDetails extends TemplateLabels {
  notificationType: TemplateType;
  contextVars: readonly string[];
  languages: Record<TemplateLanguage, TemplateText>;
}

/** All mails whose text can be replaced, in the order of the specification (spec 05 section 11.2). */
export async function listTemplates(app: App): Promise<TemplateListItem[]> {
  const stored = new Set((await listActiveTemplates(app.db)).map((row) => `${row.notificationType} ${row.language}`));
  return TEMPLATE_TYPES.map((type) => ({
    type,
    ...labelsOf(type),
    contextVars: TEMPLATE_VARIABLES[type],
    languages: ofLanguages((language) => ({ hasCustom: stored.has(`${type} ${language}`) })),
  }));
}

/** @throws AppError 404 `template_type_unknown` */
export async function readTemplate(app: App, type: string): Promise<TemplateDetails> {
  const known = knownTemplateType(type);
  const stored = new Map((await listTemplatesOf(app.db, known)).map((row) => [row.language, row]));
  return {
    notificationType: known,
    ...labelsOf(known),
    contextVars: TEMPLATE_VARIABLES[known],
    languages: ofLanguages((language) => {
      const { subject: defaultSubject, html: defaultBodyHtml } = builtInSample(app, known, language);
      const replaced = stored.get(language);
      const { subject, bodyHtml } = replaced ?? { subject: defaultSubject, bodyHtml: defaultBodyHtml };
      return { subject, bodyHtml, isDefault: replaced === undefined, defaultSubject, defaultBodyHtml };
    }),
  };
}

/** Our own mail of a type with example values. */
export function builtInSample(app: App, type: TemplateType, language: string): RenderedMail {
  return renderMail(language, type, sampleValues(type), frameOf(app));
}

function ofLanguages<T>(make: (language: TemplateLanguage) => T): Record<TemplateLanguage, T> {
  return Object.fromEntries(TEMPLATE_LANGUAGES.map((language) => [language, make(language)])) as Record<TemplateLanguage, T>;
}
