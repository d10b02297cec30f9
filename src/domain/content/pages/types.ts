import type { Rows } from '../../../core/db/columns.ts';

export type DocumentKind = Rows['LegalDocument']['kind'];

/** The public offer or the privacy policy in one language. */
export type LegalDocument = Pick<
  Rows['LegalDocument'],
  'kind' | 'language' | 'content' | 'isEnabled' | 'createdAt' | 'updatedAt'
>;

export type FaqPage = Rows['FaqPage'];

/** A version of the rules. */
export type ServiceRule = Rows['ServiceRule'];

/** Characters of the content of a page (spec 05 section 5.1, last line). */
export const MAX_PAGE_CONTENT = 200_000;

/** The title of rules that were sent without one, as the contract has it. */
export const DEFAULT_RULES_TITLE = 'Правила сервиса';
