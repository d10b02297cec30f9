import { refusal } from '../../core/errors.ts';

export const ticketsDisabled = refusal('tickets_disabled', 403, 'Support tickets are disabled');
