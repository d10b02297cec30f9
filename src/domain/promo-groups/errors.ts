import { type AppError, refuse } from '../../core/errors.ts';

export function promoGroupNotFound(): AppError {
  return refuse('promo_group_not_found', 404, 'Promo group not found');
}

export function promoGroupNameTaken(): AppError {
  return refuse('promo_group_name_taken', 400, 'Promo group with this name already exists');
}

export function defaultGroupNotDeletable(): AppError {
  return refuse('promo_group_is_default', 400, 'Cannot delete default promo group');
}
