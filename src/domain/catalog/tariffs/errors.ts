import { type AppError, refuse } from '../../../core/errors.ts';

export function tariffNotFound(): AppError {
  return refuse('tariff_not_found', 404, 'Tariff not found');
}
