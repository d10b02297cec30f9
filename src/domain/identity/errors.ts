import { refusal } from '../../core/errors.ts';

export const deactivated = refusal('account_deactivated', 403, 'Account is deactivated');

/** A 401 of the JWT areas has the scheme in a header (spec 00, Status codes). */
export const unauthorized = (code: string, detail: string) =>
  refusal(code, 401, detail, () => ({ headers: { 'WWW-Authenticate': 'Bearer' } }));

export const sessionEnded = unauthorized('session_ended', 'Invalid or expired token');
export const tokenPayloadInvalid = unauthorized('token_payload_invalid', 'Invalid token payload');

export const emailTaken = refusal('email_taken', 400, 'This email is already registered');
export const userNotActive = refusal('user_not_active', 403, 'User account is not active');
export const mailNotConfigured = refusal('mail_not_configured', 503, 'Email service is not configured');
export const userNotFound = refusal('user_not_found', 404, 'User not found');
export const disposableEmail = refusal('email_disposable', 400, 'Disposable email addresses are not allowed');
export const oidcKeysUnavailable = refusal('oidc_keys_unavailable', 503, 'Service temporarily unavailable');
export const emailAuthOff = refusal('email_auth_off', 403, 'Email authentication is disabled');
