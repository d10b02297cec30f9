import { decodeProtectedHeader, errors, importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose';
import { addMs, type Clock, SECOND_MS } from '../../core/clock.ts';
import type { IdTokenIdentity } from '../../domain/identity/ports.ts';
import { textOrNull } from '../text-or-null.ts';
import type { JwksCache } from './jwks-cache.ts';
import { MAX_SKEW_SECONDS } from './signed-fields.ts';

const ALGORITHM = 'RS256';
const JWKS_PATH = '/.well-known/jwks.json';

/** Issuer and audience of valid tokens. */
export interface OidcConnection {
  /** Origin without a slash at the end. */
  issuer: string;
  clientId: string;
}

/**
 * Checks an OpenID Connect token (spec 01 section 3): RS256 by a key that the issuer publishes, for our client, not expired. The
 * algorithm is fixed before a key is looked up, so neither `none` nor a public key used as a secret is accepted.
 */
export async function readIdToken(
  idToken: string,
  connection: OidcConnection,
  deps: { keys: JwksCache; clock: Clock },
): Promise<IdTokenIdentity | null> {
  const keyId = keyIdOf(idToken);
  if (keyId === null) return null;
  const jwk = await deps.keys.find(`${connection.issuer}${JWKS_PATH}`, keyId);
  const key = jwk && (await importedKey(jwk));
  if (!key) return null;
  const now = deps.clock.now();
  try {
    const { payload } = await jwtVerify(idToken, key, {
      algorithms: [ALGORITHM],
      issuer: connection.issuer,
      audience: connection.clientId,
      requiredClaims: ['exp', 'iat', 'iss', 'aud', 'sub'],
      currentDate: now,
    });
    return isIssuedByNow(payload, now) ? identityOf(payload) : null;
  } catch (error) {
    // A key that is too short for the algorithm is a TypeError: the token is refused.
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}

/** Null for any malformed key. */
async function importedKey(jwk: JWK): Promise<Awaited<ReturnType<typeof importJWK>> | null> {
  try {
    return await importJWK(jwk, ALGORITHM);
  } catch {
    return null;
  }
}

function keyIdOf(idToken: string): string | null {
  try {
    const { alg, kid } = decodeProtectedHeader(idToken);
    return alg === ALGORITHM && typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
}

function isIssuedByNow({ iat }: JWTPayload, now: Date): boolean {
  return typeof iat === 'number' && iat * SECOND_MS <= addMs(now, MAX_SKEW_SECONDS * SECOND_MS).getTime();
}

function identityOf(claims: JWTPayload): IdTokenIdentity {
  const userId: unknown = claims.id ?? claims.sub ?? '';
  return {
    userId: String(userId).trim() || null,
    username: textOrNull(claims.preferred_username),
    firstName: textOrNull(claims.name) ?? textOrNull(claims.given_name),
    lastName: textOrNull(claims.family_name),
    locale: textOrNull(claims.locale),
    expiresAt: new Date((claims.exp ?? 0) * SECOND_MS),
  };
}
