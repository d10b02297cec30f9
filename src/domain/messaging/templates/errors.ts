import { refuse } from '../../../core/errors.ts';
import { isTemplateType, TEMPLATE_LANGUAGES, type TemplateType } from './template-variables.ts';

/** @throws AppError 404 `template_type_unknown` */
export function knownTemplateType(type: string): TemplateType {
  if (isTemplateType(type)) return type;
  throw refuse('template_type_unknown', 404, `Unknown template type: ${type}`);
}

export const templateLanguageUnknown = (language: string) =>
  refuse(
    'template_language_unknown',
    400,
    `Invalid language: ${language}. Available: [${TEMPLATE_LANGUAGES.map((known) => `'${known}'`).join(', ')}]`,
  );
