import { ValidationError } from '../../../core/errors.ts';
import { secretHash } from '../rules.ts';

const MAX_EMAIL_LENGTH = 254;

/** Top-level names that no mail can be sent to (spec 01 section 2.5). */
const RESERVED_ENDINGS: ReadonlySet<string> = new Set(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test']);

/**
 * Refuses a text in the form of an address that no mail can be sent to.
 * @param email in lower case
 * @param field name of the body field
 * @throws ValidationError 422
 */
export function checkEmailAddress(email: string, field: string): void {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const problem = addressProblem(email, domain);
  if (problem === null) return;
  const msg = `value is not a valid email address: ${problem}`;
  throw new ValidationError([{ loc: ['body', field], type: 'value_error', msg, input: email, ctx: { error: problem } }]);
}

function addressProblem(email: string, domain: string): string | null {
  if (email.length > MAX_EMAIL_LENGTH) return 'The email address is too long.';
  if (!domain.includes('.')) return 'The part after the @-sign is not valid. It should have a period.';
  const ending = domain.slice(domain.lastIndexOf('.') + 1);
  return RESERVED_ENDINGS.has(ending) ? 'The part after the @-sign is a special-use or reserved name.' : null;
}

/** How a change code is stored: bound to its user and address, so that equal codes of two users have different hashes. */
export function changeCodeHash(userId: number, newEmail: string, code: string): string {
  return secretHash(`${userId}:${newEmail}:${code}`);
}

/** A page of the cabinet front end with a token. */
export function cabinetLink(cabinetUrl: string, page: string, token: string): string {
  return `${cabinetUrl.replace(/\/+$/, '')}/${page}?token=${token}`;
}

/** `n***@example.com`: enough for its owner to recognise it. */
export function maskedAddress(email: string): string {
  return `${email.slice(0, 1)}***${email.slice(email.lastIndexOf('@'))}`;
}
