import { z } from 'zod';

/** Forms in which a second factor is shown, at a sign-in and in a session. */
export const AuthenticatorCode = z.string().regex(/^\d{6}$/);
export const RecoveryCode = z.string().min(8).max(32);
/** What a browser makes of a passkey as JSON; its form is the W3C's and checked with the signature. */
export const PasskeyAnswer = z.looseObject({
  id: z.string().max(1400).describe('Id of the passkey (base64url).'),
  response: z.looseObject({}).describe('What the authenticator answered, as the browser wrote it.'),
});
