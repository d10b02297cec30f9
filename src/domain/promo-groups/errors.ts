import { refusal } from '../../core/errors.ts';

export const promoGroupNotFound = refusal('promo_group_not_found', 404, 'Promo group not found');

export const promoGroupNameTaken = refusal('promo_group_name_taken', 400, 'Promo group with this name already exists');

export const defaultGroupNotDeletable = refusal('promo_group_is_default', 400, 'Cannot delete default promo group');
