import { refusal } from '../../core/errors.ts';

export const squadNotFound = refusal('squad_not_found', 404, 'Squad not found');
