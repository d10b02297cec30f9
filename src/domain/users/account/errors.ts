import { refusal } from '../../../core/errors.ts';

export const promoGroupNotFound = refusal('promo_group_not_found', 400, 'Promo group not found');
