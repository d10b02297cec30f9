import { type AppError, refuse } from '../../../core/errors.ts';

export function serverNotFound(): AppError {
  return refuse('server_not_found', 404, 'Server not found');
}
