import { refusal } from '../../../core/errors.ts';

export const serverNotFound = refusal('server_not_found', 404, 'Server not found');
