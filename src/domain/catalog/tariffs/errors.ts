import { refusal } from '../../../core/errors.ts';

export const tariffNotFound = refusal('tariff_not_found', 404, 'Tariff not found');
