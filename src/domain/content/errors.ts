import { refusal } from '../../core/errors.ts';

export const pageNotFound = refusal('faq_page_not_found', 404, 'FAQ page not found');
