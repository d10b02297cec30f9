import { refusal } from '../../../core/errors.ts';
import { isTemplateType, TEMPLATE_LANGUAGES, type TemplateType } from './template-variables.ts';

export const templateTypeUnknown = refusal('template_type_unknown', 404, 'Unknown template type: newsletter');

/** @throws AppError 404 `template_type_unknown` */
export function knownTemplateType(type: string): TemplateType {
  if (isTemplateType(type)) return type;
  throw templateTypeUnknown({ detail: `Unknown template type: ${type}` });
}

export const templateLanguageUnknown = refusal(
  'template_language_unknown',
  400,
  "Invalid language: newsletter. Available: ['ru', 'en', 'zh', 'ua', 'fa']",
  (language: string) => ({
    detail: `Invalid language: ${language}. Available: [${TEMPLATE_LANGUAGES.map((known) => `'${known}'`).join(', ')}]`,
  }),
);
