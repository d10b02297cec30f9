import { type AppError, refuse } from '../../core/errors.ts';

/** A 401 of the JWT areas has the scheme in a header (spec 00, Status codes). */
export function unauthorized(code: string, detail: string): AppError {
  return refuse(code, 401, detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

export const emailTaken = () => refuse('email_taken', 400, 'This email is already registered');
export const userNotActive = () => refuse('user_not_active', 403, 'User account is not active');
export const mailNotConfigured = () => refuse('mail_not_configured', 503, 'Email service is not configured');
export const userNotFound = () => refuse('user_not_found', 404, 'User not found');
export const disposableEmail = () => refuse('email_disposable', 400, 'Disposable email addresses are not allowed');
export const emailAuthOff = () => refuse('email_auth_off', 403, 'Email authentication is disabled');
